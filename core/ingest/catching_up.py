"""The first part of a run: the library learns where files are now, before anything is read.

What was moved is found by its content, what is gone is deleted, what is away is left alone, and a file that a
job died at is remembered.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sqlite_utils import Database

from core.base.events import Control
from core.base.files import text_path
from core.base.types import DocumentState
from core.ingest import sandbox
from core.ingest.moves import Moves, find_moves
from core.ingest.reading import cache_of
from core.ingest.removal import CACHE, delete_files, drop_cache
from core.ingest.scan import FoundFile, ScanResult, scan
from core.ingest.strikes import Left
from core.store import documents, living
from core.store.database import transaction

SPOOL = "spool"
_AT_ONCE = 200  # files deleted in one transaction


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """What there is to read, and what was done already. `reposted` are documents to be brought into the index."""

    found: ScanResult
    removed: int
    moved: int
    reposted: tuple[int, ...]


def catch_up(
    db: Database, library: Path, control: Control, left: Left, *, retry: bool, looked: Callable[[int], None]
) -> CaughtUp:
    """Scan the roots and bring the rows of files up to date with what lies there.

    Raises:
        Cancelled
    """
    sandbox.sweep(library / SPOOL)
    found = look(db, library, retry=retry)
    gone = {row.id for row in found.gone}
    if gone:  # what moved ahead of the walk was seen nowhere: only what twice is not there is gone
        found = look(db, library, retry=retry)
    moves = find_moves(found, control, looked)
    found.gone[:] = [row for row in found.gone if row.id in gone]
    removed = _delete(db, library, [row.id for row in moves.displaced], control)
    with transaction(db):
        reposted = living.move_files(db, moves.moved)
        _follow_exclusions(db, moves)
        for root_id, base in {(row.root_id, base) for row, base in found.missing}:
            if moves.moved and living.forget_empty_root(db, root_id):
                found.away.remove(base)
    _move_caches(library, moves)
    removed += _delete(db, library, [row.id for row in found.gone], control)
    _remember(db, found)
    found.read[:] = _struck(db, found.read, left)
    return CaughtUp(found, removed, len(moves.moved), tuple(reposted))


def look(db: Database, library: Path, *, retry: bool = False) -> ScanResult:
    """Scan the roots as the library knows them; nothing is changed."""
    return scan(
        documents.roots(db), documents.files(db), library, documents.excluded(db), retry=retry,
        patterns=living.meta(db, living.IGNORE_KEY), stamps=living.stamps(db), mounts=living.mounts(db),
    )  # fmt: skip


def _delete(db: Database, library: Path, ids: list[int], control: Control) -> int:
    """Delete files. Returns the number of their documents."""
    gone = 0
    for at in range(0, len(ids), _AT_ONCE):
        control.check()
        part = ids[at : at + _AT_ONCE]
        paths = [p for p in (living.path_of(db, i) for i in part) if p is not None]
        with transaction(db):
            # what they said may stand in a file that is still to be read: vectors go at the end of the run
            gone += len(delete_files(db, part, keep_vectors=True).documents)
        for path in paths:
            drop_cache(library, path)
    return gone


def _move_caches(library: Path, moves: Moves) -> None:
    """By way of other names: files may have changed places. What cannot be moved is read anew when it is needed."""
    pairs = []
    for old, move in zip(moves.old, moves.moved, strict=True):
        source = Path(cache_of(str(library / CACHE), old))
        if source.is_dir():
            with contextlib.suppress(OSError):
                pairs.append((source.rename(f"{source}.moving"), cache_of(str(library / CACHE), move.path)))
    for away, target in pairs:
        shutil.rmtree(target, ignore_errors=True)
        with contextlib.suppress(OSError):
            away.rename(target)


def _follow_exclusions(db: Database, moves: Moves) -> None:
    """What was removed from a folder stays removed when the folder gets another name."""
    folders = {_renamed(old, move.path) for old, move in zip(moves.old, moves.moved, strict=True)}
    for before, after in folders:
        for path in documents.excluded(db):
            if before and documents.is_under(path, before) and not text_path(path).exists():
                documents.exclude(db, after + path[len(before) :])


def _renamed(old: str, new: str) -> tuple[str, str]:
    """The folders in which two paths differ first, seen from their end; empty when their names differ already."""
    before, after = Path(old), Path(new)
    if before.name != after.name:
        return "", ""
    while before.name == after.name and before.name:
        before, after = before.parent, after.parent
    return str(before), str(after)


def _remember(db: Database, found: ScanResult) -> None:
    with transaction(db):
        for root_id, stamp in found.stamps.items():
            living.set_stamp(db, root_id, stamp)
        living.set_mounts(db, found.mounts)


def _struck(db: Database, files: list[FoundFile], left: Left) -> list[FoundFile]:
    """The files, the one at which a job died with one more strike."""
    if not left.suspicious:
        return files
    result = []
    for file in files:
        if file.text == left.path:
            with transaction(db):
                known = file.file_id or documents.put_file(db, file.root_id, file.text, file.size, file.mtime_ns, "")
                strikes = living.strike(db, known)
            file = replace(file, file_id=known, strikes=strikes)
        result.append(file)
    return result


def is_struck(state: DocumentState) -> bool:
    """Whether a reading that ended so counts against the file."""
    return state in (DocumentState.CRASHED, DocumentState.TIMED_OUT)
