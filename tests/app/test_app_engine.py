"""The engine against real child processes: results, progress, cancelling, death, closing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from app_helpers import fake_command
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.engine import engine as engine_module
from app.engine.call import Call
from app.engine.engine import Engine
from app.engine.pulse import Pulse
from app.errors import Bug
from core.base.errors import ChildDied, LibraryLocked
from core.base.events import Changed, Progress
from core.base.types import IngestReport


class Ear(QObject):
    """Hears all that a call says."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.heard: list[tuple[str, Any]] = []
        for name in ("progress", "partial", "result", "failed"):
            getattr(call, name).connect(lambda value, name=name: self.heard.append((name, value)))
        call.cancelled.connect(lambda: self.heard.append(("cancelled", None)))
        call.finished.connect(lambda: self.heard.append(("finished", None)))

    def all(self, name: str) -> list[Any]:
        return [value for heard, value in self.heard if heard == name]

    @property
    def end(self) -> tuple[str, Any]:
        assert self.heard[-1][0] == "finished"
        return self.heard[-2]


def run(qtbot: QtBot, engine: Engine, role: str, op: str, timeout: int = 15_000, **args: Any) -> Ear:
    call = engine.call(role, op, args)
    ear = Ear(call)
    with qtbot.waitSignal(call.finished, timeout=timeout):
        pass
    return ear


def test_resident_role_starts_once_and_answers(qtbot: QtBot, engine: Engine) -> None:
    assert engine.state("search") == "off"
    first = run(qtbot, engine, "search", "echo", text="ü\ud800")  # a lone surrogate from an odd file name
    second = run(qtbot, engine, "search", "echo", text="b")
    assert first.end[1]["text"] == "ü\ud800"
    assert first.end[1]["pid"] == second.end[1]["pid"] == engine.pids()[0]
    assert engine.state("search") == "ready"


def test_environment_passes_home_and_stands_in_project(qtbot: QtBot, engine: Engine, own_home: Path) -> None:
    answer = run(qtbot, engine, "view", "env").end[1]
    assert answer["home"] == str(own_home)
    assert (Path(answer["folder"]) / "core" / "worker" / "protocol.py").is_file()


def test_job_result_is_typed_and_change_is_told(qtbot: QtBot, engine: Engine) -> None:
    changes: list[Changed] = []
    engine.changed.connect(changes.append)
    ear = run(qtbot, engine, "job", "ingest", paths=["/x"])
    assert ear.end == ("result", IngestReport(2, 9, 0, 0, (), 0.3, read=2))
    assert changes == [Changed(3, 2, 9)]
    assert all(isinstance(value, Progress) for value in ear.all("progress"))
    qtbot.waitUntil(lambda: engine.pids() == [], timeout=5000)


def test_each_job_has_its_own_process(qtbot: QtBot, engine: Engine) -> None:
    calls = [engine.call("job", "work", {"rest": 0.05}) for _ in range(2)]
    qtbot.waitUntil(lambda: len(engine.pids()) == 2)
    for call in calls:
        call.cancel()
    qtbot.waitUntil(lambda: engine.pids() == [], timeout=8000)


def test_progress_is_coalesced_and_the_last_one_arrives(qtbot: QtBot, engine: Engine) -> None:
    ear = run(qtbot, engine, "job", "flood", lines=5000)
    progress = ear.all("progress")
    assert progress[-1].done == 4999
    assert len(progress) < 500
    assert ear.end == ("result", {"lines": 5000})


def test_partials_come_all_and_in_order(qtbot: QtBot, engine: Engine) -> None:
    ear = run(qtbot, engine, "answer", "tokens", lines=200)
    assert [int(p["token"]) for p in ear.all("partial")] == list(range(200))


def test_flood_and_big_lines_leave_the_window_its_turn(qtbot: QtBot, engine: Engine) -> None:
    pulse = Pulse()
    run(qtbot, engine, "view", "echo")
    pulse.start()
    picture = run(qtbot, engine, "view", "picture", size=1_000_000)
    run(qtbot, engine, "job", "flood", lines=20_000, timeout=30_000)
    pulse.stop()
    assert len(picture.end[1]["image"]) > 1_300_000
    assert pulse.beats > 20  # the loop went on in between; how late a beat may be depends on the machine


def test_cancel_is_quiet(qtbot: QtBot, engine: Engine) -> None:
    call = engine.call("job", "work", {"steps": 1000})
    ear = Ear(call)
    with qtbot.waitSignal(call.progress):
        pass
    with qtbot.waitSignal(call.finished):
        call.cancel()
    assert ear.end == ("cancelled", None)
    assert not ear.all("failed")


def test_cancel_before_ready_ends_at_once(qtbot: QtBot, engine: Engine) -> None:
    call = engine.call("search", "echo", {})
    ear = Ear(call)
    call.cancel()
    assert ear.end == ("cancelled", None)


def test_pause_holds_and_resume_goes_on(qtbot: QtBot, engine: Engine) -> None:
    call = engine.call("job", "work", {"steps": 60, "rest": 0.01})
    ear = Ear(call)
    with qtbot.waitSignal(call.progress):
        pass
    call.pause()
    qtbot.wait(300)
    heard = len(ear.heard)
    qtbot.wait(300)
    assert len(ear.heard) == heard
    with qtbot.waitSignal(call.finished):
        call.resume()
    assert ear.end[0] == "result"


def test_hanging_call_is_terminated_and_its_neighbour_asked_again(
    qtbot: QtBot, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "RESIDENT_GRACE_MS", 200)
    hanging = engine.call("search", "hang")
    neighbour = engine.call("search", "work", {"steps": 100, "rest": 0.02})
    ear, other = Ear(hanging), Ear(neighbour)
    with qtbot.waitSignal(neighbour.progress):
        pass
    hanging.cancel()
    qtbot.waitUntil(lambda: bool(ear.heard and other.all("finished")), timeout=15_000)
    assert ear.end == ("cancelled", None)
    assert other.end == ("result", {"steps": 100})


def test_child_that_ignores_terminate_is_killed(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engine_module.GRACE_MS, "job", 100)
    engine = Engine(str(tmp_path), fake_command("stubborn"))
    call = engine.call("job", "stubborn")
    ear = Ear(call)
    with qtbot.waitSignal(call.partial):
        pass
    with qtbot.waitSignal(call.finished, timeout=8000):
        call.cancel()
    assert ear.end == ("cancelled", None)
    engine.close()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_death_is_told_with_its_signal_and_the_role_comes_back(qtbot: QtBot, engine: Engine) -> None:
    states: list[str] = []
    engine.role_state.connect(lambda role, state: states.append(state))
    error = run(qtbot, engine, "search", "crash").end[1]
    assert isinstance(error, ChildDied)
    assert "SIGSEGV" in error.message
    assert "search process" in error.message
    assert error.advice
    assert run(qtbot, engine, "search", "echo", a=1).end[1]["a"] == 1
    assert states[:4] == ["starting", "ready", "restarting", "starting"]


def test_exit_code_is_named(qtbot: QtBot, engine: Engine) -> None:
    error = run(qtbot, engine, "job", "leave", code=3).end[1]
    assert isinstance(error, ChildDied)
    assert "exit code 3" in error.message


def test_role_that_dies_at_every_start_is_given_up(qtbot: QtBot, engine: Engine) -> None:
    states: list[str] = []
    engine.role_state.connect(lambda role, state: states.append(state))
    engine.prepare("stillborn")
    qtbot.waitUntil(lambda: "stopped" in states, timeout=15_000)
    assert states.count("restarting") == 3
    ear = run(qtbot, engine, "stillborn", "echo")
    assert isinstance(ear.end[1], ChildDied)
    assert engine.state("stillborn") == "stopped"


def test_command_that_does_not_exist(qtbot: QtBot, tmp_path: Path) -> None:
    engine = Engine(str(tmp_path), lambda role, library: [str(tmp_path / "nothing")])
    ear = run(qtbot, engine, "job", "echo")
    assert "could not be started" in ear.end[1].message
    engine.close()


def test_errors_and_bugs_keep_their_kind(qtbot: QtBot, engine: Engine) -> None:
    error = run(qtbot, engine, "search", "error").end[1]
    assert isinstance(error, LibraryLocked)
    assert (error.message, error.advice) == ("Locked.", "Wait.")
    assert run(qtbot, engine, "search", "bug").end == ("failed", Bug("Oops", "Traceback ..."))


def test_result_of_the_wrong_shape_is_a_bug(qtbot: QtBot, engine: Engine) -> None:
    monkey = engine.call("search", "explain", {})
    engine._replied(engine._owners[1], engine_module.Reply(1, "result", {"query": 3}))
    assert monkey.done


def test_chatter_and_garbage_do_not_disturb(qtbot: QtBot, engine: Engine) -> None:
    assert run(qtbot, engine, "search", "noise").end == ("result", {"fine": True})
    assert run(qtbot, engine, "search", "garbage").end == ("result", {"fine": True})


@pytest.mark.parametrize("flags", [(), ("stubborn",)])
def test_close_leaves_no_process(
    qtbot: QtBot, tmp_path: Path, flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "CLOSE_SECONDS", (0.5, 0.5, 2.0))
    engine = Engine(str(tmp_path), fake_command(*flags))
    calls = [engine.call(role, "hang") for role in ("search", "answer", "job")]
    ears = [Ear(call) for call in calls]
    qtbot.waitUntil(lambda: all(engine.state(r) == "ready" for r in ("search", "answer")), timeout=10_000)
    pids = engine.pids()
    assert len(pids) == 3
    engine.close()
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert all(ear.end == ("cancelled", None) for ear in ears)


def test_idle_answer_role_gives_its_memory_back(qtbot: QtBot, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engine_module.IDLE_MS, "answer", 200)
    run(qtbot, engine, "answer", "echo")
    qtbot.waitUntil(lambda: engine.state("answer") == "off" and engine.pids() == [], timeout=8000)
    assert run(qtbot, engine, "answer", "echo", a=2).end[1]["a"] == 2
