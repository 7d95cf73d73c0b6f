"""What goes on beside a run: removals, other work that is to go first; and what holds a run back."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.base.errors import DiskFull
from core.base.events import Control, Progress
from core.ingest import guards, order
from core.ingest.limits import Limits
from core.ingest.pace import Pace, cost_of
from core.ingest.pipeline import Ingest
from core.ingest.reading import Ended, Read, ReadingThread, Started, Surroundings
from core.ingest.scan import FoundFile
from tests.corpus import make_folder
from tests.kept import Kept


@pytest.fixture
def kept(tmp_library, tiny_encoder):
    return Kept(tmp_library, tiny_encoder)


@pytest.fixture
def folder(tmp_path):
    make_folder(tmp_path / "docs" / "one", 12, suffixes=("txt",))
    make_folder(tmp_path / "docs" / "two", 12, seed=2, suffixes=("txt",))
    for path in (tmp_path / "docs").rglob("*.txt"):
        os.utime(path, (1e9, 1e9))
    return tmp_path / "docs"


def run(kept, *paths, control=None, listener=lambda event: None):
    return kept.written(lambda db: Ingest(kept.folder, db, kept.encoder, control or Control(), listener).run(paths))


def once(condition, act):
    """A listener that does `act` the first time that a progress event meets `condition`."""
    done = []

    def listen(event):
        if not done and isinstance(event, Progress) and condition(event):
            done.append(True)
            act()

    return listen


def reading(least):
    return lambda event: event.stage in ("reading", "encoding") and event.counts["files"] >= least


@pytest.mark.parametrize("stage", [1, 14, 24])
def test_a_folder_removed_beside_a_run_is_not_stored_again(kept, folder, tmp_path, stage):
    receipts = []
    listen = once(reading(stage), lambda: receipts.append(kept.remove(folder / "one")))
    report = run(kept, folder, listener=listen)
    if not receipts:  # it was over before: remove it now
        receipts.append(kept.remove(folder / "one"))
        report = run(kept)
    assert set(receipts[0].channels.values()) == {0}
    assert report.documents == 12
    assert {Path(d.path).parent.name for d in kept.documents().values()} == {"two"}
    assert not any("/one/" in h.passage.path for h in kept.search("the hive and the harbour", k=100))
    assert len(kept.passage_ids()) == report.passages
    fresh = Kept(tmp_path / "fresh", kept.encoder)
    fresh.run(folder / "two")
    assert kept.seen() == fresh.seen()


def test_a_root_removed_beside_a_run_ends_it_early(kept, folder):
    report = run(kept, folder, listener=once(reading(2), lambda: kept.remove(folder)))
    assert (report.documents, report.passages) == (0, 0)
    assert kept.passage_ids() == set()
    assert kept.rows("SELECT count(*) FROM file") == [(0,)]


def test_what_was_removed_is_not_even_opened(folder):
    paths = sorted(folder.rglob("*.txt"))
    files = [FoundFile(path, str(path), 1, 10, 10) for path in paths]
    items = []
    with ReadingThread(files, Surroundings(Limits(), wanted=lambda file: file.path == paths[0]), Control()) as thread:
        while not thread.done:
            items.append(thread.poll(0.2))
    assert [type(item) for item in items if item is not None] == [Started, Read, *[Ended] * len(paths)]
    assert [item.dropped for item in items if isinstance(item, Ended)] == [False, *[True] * (len(paths) - 1)]


def test_a_run_that_gives_way_goes_on_later_with_what_is_new_first(kept, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("core.ingest.reading._AHEAD", 1)  # else a fast reader is done with all files by then
    monkeypatch.setattr("core.ingest.pipeline._BACKLOG", 1)  # encode at once
    make_folder(tmp_path / "new", 3, seed=3, suffixes=("txt",))
    control = Control()
    report = run(kept, folder, control=control, listener=once(reading(3), control.give_way))
    assert report.gave_way
    assert 3 <= report.documents < 24
    assert kept.search("hive")  # what was encoded until then is found
    before = {i for (i,) in kept.rows("SELECT id FROM document")}
    report = run(kept, tmp_path / "new", folder)
    assert report.documents == 27
    assert not report.gave_way
    stored = [path for i, path in kept.rows("SELECT id, path FROM document ORDER BY id") if i not in before]
    assert ["/new/" in path for path in stored] == [True] * 3 + [False] * (len(stored) - 3)


def found(name, *, size=1000, age=1000.0, root=1, strikes=0):
    time_ns = int((time.time() - age) * 1e9)
    return FoundFile(Path(name), name, root, size, time_ns, strikes=strikes)


def test_the_order_of_reading():
    files = [
        found("/huge/old", age=5000), found("/huge/new", age=10), found("/huge/large", size=5 << 20, age=5),
        found("/small/a", root=2), found("/huge/fresh", age=0.2), found("/added/x", size=30 << 20, root=3),
        found("/huge/suspect"), found("/huge/struck", strikes=1),
    ]  # fmt: skip
    made = order.in_order(files, ["/added"], {1: 9000, 2: 10, 3: 20_000}, settle=2.0, suspect="/huge/suspect")
    assert [f.text for f in made] == [
        "/added/x", "/small/a", "/huge/new", "/huge/old", "/huge/large", "/huge/fresh", "/huge/struck", "/huge/suspect",
    ]  # fmt: skip


def test_a_run_stops_before_the_disk_is_full(kept, folder, monkeypatch):
    guard = guards.DiskGuard(kept.folder)
    guard.look()
    with pytest.raises(DiskFull, match="going on takes"):
        guard.need(1 << 60)
    monkeypatch.setattr(guards, "LEAST_FREE", 1 << 60)
    with pytest.raises(DiskFull):
        run(kept, folder)
    monkeypatch.undo()
    assert run(kept, folder).documents == 24


def test_work_waits_for_the_charger(monkeypatch):
    monkeypatch.setattr(guards, "_BATTERY_SECONDS", 0.3)
    power, told = [True, True, False], []
    guard = guards.BatteryGuard(Control(), lambda: told.append(1), look=lambda: power.pop(0))
    guard.wait()
    assert power == []
    assert len(told) >= 2
    control = Control()
    control.give_way()
    guards.BatteryGuard(control, lambda: None, look=lambda: True).wait()
    assert guards.on_battery() in (True, False)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX numbers")
def test_a_lower_priority_in_a_process_of_its_own():
    code = "import os; from core.ingest.guards import lower_priority; lower_priority(); print(os.nice(0))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert int(shown.stdout) >= 10


ROOT = Path(__file__).parents[3]


def test_the_watching_child_is_light():
    code = (
        "import json, sys, core.worker.__main__, core.worker.roles.watch; "
        "print(json.dumps([n for n in ('torch', 'onnxruntime', 'faiss', 'pypdfium2', 'PySide6') if n in sys.modules]))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(shown.stdout) == []


def test_time_left_is_told_from_the_pace():
    pace = Pace(100 * cost_of(1000))
    assert pace.seconds_left(0) is None
    for _ in range(50):
        pace.read(1000)
    pace._begun -= 10  # ten seconds for half of it, and what comes when all is read
    assert pace.seconds_left(0) == pytest.approx(10 + 3, rel=0.1)
    pace.encoded(1000, 5.0)
    assert pace.seconds_left(200) == pytest.approx(12 + 1.5, rel=0.1)
