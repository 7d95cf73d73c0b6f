"""A file that ends the reading child, or the job itself, is tried a few times and then left alone."""

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.base.events import Control, Progress
from core.base.types import DocumentState
from core.ingest import sandbox, strikes
from core.ingest.limits import Limits
from core.ingest.pipeline import Ingest
from core.ingest.reading import read_file
from core.ingest.scan import FoundFile
from core.worker.client import ChildClient
from tests.kept import Kept

# loaded by every Python that finds it: text files that begin with a magic word do harm to the process reading them
_HARMFUL = """
import os, signal, time
import core.ingest.readers.text as text

_read = text.read

def read(path, limits, tick):
    start = path.read_bytes()[:5]
    if start == b"SEGV!":
        os.kill(os.getpid(), signal.SIGSEGV)
    while start == b"SLOW!":
        time.sleep(0.05)
        tick()
    yield from _read(path, limits, tick)

text.read = read
"""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")


@pytest.fixture
def kept(tmp_library, tiny_encoder):
    return Kept(tmp_library, tiny_encoder)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(_HARMFUL)
    monkeypatch.setenv("PYTHONPATH", str(site))
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(3):
        (docs / f"good {number}.txt").write_text(f"The bees of hive {number} make honey.")
    return docs


def run(kept, *paths, retry=False):
    return kept.written(
        lambda db: Ingest(kept.folder, db, kept.encoder, Control(), lambda event: None).run(paths, retry=retry)
    )


def state(kept, name):
    return kept.documents()[name].state


def test_three_crashes_are_enough_until_the_content_changes(kept, folder):
    bad = folder / "bad.txt"
    bad.write_text("SEGV! and more")
    states = []
    for _ in range(3):
        report = run(kept, folder)
        states.append(state(kept, "bad.txt"))
        assert [f.path for f in report.failed] == [str(bad)]
    assert states == [DocumentState.CRASHED, DocumentState.CRASHED, DocumentState.QUARANTINED]
    assert "left alone" in report.failed[0].reason
    report = run(kept)
    assert (report.skipped, report.failed) == (4, ())
    os.utime(bad, (1, 1))  # touched only
    assert run(kept).failed == ()
    report = run(kept, retry=True)
    assert [f.state for f in report.failed] == [DocumentState.QUARANTINED]
    bad.write_text("Now it is well.")
    assert run(kept).failed == ()
    assert state(kept, "bad.txt") is DocumentState.READ
    assert kept.rows("SELECT max(strikes) FROM file") == [(0,)]


def kill_while_reading(library, folder, least):
    """Start a job and kill it once the file at work has been there for `least` seconds. The files read before."""
    seen = []
    client = ChildClient("job", library)
    marker = strikes.Marker(library)
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLER, str(client.pid), str(library), str(least)],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        )
        with pytest.raises(Exception, match="SIGKILL"):
            client.call("ingest", {"paths": [str(folder)]}, on_event=lambda r: seen.append(r.data))
        process.wait(10)
        return marker.left(), seen
    finally:
        client.close()


_KILLER = """
import os, signal, sys, time
from pathlib import Path
from core.ingest.strikes import FILE, Marker
pid, library, least = int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
marker, note = Marker(library), library / FILE
before = note.stat().st_mtime_ns if note.exists() else 0  # of the job before
while True:
    left = marker.left()
    if left.path.endswith("bad.txt") and left.seconds >= least and note.stat().st_mtime_ns != before:
        break
    time.sleep(0.05)
os.kill(pid, signal.SIGKILL)
"""


@pytest.mark.e2e
def test_a_file_at_which_jobs_die_comes_last_and_then_not_at_all(tmp_library, tiny_home, tiny_encoder, folder):
    bad = folder / "bad.txt"
    bad.write_text("SLOW!")
    os.utime(bad, (time.time() - 100,) * 2)
    for path in folder.glob("good*"):
        os.utime(path, (time.time() - 1000,) * 2)  # older: they would come after it
    for strike in range(1, 4):
        left, _ = kill_while_reading(tmp_library, folder, 3.0)
        assert left.path == str(bad)
        assert left.suspicious
        db = sqlite3.connect(tmp_library / "library.db")
        counted = db.execute("SELECT strikes FROM file WHERE path = ?", (str(bad),)).fetchall()
        good = db.execute("SELECT count(*) FROM document WHERE state = 'read'").fetchone()[0]
        db.close()
        if strike > 1:  # the others were read before it this time, and it has the strikes of the jobs before
            assert counted == [(strike - 1,)]
            assert good == 3
    kept = Kept(tmp_library, tiny_encoder)
    report = run(kept)
    assert [(f.path, f.state) for f in report.failed] == [(str(bad), DocumentState.QUARANTINED)]
    assert not (tmp_library / strikes.FILE).exists()
    assert run(kept).failed == ()
    bad.write_text("Another text, which is no harm.")
    assert run(kept).failed == ()
    assert state(kept, "bad.txt") is DocumentState.READ


def test_a_job_that_ends_in_good_order_leaves_no_mark(kept, folder):
    (folder / "bad.txt").write_text("SLOW!")
    control = Control()

    def listen(event):
        if isinstance(event, Progress) and "bad.txt" in event.detail:
            control.cancel()

    for _ in range(2):
        with pytest.raises(Exception, match="cancelled"):
            kept.written(lambda db: Ingest(kept.folder, db, kept.encoder, control, listen).run([folder]))
        assert not (kept.folder / strikes.FILE).exists()


def test_the_start_of_the_reading_child_is_not_the_time_of_a_file(tmp_path, folder, monkeypatch):
    path, events, start = folder / "good 0.txt", [], sandbox._Child.__init__

    class Noting(strikes.Marker):
        def begin(self, path):
            events.append("begun")
            super().begin(path)

    def started(*args):
        start(*args)
        events.append("started")

    monkeypatch.setattr(sandbox._Child, "__init__", started)
    file = FoundFile(path, str(path), 1, 10, 10)
    with sandbox.Sandbox() as child:
        assert list(read_file(file, child, Limits(), Control(), Noting(tmp_path)))
    assert events[:2] == ["started", "begun"]


def test_a_short_reading_is_not_suspicious(tmp_path):
    marker = strikes.Marker(tmp_path)
    marker.begin("/a")
    assert strikes.Marker(tmp_path).left() == strikes.Left("/a", 0.0)
    assert not strikes.Marker(tmp_path).left().suspicious
    marker.end()
    assert strikes.Marker(tmp_path).left().path == ""
    (tmp_path / strikes.FILE).write_bytes(b'{"path": "/a", "sec')
    assert strikes.Marker(tmp_path).left() == strikes.Left()
