"""The database rows of a segment: its passages, their lengths, its postings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.index.postings import Postings, pack, unpack

Ids = npt.NDArray[np.int64]

_TERMS = 500  # a statement

_INSERT = "INSERT INTO posting (segment_id, channel, term, count, ordinals, weights) VALUES (?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """Passage ids and lengths (terms per passage) by ordinal."""

    id: int
    encoder: str
    passage_ids: Ids
    lengths: npt.NDArray[np.float32]


def insert_segment(db: Database, encoder: str, passage_ids: Ids, lengths: npt.NDArray[np.float32]) -> int:
    """Returns the new segment's id. To be called within a transaction."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    cursor = db.execute(
        "INSERT INTO segment (encoder, passages, passage_ids, lengths, created) VALUES (?, ?, ?, ?, ?)",
        (
            encoder,
            len(passage_ids),
            passage_ids.astype("<i8").tobytes(),
            lengths.astype("<f4").tobytes(),
            created,
        ),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def insert_postings(db: Database, segment: int, rows: Iterable[tuple[str, str, Postings]]) -> None:
    """Rows are (channel, term, postings). To be called within a transaction."""
    db.conn.executemany(_INSERT, ((segment, channel, term, *pack(p)) for channel, term, p in rows))


def read_segment(db: Database, segment: int) -> SegmentRow | None:
    sql = "SELECT id, encoder, passage_ids, lengths FROM segment WHERE id = ?"
    row = db.execute(sql, (segment,)).fetchone()
    if row is None:
        return None
    return SegmentRow(row[0], row[1], np.frombuffer(row[2], "<i8"), np.frombuffer(row[3], "<f4"))


def read_postings(db: Database, segment: int, channel: str, terms: Sequence[str]) -> dict[str, Postings]:
    """The postings of those of the `terms` that the segment holds."""
    found = _of_terms(db, "term, count, ordinals, weights", segment, channel, terms)
    return {term: unpack(*packed) for term, *packed in found}


def count_postings(
    db: Database, segment: int, channel: str, terms: Sequence[str], alive: npt.NDArray[np.bool_]
) -> dict[str, int]:
    """How many passages hold each of the terms; `alive` says by ordinal which passages count."""
    if alive.all():  # long rows need not be read
        return dict(_of_terms(db, "term, count", segment, channel, terms))
    found = read_postings(db, segment, channel, terms)
    return {term: int(np.count_nonzero(alive[postings.ordinals])) for term, postings in found.items()}


def _of_terms(db: Database, columns: str, segment: int, channel: str, terms: Sequence[str]) -> Iterator[Any]:
    for at in range(0, len(terms), _TERMS):
        part = terms[at : at + _TERMS]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT {columns} FROM posting WHERE segment_id = ? AND channel = ? AND term IN ({marks})"
        yield from db.execute(sql, (segment, channel, *part))


def read_all_postings(db: Database, segment: int) -> Iterator[tuple[str, str, Postings]]:
    """All rows of a segment as (channel, term, postings), in the order of channel and term."""
    sql = "SELECT channel, term, count, ordinals, weights FROM posting WHERE segment_id = ? ORDER BY channel, term"
    for channel, term, *packed in db.execute(sql, (segment,)):
        yield channel, term, unpack(*packed)


def read_channel(db: Database, segment: int, channel: str) -> dict[str, Postings]:
    sql = "SELECT term, count, ordinals, weights FROM posting WHERE segment_id = ? AND channel = ?"
    return {row[0]: unpack(*row[1:]) for row in db.execute(sql, (segment, channel))}


def has_channel(db: Database, segment: int, channel: str) -> bool:
    sql = "SELECT 1 FROM posting WHERE segment_id = ? AND channel = ? LIMIT 1"
    return db.execute(sql, (segment, channel)).fetchone() is not None


def channels_between(db: Database, segment: int, first: str, after: str) -> list[str]:
    """The channels of a segment from `first` up to `after`, in order: found one by one, without reading their rows."""
    found: list[str] = []
    sql = "SELECT channel FROM posting WHERE segment_id = ? AND channel > ? AND channel < ? ORDER BY channel LIMIT 1"
    while (row := db.execute(sql, (segment, found[-1] if found else first, after)).fetchone()) is not None:
        found.append(row[0])
    return found


def delete_channel(db: Database, segment: int, channel: str) -> None:
    """To be called within a transaction."""
    db.execute("DELETE FROM posting WHERE segment_id = ? AND channel = ?", (segment, channel))


def segment_ids(db: Database) -> set[int]:
    return {row[0] for row in db.execute("SELECT id FROM segment")}


def delete_segments(db: Database, segments: Iterable[int]) -> None:
    """Their postings go with them."""
    db.conn.executemany("DELETE FROM segment WHERE id = ?", ((segment,) for segment in segments))


def passages_in_order(db: Database) -> Ids:
    """Ids of all passages that may be found, in the order of (document path, external id, ordinal).

    Read from indexes alone: the passages' text is not touched. They come as one text, in less than half the time
    that as many rows take.
    """
    in_order = (
        "SELECT p.id AS id FROM document d CROSS JOIN passage p ON p.document_id = d.id "
        "WHERE p.id NOT IN (SELECT passage_id FROM tombstone) ORDER BY d.path, d.external_id, p.ordinal"
    )
    listed: str | None = db.execute(f"SELECT group_concat(id) FROM ({in_order})").fetchone()[0]
    return np.fromstring(listed or "", np.int64, sep=",")


def tombstones(db: Database) -> Ids:
    return np.fromiter((row[0] for row in db.execute("SELECT passage_id FROM tombstone")), np.int64)
