"""What lies on the disk under the roots, compared with what the library has seen.

Size and time tell what may have changed; the content hash, taken when a file is read, has the last word.
What cannot be looked at just now (a drive that is away, a folder that is closed) is not taken for deleted.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.base.errors import NoPermission, PathMissing
from core.base.files import path_text, text_path
from core.base.types import DocumentState, FileFailure
from core.ingest.cloud import is_online_only, real_name
from core.ingest.ignore import IGNORE_FILE, Rules, rules_text
from core.store.documents import FileRow, Root, is_under

# what a library puts into its folder
LIBRARY_FILE = "library.db"
LIBRARY_NAMES = frozenset(
    {"library.lock", "generations", "models", "spool", "cache", "reading.json", "jobs", "adapt.lock"}
)
# states that may have another cause than the file's content: looked at again in every scan
ALWAYS_AGAIN = frozenset(
    {
        DocumentState.DENIED, DocumentState.MISSING, DocumentState.CHANGING, DocumentState.WAITING,
        DocumentState.UNFINISHED,
    }
)  # fmt: skip
# states that may be chance: tried again in later scans, until there are too many strikes
TRY_AGAIN = frozenset({DocumentState.CRASHED, DocumentState.TIMED_OUT})
_IGNORE_BYTES = 1 << 20


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
    online_only: bool = False  # a placeholder: must not be opened
    strikes: int = 0
    struck_hash: str = ""  # of the content that the strikes are against, where it is known
    hash: str = ""  # of the content at this size and time, where it was taken already
    stored: bool = False  # the library holds a text of this file that can be searched


@dataclass(slots=True)
class ScanResult:
    read: list[FoundFile] = field(default_factory=list)  # new, or maybe changed
    unchanged: int = 0
    gone: list[FileRow] = field(default_factory=list)
    failed: list[FileFailure] = field(default_factory=list)  # folders that could not be listed
    away: list[str] = field(default_factory=list)  # roots and mounted folders that are not there
    missing: list[tuple[FileRow, str]] = field(default_factory=list)  # files of folders that were perhaps renamed
    stamps: dict[int, str] = field(default_factory=dict)  # by root, of those with something in them
    mounts: list[str] = field(default_factory=list)  # folders under the roots that are disks of their own
    changed: dict[int, FileRow] = field(default_factory=dict)  # rows of known files in `read`, by id
    sizes: dict[int, int] = field(default_factory=dict)  # files by root


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
    roots: list[Root], known: list[FileRow], library: Path, excluded: Collection[str] = (), *, retry: bool = False,
    patterns: str = "", stamps: Mapping[int, str] | None = None, mounts: Collection[str] = (),
) -> ScanResult:  # fmt: skip
    """Walk the roots in the order of their paths, past what is `excluded` (files or folders) or ignored.

    `retry` reads files again whose last reading failed or was cut off. `patterns` are the library's own, in the
    syntax of `.gitignore`. `stamps` and `mounts` are those of the scan before.
    """
    walk = _Walk({row.path: row for row in known}, os.path.realpath(library), frozenset(excluded), retry)
    away: set[int] = set()
    for root in roots:
        if not walk.root(root, patterns, (stamps or {}).get(root.id, "")):
            away.add(root.id)
    result = walk.result
    result.away += [mount for mount in mounts if mount not in result.mounts and _left(mount)]
    result.mounts += [mount for mount in result.away if mount in mounts]
    kept = tuple(p.rstrip("/\\") + os.sep for p in (*(f.path for f in result.failed), *result.away, *walk.closed))
    failed = {f.path for f in result.failed}
    result.gone = [
        row for row in known
        if row.path not in walk.seen and row.root_id not in away and not row.path.startswith(kept)
        and row.path not in failed
    ]  # fmt: skip
    bases = {root.id: root.path for root in roots if root.id in away and _renamed(root)}
    result.missing = [(row, bases[row.root_id]) for row in known if row.root_id in bases and row.path not in walk.seen]
    return result


def _renamed(root: Root) -> bool:
    """Whether the folder itself is not there although the one that it was in is."""
    path = text_path(root.path)
    return root.is_folder and not _exists(path) and _exists(path.parent)


def _left(mount: str) -> bool:
    """Whether nothing is mounted at `mount` any more: the folder is gone, or it is an empty one."""
    try:
        with os.scandir(text_path(mount)) as entries:
            return next(entries, None) is None
    except FileNotFoundError:
        return _exists(text_path(mount).parent)
    except OSError:
        return True


def stamp_of(status: os.stat_result) -> str:
    """What tells a folder from another one at the same path."""
    return f"{status.st_dev}:{status.st_ino}"


class _Walk:
    """One scan at work."""

    def __init__(self, known: dict[str, FileRow], library: str, excluded: frozenset[str], retry: bool) -> None:
        self._known = known
        self._library = library
        self._excluded = excluded
        self._retry = retry
        self.seen: set[str] = set()
        self.closed: list[str] = []  # folders in the cloud: listing them would pull them in
        self.result = ScanResult()

    def root(self, root: Root, patterns: str, stamp: str) -> bool:
        """False when the root is away."""
        base = text_path(root.path)
        if any(is_under(root.path, gone) for gone in self._excluded):
            return True
        try:
            status = base.stat()
        except OSError:
            return self._no_root(root, base)
        if not stat.S_ISDIR(status.st_mode):
            self._file(str(base), base.name, status, root.id)
            return True
        if stamp not in ("", stamp_of(status)) and _left(root.path):
            self.result.away.append(root.path)
            return False
        if self._folder(str(base), Rules().below(str(base), patterns), root.id, status.st_dev):
            self.result.stamps[root.id] = stamp_of(status)
        return True

    def _no_root(self, root: Root, base: Path) -> bool:
        """A single file is deleted when its folder is there and lives; a folder may be on a drive that is away."""
        if not root.is_folder and _exists(base.parent) and not _exists(base) and not _left(path_text(base.parent)):
            return True
        self.result.away.append(root.path)
        return False

    def _folder(self, base: str, rules: Rules, root_id: int, device: int) -> bool:
        """Walk all folders from `base` on; folders that are links are not followed. Whether anything is there."""
        waiting, anything = [(base, rules, device)], False
        while waiting:
            folder, rules, device = waiting.pop()
            entries = self._entries(folder)
            anything = anything or bool(entries)
            rules = self._rules(folder, rules, entries)
            own = any(entry.name == LIBRARY_FILE for entry in entries)  # a library made among the documents
            below = []
            for entry in entries:
                if own and (entry.name in LIBRARY_NAMES or entry.name.startswith(LIBRARY_FILE)):
                    continue
                try:
                    inner = self._entry(entry, rules, root_id, device)
                except OSError as error:
                    self._failed(entry.path, error, "This file could not be looked at")
                    continue
                if inner is not None:
                    below.append((entry.path, rules, inner))
            waiting += reversed(below)
        return anything

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as found:
                return sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            self._failed(folder, error, "This folder could not be listed")
            return []

    def _failed(self, path: str, error: OSError, what: str) -> None:
        reason = f"{what}: {error.strerror}."
        if isinstance(error, PermissionError):
            reason = "No permission to list this folder."
        self.result.failed.append(FileFailure(path_text(path), DocumentState.DENIED, reason))

    def _rules(self, folder: str, rules: Rules, entries: list[os.DirEntry[str]]) -> Rules:
        file = next((entry for entry in entries if entry.name == IGNORE_FILE), None)
        if file is None:
            return rules
        try:
            with open(file.path, "rb") as stream:
                return rules.below(folder, rules_text(stream.read(_IGNORE_BYTES)))
        except (OSError, ValueError) as error:
            reason = f"These rules could not be used: {error}."
            self.result.failed.append(FileFailure(path_text(file.path), DocumentState.BROKEN, reason))
            return rules

    def _entry(self, entry: os.DirEntry[str], rules: Rules, root_id: int, device: int) -> int | None:
        """Look at one entry. The device of a folder that is to be walked, else None."""
        name = real_name(entry.name)
        is_folder = entry.is_dir(follow_symlinks=False)
        path = entry.path if name == entry.name else entry.path[: -len(entry.name)] + name
        if rules.ignores(path, name, is_folder=is_folder):
            return None
        if is_folder:
            return self._inner(entry, device)
        try:
            if entry.is_dir():  # a link to a folder: it may lead in circles or out of the root
                return None
            status = entry.stat()
        except OSError as error:
            if isinstance(error, FileNotFoundError) or error.errno == errno.ELOOP:
                return None  # a link that leads nowhere or to itself, or just deleted
            raise
        self._file(path, name, status, root_id, online=name != entry.name, place=entry.path)
        return None

    def _inner(self, entry: os.DirEntry[str], device: int) -> int | None:
        # not what the entry says: on Windows it knows no device
        folder = Path(entry.path)
        status = folder.lstat()
        text = path_text(entry.path)
        junction = getattr(status, "st_reparse_tag", 0) == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)
        if text in self._excluded or junction or entry.path == self._library:
            return None
        if is_online_only(status):
            self.closed.append(text)
            return None
        if _exists(folder / LIBRARY_FILE):
            return None
        if status.st_dev != device:
            self.result.mounts.append(text)
        return status.st_dev

    def _file(
        self, path: str, name: str, status: os.stat_result, root_id: int, *, online: bool = False, place: str = ""
    ) -> None:
        text = path_text(path)
        if not stat.S_ISREG(status.st_mode) or text in self.seen or text in self._excluded:
            return
        self.seen.add(text)
        self.result.sizes[root_id] = self.result.sizes.get(root_id, 0) + 1
        self._compare(text, place or path, status, root_id, online or is_online_only(status), self._known.get(text))

    def _compare(
        self, text: str, place: str, status: os.stat_result, root_id: int, online: bool, row: FileRow | None
    ) -> None:
        found = FoundFile(Path(place), text, root_id, status.st_size, status.st_mtime_ns, online_only=online)
        if row is None:
            self.result.read.append(found)
            return
        same = row.complete and (row.size, row.mtime_ns) == (found.size, found.mtime_ns)
        if online:
            again = row.state is not DocumentState.ONLINE_ONLY and not row.state.has_text
            same = True  # what was read when it was here stays
        else:
            again = row.state in ALWAYS_AGAIN | TRY_AGAIN or row.state is DocumentState.ONLINE_ONLY
            again = again or (self._retry and row.state is not DocumentState.READ)
        if same and not again:
            self.result.unchanged += 1
            return
        # an incomplete or repeated reading must not be cut short by an equal hash
        trusted = row.hash if row.complete and not again else ""
        strikes = 0 if self._retry else row.strikes
        stored = row.state.has_text
        self.result.read.append(
            replace(found, known_hash=trusted, file_id=row.id, strikes=strikes, struck_hash=row.hash, stored=stored)
        )
        self.result.changed[row.id] = row
