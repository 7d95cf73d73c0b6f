"""Removing what no generation names. Only files and rows that this index makes are ever touched."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.files import TEMPORARY_SUFFIX
from core.base.types import SegmentFile
from core.index import concept_codes, generation, rows
from core.models import adapted
from core.store.database import known_errors, transaction

# the names of our files and of the temporary ones they are written through
_MADE = r"dense-\d+(-\d+)?\.faiss|means-\d+\.npz|multi-\d+-\d+\.tokens|codec-[0-9a-f]+\.npz"
_OURS = re.compile(rf"{_MADE}|\.({_MADE}|manifest\.json|current\.json)\..*" + re.escape(TEMPORARY_SUFFIX))


def sweep(
    library: Path, db: Database, encoder: str, pending: Sequence[SegmentFile] = (), paths: Sequence[str] = ()
) -> None:
    """Remove segment rows, files and tombstones that neither a generation nor `pending` (with `paths`) needs, and
    encoders of the library that no generation names, save `encoder`, whose generation may be in the making.

    With a damaged manifest nothing is removed: what it names is not known.
    """
    kept = generation.history(library)
    if len(kept) < len(generation.numbers(library)):
        return
    named = {file for one in kept for file in one.segments} | set(pending)
    _sweep_rows(library, db, {file.segment for file in named})
    _sweep_codes(library, db, {concept_codes.channel(one) for one in kept})
    wanted = {*paths, *(path for one in kept for path in (one.means, one.codec))}
    wanted |= {path for file in named for path in (file.dense_path, file.multi_path)}
    _sweep_files(library, {library / path for path in wanted if path})
    adapted.sweep(library, {encoder, *(id for one in kept for id in (one.encoder, one.queries, one.reranker))})


def _sweep_rows(library: Path, db: Database, named: set[int]) -> None:
    unnamed = rows.segment_ids(db) - named
    listed = [row.passage_ids for s in sorted(named) if (row := rows.read_segment(db, s)) is not None]
    dead = rows.tombstones(db)
    unlisted = np.setdiff1d(dead, np.concatenate(listed)) if listed else dead
    if not unnamed and not len(unlisted):
        return
    with known_errors(library), transaction(db):
        rows.delete_segments(db, unnamed)
        statement = "DELETE FROM tombstone WHERE passage_id = ?"
        db.conn.executemany(statement, ((passage,) for passage in unlisted.tolist()))


def _sweep_codes(library: Path, db: Database, named: set[str]) -> None:
    """Remove the codes of concept models, and of means, that no generation names."""
    segments = sorted(rows.segment_ids(db))
    unnamed = [(s, c) for s in segments for c in concept_codes.stored_channels(db, s) if c not in named]
    for segment, channel in unnamed:
        with known_errors(library), transaction(db):
            rows.delete_channel(db, segment, channel)


def _sweep_files(library: Path, named: set[Path]) -> None:
    root = library / generation.FOLDER
    if not root.is_dir():
        return
    for path in (*root.glob("*/*"), *root.glob("*/.*"), *root.glob(".*")):
        if path not in named and _OURS.fullmatch(path.name):
            with contextlib.suppress(OSError):  # e.g. still mapped by a reader: the next sweep takes it
                path.unlink()
    for folder in root.glob("*/"):
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):  # not empty
                folder.rmdir()
