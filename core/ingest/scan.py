"""What lies on the disk under the roots, compared with what the library has seen.

Size and time tell what may have changed; the content hash, taken when a file is read, has the last word.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from core.base.errors import NoPermission, PathMissing
from core.base.files import path_text, text_path
from core.base.types import DocumentState, FileFailure
from core.store.documents import FileRow, Root, is_under

IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__", "$RECYCLE.BIN", "System Volume Information", "lost+found"})
IGNORED_FILES = ("~$*", ".*", "*.part", "*.crdownload", "*.download", "*.tmp", "*.swp", "Thumbs.db", "desktop.ini")
# what a library puts into its folder
LIBRARY_FILE = "library.db"
LIBRARY_NAMES = ("library.db*", "library.lock", "generations", "models")
# states that may have another cause than the file's content: looked at again in every scan
ALWAYS_AGAIN = frozenset({DocumentState.DENIED, DocumentState.MISSING, DocumentState.CHANGING, DocumentState.WAITING})


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file on disk. `known_hash` is what the library read last, empty for a new file."""

    path: Path
    text: str  # the path as it is stored
    root_id: int
    size: int
    mtime_ns: int
    known_hash: str = ""
    file_id: int | None = None


@dataclass(slots=True)
class ScanResult:
    read: list[FoundFile] = field(default_factory=list)  # new, or maybe changed
    unchanged: int = 0
    gone: list[FileRow] = field(default_factory=list)
    failed: list[FileFailure] = field(default_factory=list)  # folders that could not be listed
    away: list[Root] = field(default_factory=list)  # roots that are not there: a drive may be disconnected


def check_path(path: Path) -> None:
    """Raises PathMissing or NoPermission when `path` cannot be added."""
    if not _exists(path):
        raise PathMissing(f"{path_text(path)} does not exist.", "Check the path, or connect the drive it is on.")
    if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
        raise NoPermission(f"No permission to read {path_text(path)}.", "Check the rights of this file or folder.")


def _exists(path: Path) -> bool:
    """False also where the way there is closed to us."""
    try:
        return path.exists()
    except OSError:
        return False


def scan(
    roots: list[Root], known: list[FileRow], library: Path, excluded: Collection[str] = (), *, retry: bool = False
) -> ScanResult:
    """Walk the roots in the order of their paths, past what is `excluded` (files or folders).

    `retry` reads files again whose last reading failed.
    """
    result = ScanResult()
    by_path = {row.path: row for row in known}
    seen: set[str] = set()
    for root in roots:
        base = text_path(root.path)
        if not _exists(base):
            result.away.append(root)
            continue
        for found in _walk(base, root.id, library.resolve(), result.failed):
            if found.text in seen or any(is_under(found.text, e) for e in excluded):
                continue
            seen.add(found.text)
            _sort(found, by_path.get(found.text), result, retry)
    away = {root.id for root in result.away}
    denied = tuple(f.path.rstrip("/\\") + os.sep for f in result.failed)
    result.gone = [
        row for row in known if row.path not in seen and row.root_id not in away and not row.path.startswith(denied)
    ]
    return result


def _sort(found: FoundFile, row: FileRow | None, result: ScanResult, retry: bool) -> None:
    if row is None:
        result.read.append(found)
        return
    same = row.complete and (row.size, row.mtime_ns) == (found.size, found.mtime_ns)
    again = row.state in ALWAYS_AGAIN or (retry and not row.state.has_text)
    if same and not again:
        result.unchanged += 1
        return
    # an incomplete or repeated reading must not be cut short by an equal hash
    trusted = row.hash if row.complete and not again else ""
    result.read.append(FoundFile(found.path, found.text, found.root_id, found.size, found.mtime_ns, trusted, row.id))


def _walk(base: Path, root_id: int, library: Path, failed: list[FileFailure]) -> Iterator[FoundFile]:
    if not base.is_dir():
        found = _found(base, root_id)
        if found:
            yield found
        return

    def denied(error: OSError) -> None:
        name = path_text(str(error.filename))
        reason = "No permission to list this folder."
        if not isinstance(error, PermissionError):
            reason = f"This folder could not be listed: {error.strerror}."
        failed.append(FileFailure(name, DocumentState.DENIED, reason))

    # folders that are links are not followed: they may lead in circles or out of the root
    for folder, names, file_names in os.walk(base, onerror=denied):
        here = Path(folder)
        own = LIBRARY_NAMES if LIBRARY_FILE in file_names else ()  # a library made among the documents
        names[:] = sorted(n for n in names if n not in own and not _ignored_folder(here / n, n, library))
        for name in sorted(file_names):
            if any(fnmatch.fnmatch(name, pattern) for pattern in (*IGNORED_FILES, *own)):
                continue
            found = _found(here / name, root_id)
            if found:
                yield found


def _ignored_folder(path: Path, name: str, library: Path) -> bool:
    if name in IGNORED_FOLDERS or name.startswith("."):
        return True
    return path.resolve() == library or _exists(path / LIBRARY_FILE)


def _found(path: Path, root_id: int) -> FoundFile | None:
    """The file as it is now; None for sockets, pipes and links that lead nowhere."""
    try:
        status = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return FoundFile(path, path_text(path), root_id, status.st_size, status.st_mtime_ns)
