"""Watching the folders of a library, as a hint that it is time for a scan: the scan finds out what happened.

The system's own events (`watchdog`) say it within seconds. Where they cannot be had, and for what they miss, there
is a regular look at everything.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from sqlite_utils import Database
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from core.base.events import Control
from core.base.files import text_path
from core.ingest.ignore import Rules
from core.store import database, documents
from core.store.documents import Root

EVERY_SECONDS = 600.0
SETTLE_SECONDS = 2.0
_LONGEST_SECONDS = 30.0  # a file that never settles must not hold up the others
_LOOK_SECONDS = 0.2
_ROOTS_SECONDS = 2.0
_START_SECONDS = 10.0  # then comes the first regular look: much may have happened while nobody watched
_NOT_CHANGES = frozenset({"opened", "closed_no_write"})
_MOST_NAMES = 10_000  # counted one by one


class Watch:
    """Watches until it is told to stop; `run` is the whole of it."""

    def __init__(
        self, library: Path, *, every: float = EVERY_SECONDS, settle: float = SETTLE_SECONDS,
        changed: Callable[[int], None], told: Callable[[str], None],
    ) -> None:  # fmt: skip
        """`changed` gets the number of files that changed, or 0 for the regular look; `told` what cannot be watched."""
        self._library = library.resolve()
        self._every, self._settle = every, settle
        self._changed, self._told = changed, told
        self._pending = _Pending()
        self._watched: dict[int, ObservedWatch] = {}
        self._blind: set[int] = set()  # roots that were told of

    def run(self, control: Control) -> None:
        """
        Raises:
            Cancelled: the only way it ends.
            NotALibrary
        """
        db = database.open_reader(self._library)
        observer = Observer()
        observer.start()
        try:
            self._follow(db, observer, first=True)
            self._loop(db, observer, control)
        finally:
            observer.stop()
            observer.join()
            db.conn.close()

    def _loop(self, db: Database, observer: BaseObserver, control: Control) -> None:
        next_look, next_roots = time.monotonic() + min(self._every, _START_SECONDS), 0.0
        while True:
            control.check()
            now = time.monotonic()
            if now >= next_roots:
                next_roots = now + _ROOTS_SECONDS
                self._follow(db, observer)
            count = self._pending.take(self._settle)
            if count or now >= next_look:
                next_look = now + self._every
                self._changed(count)
            time.sleep(_LOOK_SECONDS)

    def _follow(self, db: Database, observer: BaseObserver, *, first: bool = False) -> None:
        """Watch the roots that there are now. One that came back, or is new, counts as a change."""
        roots = {root.id: root for root in documents.roots(db)}
        for root_id in [i for i in self._watched if i not in roots or not text_path(roots[i].path).exists()]:
            observer.unschedule(self._watched.pop(root_id))
        for root in roots.values():
            if root.id in self._watched or not text_path(root.path).exists():
                continue
            if self._schedule(root, observer) and not first:
                self._pending.add(root.path)

    def _schedule(self, root: Root, observer: BaseObserver) -> bool:
        path = text_path(root.path)
        folder = path if root.is_folder else path.parent
        handler = _Handler(self._pending, folder, self._library, None if root.is_folder else path)
        try:
            self._watched[root.id] = observer.schedule(handler, str(folder), recursive=root.is_folder)
        except OSError as error:  # most often there are more folders than the system lets a person watch
            if root.id not in self._blind:
                self._blind.add(root.id)
                minutes = max(1, round(self._every / 60))
                self._told(
                    f"Changes in {root.path} are not seen at once ({error.strerror or error}); it is looked at every "
                    f"{minutes} minutes."
                )
            return False
        return True


class _Pending:
    """Files that changed and were not told of yet. Used by the observer's threads and by `run`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: set[str] = set()
        self._first = self._last = 0.0

    def add(self, name: str) -> None:
        now = time.monotonic()
        with self._lock:
            if not self._names:
                self._first = now
            if len(self._names) < _MOST_NAMES:
                self._names.add(name)
            self._last = now

    def take(self, settle: float) -> int:
        """How many files changed, once nothing has changed for `settle` seconds (or for too long); else 0."""
        now = time.monotonic()
        with self._lock:
            if not self._names or (now - self._last < settle and now - self._first < _LONGEST_SECONDS):
                return 0
            count = len(self._names)
            self._names.clear()
            return count


class _Handler(FileSystemEventHandler):
    """Notes the events that a scan may care for."""

    def __init__(self, pending: _Pending, folder: Path, library: Path, only: Path | None) -> None:
        self._pending = pending
        self._folder, self._library, self._only = folder, library, only

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in _NOT_CHANGES or (event.is_directory and event.event_type == "modified"):
            return
        for name in (event.src_path, event.dest_path):
            path = Path(name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name)
            if name and self._counts(path):
                self._pending.add(str(path))

    def _counts(self, path: Path) -> bool:
        """A rough look: what is ignored by default, or is the library's own, is no reason for a scan."""
        if self._only is not None:
            return path == self._only
        if path.is_relative_to(self._library) or not path.is_relative_to(self._folder):
            return False
        if path.name == ".whymatchignore":
            return True
        *folders, name = path.relative_to(self._folder).parts or ("",)
        rules = Rules()
        return not rules.ignores(name, name, is_folder=False) and not any(
            rules.ignores(part, part, is_folder=True) for part in folders
        )
