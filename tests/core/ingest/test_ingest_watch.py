"""Watching folders: what changed is told of once it has settled; what needs no scan is not."""

import contextlib
import threading
import time

import pytest

from core.base.errors import Cancelled
from core.base.events import Control
from core.ingest import watch as watching
from core.ingest.watch import Watch
from core.library import Library
from core.store import database, documents


class Watched:
    """A watch at work on a thread."""

    def __init__(self, library, every=600.0):
        self.counts, self.told = [], []
        self._control = Control()
        self._watch = Watch(library, every=every, settle=0.3, changed=self.counts.append, told=self.told.append)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        time.sleep(0.5)  # until the system watches

    def _run(self):
        with contextlib.suppress(Cancelled):
            self._watch.run(self._control)

    def next(self, seconds=20.0):
        end = time.monotonic() + seconds
        while not self.counts and time.monotonic() < end:
            time.sleep(0.05)
        return self.counts.pop(0) if self.counts else None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._control.cancel()
        self._thread.join()


@pytest.fixture
def folder(tmp_path, tmp_library):
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    Library.create(tmp_library).close()
    add(tmp_library, tmp_path / "docs")
    return tmp_path / "docs"


def add(library, path):
    db = database.open_writer(library)
    documents.add_path(db, str(path), path.is_dir())
    db.conn.close()


def test_changes_are_told_of_once_they_have_settled(tmp_library, folder):
    with Watched(tmp_library) as watched:
        for number in range(5):
            (folder / "sub" / f"{number}.txt").write_text("x")
        assert watched.next() == 5
        (folder / "sub" / "0.txt").rename(folder / "1.txt")
        assert watched.next() == 2
        (folder / "1.txt").unlink()
        assert watched.next() == 1
        (folder / ".hidden").write_text("x")
        (folder / "a.part").write_text("x")
        (folder / "sub" / "1.txt").read_text()
        assert watched.next(1.5) is None
        assert watched.told == []


def test_folders_added_later_and_single_files_are_watched_too(tmp_library, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "_ROOTS_SECONDS", 0.2)
    with Watched(tmp_library) as watched:
        (tmp_path / "more").mkdir()
        (tmp_path / "single.txt").write_text("x")
        add(tmp_library, tmp_path / "more")
        add(tmp_library, tmp_path / "single.txt")
        assert watched.next() == 2
        (tmp_path / "more" / "b.txt").write_text("x")
        assert watched.next() == 1
        (tmp_path / "other.txt").write_text("x")
        (tmp_path / "single.txt").write_text("y")
        assert watched.next() == 1
        (tmp_path / "more").rename(tmp_path / "away")
        time.sleep(1)  # until it is seen to be away
        (tmp_path / "away").rename(tmp_path / "more")
        assert watched.next()


def test_there_is_a_regular_look_anyway(tmp_library, folder):
    with Watched(tmp_library, every=0.4) as watched:
        assert watched.next() == 0
        assert watched.next() == 0


def test_what_cannot_be_watched_is_told_of_and_looked_at_regularly(tmp_library, folder, monkeypatch):
    from watchdog.observers import Observer

    def refuse(self, *args, **options):
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(Observer, "schedule", refuse)
    with Watched(tmp_library, every=0.4) as watched:
        assert watched.next() == 0
        assert len(watched.told) == 1
        assert "watch limit" in watched.told[0]
