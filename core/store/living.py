"""What a library remembers of folders and files between two scans: stamps, strikes, moves, patterns."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import BadSetting
from core.base.files import path_text
from core.base.types import DocumentState, context_title
from core.store import documents
from core.store.documents import FileRow

IGNORE_KEY, MOUNTS_KEY = "ignore", "mounts"
QUARANTINE_STRIKES = 3
_MOVING = "\0moving:"  # no path begins like this


@dataclass(frozen=True, slots=True)
class Move:
    """File `id` now lies at `path`, under the root `root_id`."""

    id: int
    path: str
    root_id: int
    size: int
    mtime_ns: int


def meta(db: Database, key: str) -> str:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def set_meta(db: Database, key: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))


def set_patterns(db: Database, text: str) -> None:
    """Keep the library's own patterns of what scans pass by. Raises BadSetting when a line is no pattern."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines(text.splitlines())
    except ValueError as error:
        raise BadSetting(f"{error}.", "Write one pattern a line, as in a .gitignore file.") from error
    set_meta(db, IGNORE_KEY, text)


def mounts(db: Database) -> list[str]:
    """Folders under the roots on which other disks were mounted when they were last seen."""
    return [str(path) for path in json.loads(meta(db, MOUNTS_KEY) or "[]")]


def set_mounts(db: Database, paths: Iterable[str]) -> None:
    set_meta(db, MOUNTS_KEY, json.dumps(sorted(set(paths))))


def stamps(db: Database) -> dict[int, str]:
    """What identified the folder of each root when it was last seen with something in it."""
    return {int(i): str(stamp) for i, stamp in db.execute("SELECT id, stamp FROM root").fetchall()}


def set_stamp(db: Database, root_id: int, stamp: str) -> None:
    db.execute("UPDATE root SET stamp = ? WHERE id = ?", (stamp, root_id))


def forget_empty_root(db: Database, root_id: int) -> bool:
    """Forget a root that no file is left of. Whether it was forgotten."""
    rows = db.execute(
        "DELETE FROM root WHERE id = ? AND NOT EXISTS (SELECT 1 FROM file WHERE root_id = root.id)", (root_id,)
    )
    return int(rows.rowcount) > 0


def may_store(db: Database, root_id: int, path: str) -> bool:
    """Whether `path` is still to be read: it may be removed at any moment, beside the work that reads it."""
    if db.execute("SELECT 1 FROM root WHERE id = ?", (root_id,)).fetchone() is None:
        return False
    return not any(documents.is_under(path, gone) for gone in documents.excluded(db))


def has_file(db: Database, file_id: int, path: str) -> bool:
    return db.execute("SELECT 1 FROM file WHERE id = ? AND path = ?", (file_id, path)).fetchone() is not None


def strike(db: Database, file_id: int) -> int:
    """One more strike against a file. Returns how many it has."""
    db.execute("UPDATE file SET strikes = strikes + 1 WHERE id = ?", (file_id,))
    row = db.execute("SELECT strikes FROM file WHERE id = ?", (file_id,)).fetchone()
    return int(row[0]) if row else 0


def clear_strikes(db: Database, file_id: int) -> None:
    db.execute("UPDATE file SET strikes = 0 WHERE id = ? AND strikes > 0", (file_id,))


def move_files(db: Database, moves: Sequence[Move]) -> list[int]:
    """Give files new paths; call inside a transaction. Their documents keep ids, tags and texts.

    Returns the documents whose passages got new ids: those without a title, which are found by the name of
    their file, when that name changed. Files that are gone meanwhile are left out.
    """
    old = {m.id: path for m in moves if (path := path_of(db, m.id)) is not None}
    moves = [m for m in moves if m.id in old]
    for move in moves:  # out of the way first: files may have changed places
        away = f"{_MOVING}{move.id}"
        db.execute("UPDATE file SET path = ? WHERE id = ?", (away, move.id))
        db.execute("UPDATE document SET path = ? WHERE file_id = ?", (away, move.id))
    reposted: list[int] = []
    for move in moves:
        db.execute(
            "UPDATE file SET path = ?, root_id = ?, size = ?, mtime_ns = ? WHERE id = ?",
            (move.path, move.root_id, move.size, move.mtime_ns, move.id),
        )
        db.execute("UPDATE document SET path = ? WHERE file_id = ?", (move.path, move.id))
        if context_title("", old[move.id], "") != context_title("", move.path, ""):
            reposted += _repost_untitled(db, move.id)
    return reposted


def spelled(db: Database, path: Path) -> str:
    """The path as the library has it, which people may also reach by a link, by ".." or from where they are."""
    path = path.absolute()
    real_folder = Path(os.path.realpath(path.parent), path.name)  # a link may be known by its own name
    ways = [path_text(way) for way in (os.path.normpath(path), real_folder, os.path.realpath(path))]
    known = [*(root.path for root in documents.roots(db)), *(row.path for row in documents.files(db))]
    return next((way for way in ways if any(documents.is_under(have, way) for have in known)), ways[0])


def path_of(db: Database, file_id: int) -> str | None:
    """The path of a file, or None when it is not there (any more)."""
    row = db.execute("SELECT path FROM file WHERE id = ?", (file_id,)).fetchone()
    return str(row[0]) if row else None


def _repost_untitled(db: Database, file_id: int) -> list[int]:
    rows = db.execute(
        "SELECT id FROM document WHERE file_id = ? AND title = '' AND external_id = '' AND passages > 0", (file_id,)
    )
    ids = [int(row[0]) for row in rows.fetchall()]
    for document_id in ids:
        repost(db, document_id)
    return ids


def repost(db: Database, document_id: int) -> None:
    """Give the passages of a document new ids, so that an index lists them anew; their vectors are found by hash."""
    columns = 'document_id, text, start, "end", first_page, last_page, heading_path, language, hash, place'
    db.execute("INSERT OR IGNORE INTO tombstone SELECT id FROM passage WHERE document_id = ?", (document_id,))
    db.execute("UPDATE passage SET ordinal = -1 - ordinal WHERE document_id = ?", (document_id,))
    db.execute(
        f"INSERT INTO passage (ordinal, {columns}) SELECT -1 - ordinal, {columns} FROM passage "
        "WHERE document_id = ? ORDER BY ordinal DESC",
        (document_id,),
    )
    db.execute("DELETE FROM passage WHERE document_id = ? AND ordinal < 0", (document_id,))


def unfinished(db: Database, but: Collection[int] = ()) -> tuple[FileRow, str] | None:
    """The smallest file, none of `but`, with pages still to be read from their pictures; and what is told of it."""
    rows = db.execute(
        "SELECT id, root_id, path, size, mtime_ns, hash, complete, strikes, reason FROM file "
        "WHERE state = ? AND complete = 1 ORDER BY size, path",
        (DocumentState.UNFINISHED.value,),
    )
    for r in rows.fetchall():
        if r[0] not in but:
            return FileRow(r[0], r[1], r[2], r[3], r[4], r[5], DocumentState.UNFINISHED, bool(r[6]), r[7]), str(r[8])
    return None
