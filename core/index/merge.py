"""Which segments to merge, and merging them: postings of the database and dense rows, tombstones left out."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.errors import IndexDamaged
from core.base.events import Control
from core.base.types import SegmentFile
from core.index.concept_codes import is_code, stored_channels
from core.index.dense import DenseFile, Floats
from core.index.postings import Ordinals, Postings
from core.index.rows import SegmentRow, read_all_postings

MOST_SEGMENTS = 8
DEAD_SHARE = 0.2

_Row = tuple[str, str, Postings]


def choose(sizes: Sequence[int], live: Sequence[int]) -> range | None:
    """The next run of neighbouring segments to merge into one, None when the index is in good shape.

    The last ones are merged while the last is at least half of the one before, so that sizes fall
    geometrically and a passage is rewritten a logarithmic number of times; a segment of which more than a
    fifth is deleted is written again on its own.
    """
    for position, (size, alive) in enumerate(zip(sizes, live, strict=True)):
        if size - alive > DEAD_SHARE * size:
            return range(position, position + 1)
    start = len(sizes) - 1
    total = live[start] if sizes else 0
    while start > 0 and (2 * total >= live[start - 1] or start >= MOST_SEGMENTS):
        start -= 1
        total += live[start]
    return range(start, len(sizes)) if start < len(sizes) - 1 else None


def places(rows: Sequence[SegmentRow], alive: Sequence[np.ndarray]) -> list[Ordinals]:
    """For each segment the new ordinal of each old one in the merged segment, -1 for deleted passages."""
    found = []
    first = 0
    for row, mask in zip(rows, alive, strict=True):
        place = np.full(len(row.passage_ids), -1, np.int64)
        place[mask] = np.arange(first, first + int(mask.sum()))
        first += int(mask.sum())
        found.append(place)
    return found


def merged_postings(db: Database, rows: Sequence[SegmentRow], place: Sequence[Ordinals]) -> Iterator[_Row]:
    """The postings of the merged segment in the order of channel and term, read as a stream.

    Codes of concepts are left out where not all segments have them: the next commit makes them anew.
    """
    channels = [set(stored_channels(db, row.id)) for row in rows]
    codes = set.intersection(*channels)
    streams = [_numbered(db, number, row.id) for number, row in enumerate(rows)]
    in_order = heapq.merge(*streams, key=lambda r: r[:3])
    for (channel, term), group in groupby(in_order, key=lambda r: r[:2]):
        if is_code(channel) and channel not in codes:
            continue
        merged = _concatenate([(place[number], postings) for _, _, number, postings in group])
        if len(merged.ordinals):
            yield channel, term, merged


def _numbered(db: Database, number: int, segment: int) -> Iterator[tuple[str, str, int, Postings]]:
    for channel, term, postings in read_all_postings(db, segment):
        yield channel, term, number, postings


def _concatenate(parts: Sequence[tuple[Ordinals, Postings]]) -> Postings:
    ordinals, weights = [], []
    for place, postings in parts:
        moved = place[postings.ordinals]
        ordinals.append(moved[moved >= 0])
        weights.append(postings.weights[moved >= 0])
    return Postings(np.concatenate(ordinals).astype("<u4"), np.concatenate(weights))


def merged_vectors(
    library: Path, files: Sequence[SegmentFile], rows: Sequence[SegmentRow],
    alive: Sequence[np.ndarray], stored: Callable[[np.ndarray], Floats], dimension: int, control: Control,
) -> Floats:  # fmt: skip
    """The dense rows of the merged segment; a damaged file's are asked of `stored`, by passage id."""
    merged = np.empty((sum(int(mask.sum()) for mask in alive), dimension), np.float32)
    at = 0
    for file, row, mask in zip(files, rows, alive, strict=True):
        end = at + int(mask.sum())
        control.check()
        try:
            dense = DenseFile(library / file.dense_path, file.passages, dimension)
            merged[at:end] = dense.rows(np.flatnonzero(mask))
        except IndexDamaged:
            merged[at:end] = stored(row.passage_ids[mask])
        at = end
    return merged


def stored_vectors(db: Database, encoder: str, dimension: int, passages: np.ndarray) -> Floats:
    """The vectors [N, D] of these passages from the table `vector`.

    Raises:
        IndexDamaged: one is not there.
    """
    found = np.empty((len(passages), dimension), np.float32)
    sql = "SELECT v.data FROM passage p JOIN vector v ON v.encoder = ? AND v.hash = p.hash WHERE p.id = ?"
    for number, passage in enumerate(passages.tolist()):
        row = db.execute(sql, (encoder, passage)).fetchone()
        if row is None or len(row[0]) != 4 * dimension:
            raise IndexDamaged(
                f"The vector of passage {passage} is lost.",
                "Repair the library: it is encoded again from the stored text.",
            )
        found[number] = np.frombuffer(row[0], "<f4")
    return found
