"""The queue of work that writes, over real child processes."""

from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.engine.engine import Engine
from app.errors import Message, Notifications
from app.tasks.jobs import Jobs
from app.tasks.remaining import duration, remaining
from app.views.job_messages import JobMessages, ingest_message
from core.base.types import DocumentState, FileFailure, IngestReport


@pytest.fixture
def jobs(engine: Engine) -> Jobs:
    return Jobs(engine, engine)


@pytest.fixture
def ends(jobs: Jobs) -> list[tuple[str, str, Any]]:
    heard: list[tuple[str, str, Any]] = []
    jobs.done.connect(lambda task, value: heard.append(("done", task.op, value)))
    jobs.failed.connect(lambda task, error: heard.append(("failed", task.op, error)))
    jobs.cancelled.connect(lambda task: heard.append(("cancelled", task.op, None)))
    return heard


def test_one_after_the_other_and_waiting_ingests_become_one(
    qtbot: QtBot, jobs: Jobs, engine: Engine, ends: list
) -> None:
    jobs.demo()
    jobs.ingest(["/a"])
    jobs.ingest(["/b", "/a"])
    assert jobs.running.op == "demo"
    assert jobs.waiting == 1
    most = [0]
    jobs.progress.connect(lambda _: most.__setitem__(0, max(most[0], engine.in_flight("job"))))
    qtbot.waitUntil(lambda: len(ends) == 2, timeout=20_000)
    assert [(kind, op) for kind, op, _ in ends] == [("done", "demo"), ("done", "ingest")]
    assert most == [1]


def test_what_is_added_goes_before_the_rest_of_what_runs(qtbot: QtBot, jobs: Jobs, ends: list) -> None:
    jobs.ingest(["/long"], retry=True)
    with qtbot.waitSignal(jobs.progress, timeout=10_000):
        pass
    jobs.ingest(["/new"])
    jobs.ingest(["/newer"])
    begun = []
    jobs.changed.connect(lambda: begun.append(jobs.running.args["paths"] if jobs.running else None))
    qtbot.waitUntil(lambda: ["/new", "/newer", "/long"] in begun, timeout=10_000)
    assert jobs.running.args["retry"] is True
    assert ends == []
    qtbot.waitUntil(lambda: jobs.running is None, timeout=20_000)
    assert [(kind, op) for kind, op, _ in ends] == [("done", "ingest")]


def test_removing_does_not_wait(qtbot: QtBot, jobs: Jobs, ends: list) -> None:
    jobs.ingest(["/long"])
    with qtbot.waitSignal(jobs.progress, timeout=10_000):
        pass
    jobs.remove(["/c"])
    qtbot.waitUntil(lambda: bool(ends), timeout=10_000)
    assert ends == [("done", "remove", {"documents": 1, "passages": 3, "path": "/c"})]
    assert jobs.running.op == "ingest"
    assert not jobs.cancelling
    jobs.cancel()
    qtbot.waitUntil(lambda: jobs.running is None, timeout=10_000)


def test_what_is_removed_is_not_added_by_what_waits(qtbot: QtBot, jobs: Jobs, ends: list) -> None:
    jobs.demo()
    jobs.ingest(["/c"])
    jobs.remove(["/c"])
    assert (jobs.waiting, jobs.removing) == (0, 1)
    qtbot.waitUntil(lambda: jobs.running is None, timeout=10_000)
    assert sorted(op for _, op, _ in ends) == ["demo", "remove"]


def test_looking_again_is_not_merged_into_adding(jobs: Jobs) -> None:
    jobs.demo()
    jobs.ingest(["/a"])
    jobs.ingest([])
    jobs.ingest([], retry=True)
    assert jobs.waiting == 3
    jobs.cancel()


def test_cancel_stops_what_runs_and_drops_what_waits(qtbot: QtBot, jobs: Jobs, ends: list) -> None:
    jobs.ingest(["/long"])
    jobs.demo()
    with qtbot.waitSignal(jobs.progress, timeout=10_000):
        pass
    jobs.cancel()
    assert jobs.cancelling
    qtbot.waitUntil(lambda: jobs.running is None, timeout=10_000)
    assert ends == [("cancelled", "ingest", None)]


def test_pause_and_resume(qtbot: QtBot, jobs: Jobs, ends: list) -> None:
    jobs.ingest(["/long"])
    with qtbot.waitSignal(jobs.progress, timeout=10_000):
        pass
    jobs.pause()
    assert jobs.paused
    qtbot.wait(300)
    done = jobs.last_progress.done
    qtbot.wait(300)
    assert jobs.last_progress.done == done
    jobs.resume()
    qtbot.waitUntil(lambda: bool(ends), timeout=10_000)
    assert ends[0][0] == "done"


def test_failure_does_not_stop_the_queue(qtbot: QtBot, jobs: Jobs, ends: list) -> None:
    from app.tasks.jobs import Task

    jobs.add(Task("leave"))
    jobs.demo()
    qtbot.waitUntil(lambda: len(ends) == 2, timeout=20_000)
    assert [(kind, op) for kind, op, _ in ends] == [("failed", "leave"), ("done", "demo")]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, ""), (-1, ""), (4, "a few seconds left"), (33, "about 30 seconds left"), (150, "about 2 minutes left"),
     (60 * 33, "about 35 minutes left"), (3600 * 3, "about 3 hours left")],
)  # fmt: skip
def test_remaining_time_is_only_as_exact_as_it_is_known(seconds: float | None, words: str) -> None:
    assert remaining(seconds) == words


def test_duration_and_report_in_words() -> None:
    assert [duration(s) for s in (0.34, 42.4, 125)] == ["0.3 s", "42 s", "2 min 5 s"]
    failure = FileFailure("/a", DocumentState.BROKEN, "")
    message = ingest_message(IngestReport(20, 40, 0, 1, (failure,), 1.0, read=12), 3.0)
    assert message.text == "12 files were read, 1 is gone, 1 file could not be read in 3.0 s."
    assert message.tone == "warning"
    assert ingest_message(IngestReport(20, 0, 5, 0, (), 1.0), 1.0).text == "Everything is up to date."


def test_files_removed_together_are_told_of_and_undone_together(qtbot: QtBot, jobs: Jobs) -> None:
    told: list[Message] = []
    notifications = Notifications()
    notifications.shown.connect(told.append)
    JobMessages(jobs, notifications, jobs)
    jobs.remove(["/c", "/d"])
    qtbot.waitUntil(lambda: jobs.running is None, timeout=20_000)
    assert [message.text for message in told] == ["2 documents were removed."]
    assert told[0].on_action is not None
    told[0].on_action()
    assert jobs.running.args["paths"] == ["/c", "/d"]
    jobs.cancel()
    qtbot.waitUntil(lambda: jobs.running is None, timeout=20_000)
