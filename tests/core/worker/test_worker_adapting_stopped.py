"""Runs of adapting that are stopped, killed, overtaken: what goes on, what is cleared away."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from core.base.errors import Cancelled, KnownError, LibraryLocked
from core.base.events import Control, Event, Progress
from core.base.files import FileLock
from core.index import generation
from core.models import adapted
from core.store import database
from core.worker import adapt_ending, adapting
from core.worker.generations import roll_back
from core.worker.purge import purge
from tests.core.worker.adapting_runs import accepting, adapt, queries, wrong

pytestmark = pytest.mark.usefixtures("short_recipe")

ROOT = Path(__file__).parents[3]


def test_a_stopped_run_goes_on_and_ends_like_one_that_was_not(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accepting(monkeypatch)
    whole = adapt(library)
    roll_back(library, whole["previous"])
    for stage in ("mining", "queries"):
        control = Control()

        def stop(event: Event, stage: str = stage, control: Control = control) -> None:
            if isinstance(event, Progress) and event.stage == stage and event.done > 1:
                control.cancel()

        with pytest.raises(Cancelled):
            adapting.adapt(library, "quick", control=control, listener=stop)
        assert adapting.history(library)[-1]["state"] == "stopped"
    told: list[Event] = []
    made = adapting.adapt(library, "quick", control=Control(), listener=told.append)
    assert made["number"] == 2
    assert made["made"] == whole["made"]  # the name holds the hash of the weights
    stages = [(one.stage, one.done) for one in told if isinstance(one, Progress)]
    assert "mining" not in {stage for stage, _ in stages}  # nothing is done twice
    assert min(done for stage, done in stages if stage == "queries" and done) > 2


def test_what_nobody_can_go_on_with_is_cleared_away(library: Path) -> None:
    control = Control()

    def stop(event: Event) -> None:
        if isinstance(event, Progress) and event.stage == "mining":
            control.cancel()

    with pytest.raises(Cancelled):
        adapting.adapt(library, "quick", control=control, listener=stop)
    folder = library / "jobs/adapt/0001"
    assert (folder / "questions.json").is_file()
    with pytest.raises(Cancelled):
        adapting.adapt(library, "standard", control=control, listener=stop)
    assert [path.name for path in folder.iterdir()] == ["run.json"]
    assert [row["state"] for row in adapting.history(library)] == ["stopped", "stopped"]


def test_stopped_while_the_library_changes_over_it_goes_on_there(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepting(monkeypatch)
    before = generation.current(library)
    assert before
    switch = adapt_ending._switch

    def stopped(*args: object, **more: object) -> int:
        raise Cancelled()

    with monkeypatch.context() as patch:
        patch.setattr(adapt_ending, "_switch", stopped)
        with pytest.raises(Cancelled):
            adapt(library)
    assert adapting.history(library)[0]["state"] == "stopped"
    monkeypatch.setattr(adapting, "_learnt", None)  # nothing is learned again
    made = adapt(library)
    assert (made["number"], made["state"], made["previous"]) == (1, "accepted", before.number)
    assert queries(library) == made["made"]
    assert switch is adapt_ending._switch


def test_what_does_not_fit_the_librarys_encoder_any_more_is_not_taken_over(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepting(monkeypatch)
    begin = adapt_ending.begin

    def meanwhile(*args: object) -> adapt_ending.Ending:
        return replace(begin(*args), encoders=("another-encoder", ""))  # type: ignore[arg-type]

    monkeypatch.setattr(adapt_ending, "begin", meanwhile)
    with pytest.raises(KnownError, match="another encoder meanwhile"):
        adapt(library)
    (row,) = adapting.history(library)
    assert row["state"] == "failed"
    assert queries(library) == ""
    assert [path.name for path in (library / "jobs/adapt/0001").iterdir()] == ["run.json"]


def test_what_was_removed_leaves_the_runs(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accepting(monkeypatch)
    made = adapt(library)
    shown = [one["passage"] for one in (*made["up"], *made["down"])]
    assert shown
    control = Control()

    def stop(event: Event) -> None:
        if isinstance(event, Progress) and event.stage == "mining":
            control.cancel()

    with pytest.raises(Cancelled):
        adapting.adapt(library, "quick", control=control, listener=stop)
    assert (library / "jobs/adapt/0002/questions.json").is_file()
    db = database.open_writer(library)
    with database.transaction(db):
        db.execute("DELETE FROM passage WHERE id = ?", (shown[0],))
        db.execute("INSERT INTO tombstone VALUES (?)", (shown[0],))
    db.conn.close()
    first, _ = adapting.history(library)
    assert shown[0] not in {one["passage"] for one in (*first["up"], *first["down"])}
    purged = purge(library)
    assert purged.adapted == made["made"]
    assert f'"passage": {shown[0]}' not in (library / "jobs/adapt/0001/run.json").read_text()
    assert [path.name for path in (library / "jobs/adapt/0002").iterdir()] == ["run.json"]
    with FileLock(library / adapted.LOCK, "adapt"), pytest.raises(LibraryLocked):
        purge(library)


@pytest.mark.e2e
def test_killed_anywhere_it_ends_the_same(library: Path, tiny_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command in a process of its own, killed at random moments and begun again."""
    script = (
        "import sys; from dataclasses import replace; from pathlib import Path\n"
        "from core.base.events import Control; from core.train import adapt, gate; from core.train.recipes import *\n"
        "from core.worker import adapting\n"
        "judge = gate.judge; adapt.gate.judge = lambda *a: replace(judge(*a), accepted=True)\n"
        "RECIPES['quick'] = Recipe('quick', 400, 5.0, QueryStage(epochs=2, rate=2e-3, moments=1))\n"
        "print(adapting.adapt(Path(sys.argv[1]), 'quick', control=Control(), listener=lambda e: None)['made'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}

    def run() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", script, str(library)], env=environment, stdout=subprocess.PIPE, text=True
        )

    begun = time.monotonic()
    whole, _ = run().communicate(timeout=400)
    lasts = time.monotonic() - begun
    assert whole.strip()
    current = generation.current(library)
    assert current
    assert current.parent
    roll_back(library, current.parent)
    luck = random.Random(4)
    for _ in range(6):
        child = run()
        time.sleep(luck.uniform(0.2, 0.8) * lasts)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        if queries(library):  # it had ended: another run would begin where this one did
            break
    else:
        ended, _ = run().communicate(timeout=400)
        assert ended == whole
    assert queries(library) == whole.strip()
    assert wrong(library) == []
