"""The Adapt page over the fake role: estimates, the run with its curves, verdict, history, and judging by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fake_adapt
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.context import Place
from app.errors import Message
from app.models.adapt_entries import Estimate, runs
from app.tasks.adapt import AdaptWork
from app.tasks.jobs import Jobs, Task
from app.theme import Theme
from app.views import adapt_words as words
from app.views.adapt_history import RunHistory
from app.views.adapt_page import AdaptPage
from app.views.main_window import MainWindow
from app.widgets.buttons import Button
from app.widgets.line_button import LineButton
from core.base.events import Progress
from core.library import Library
from core.worker.protocol import JOB

WAIT = 30_000


def shown_words(inside: QWidget) -> str:
    return "\n".join(label.text() for label in inside.findChildren(QLabel) if label.isVisibleTo(inside))


def run_to_its_end(page: AdaptPage, qtbot: QtBot) -> None:
    page.choice.start.click()
    qtbot.waitUntil(lambda: not page.verdict.isHidden() or not page.banner.isHidden(), timeout=WAIT)


def test_recipes_tell_what_they_take_and_what_will_happen(open_page: Callable[..., AdaptPage], qtbot: QtBot) -> None:
    page = open_page(tried=True)
    told = shown_words(page.choice)
    for part in ("about 5 to 9 minutes", "about 25 to 40 minutes", "about 2 to 4 hours", "1.2 GB of memory", "310 MB"):
        assert part in told
    assert "beyond doubt" in told
    assert page.choice.cards["quick"].isChecked()
    assert "Questions are made" in told
    assert "In two rounds" not in told
    page.choice.cards["standard"].click()
    qtbot.waitUntil(lambda: "In two rounds" in shown_words(page.choice), timeout=WAIT)
    assert page.choice.start.isEnabled()
    assert page.choice.cards["quick"].accessibleName() == "Quick: about 5 to 9 minutes"


def test_a_run_shows_its_stages_and_curves_then_the_verdict(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, window: MainWindow
) -> None:
    page = open_page()
    page.choice.cards["standard"].click()
    page.choice.start.click()
    assert page.run.isVisible()
    assert not page.choice.isVisible()
    qtbot.waitUntil(lambda: {"pretraining", "first"} <= set(page.run.plots), timeout=WAIT)
    assert [step.name for step in page.run.steps] == words.shown_stages("standard", [])
    assert page.run.steps[0].accessibleName() == "Questions from your documents: done"
    assert "loss from" in page.run.plots["pretraining"].accessibleName()
    assert window.nav.job.isVisible()
    window.navigate("library", None)
    assert window.page("library").jobs_panel.isVisible()
    window.navigate("adapt", None)
    qtbot.waitUntil(lambda: not page.verdict.isHidden(), timeout=WAIT)
    told = shown_words(page.verdict)
    for part in ("Search is better, and uses it now", "+3.4", "412", "14 → 1", "beyond 100 → 3", "annual-report-2023"):
        assert part in told
    assert page.choice.isVisible()
    assert not page.run.isVisible()
    assert not page.run.plots


def test_a_run_that_ends_while_the_person_is_elsewhere_is_told(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, window: MainWindow, told: list[Message]
) -> None:
    page = open_page("refused")
    page.choice.start.click()
    window.navigate("library", None)
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT)
    assert told[0].text == "Adapting is done. Not used, nothing was changed."
    assert told[0].on_action is not None
    told[0].on_action()
    assert page.verdict.isVisible()


@pytest.mark.parametrize(
    ("kind", "title", "help"),
    [
        ("refused", "It does not find more of the held-out questions' passages beyond doubt.", "little to gain"),
        ("undecided", "Only 31 held-out questions, and 50 are needed.", "Judge questions by hand"),
    ],
)
def test_what_is_not_used_says_why_and_what_would_help(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, kind: str, title: str, help: str
) -> None:
    page = open_page(kind)
    run_to_its_end(page, qtbot)
    told = shown_words(page.verdict)
    assert title in told
    assert help in told
    assert "Refused" not in told
    assert not any(b.text().startswith("Take it back") for b in page.verdict.findChildren(Button))
    assert page.verdict.more is not None
    assert page.verdict.more.text() == "All checks: 5 of 6 passed"
    page.verdict.more.click()
    assert "Still knows language in general" in shown_words(page.verdict)


def test_a_run_that_fails_says_so_in_its_place(open_page: Callable[..., AdaptPage], qtbot: QtBot, told: list) -> None:
    page = open_page("failed")
    run_to_its_end(page, qtbot)
    assert page.banner.text() == "The disk is full: a checkpoint could not be written."
    assert page.choice.isVisible()
    assert not told


def test_pause_go_on_and_stop(open_page: Callable[..., AdaptPage], qtbot: QtBot, window: MainWindow) -> None:
    page = open_page()
    page.choice.start.click()
    qtbot.waitUntil(lambda: page.work.last_progress is not None, timeout=WAIT)
    assert window.context is not None
    jobs = window.context.jobs
    page.run.pause.click()
    assert jobs.paused
    assert "paused" in page.run.title.text()
    page.run.pause.click()
    assert not jobs.paused
    page.run.stop.click()
    qtbot.waitUntil(lambda: jobs.running is None, timeout=WAIT)
    assert page.choice.isVisible()
    assert page.verdict.isHidden()


def test_a_stopped_run_goes_on_with_its_recipe(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, window: MainWindow
) -> None:
    page = open_page("stopped")
    assert "stopped before its test" in shown_words(page.now)
    page.now.go_on.click()
    assert page.work.task is not None
    assert page.work.task.args == {"recipe": "standard", "minutes": None, "changes": None}
    assert page.work.unfinished is None
    assert window.context is not None
    window.context.jobs.cancel()


def test_a_run_of_another_window_is_told_and_waited_for(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ADAPT", "elsewhere")
    monkeypatch.setattr("app.tasks.adapt.ELSEWHERE_MS", 300)
    window.navigate("adapt", None)
    page = window.page("adapt")
    qtbot.waitUntil(lambda: page.work.elsewhere is not None, timeout=WAIT)
    assert "Standard is at work in another window" in shown_words(page.now)
    assert not page.now.go_on.isVisible()
    assert not page.choice.start.isEnabled()
    assert len(page.history.lines) == 2  # the one at work is no earlier run
    assert not page.work.estimating  # it would measure the other run
    monkeypatch.setenv("FAKE_ADAPT", "stopped")
    qtbot.waitUntil(lambda: page.now.go_on.isVisible(), timeout=WAIT)
    assert page.choice.start.isEnabled()


def test_the_focus_stays_on_the_page_when_a_run_begins_and_ends(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, window: MainWindow
) -> None:
    page = open_page()
    page.choice.start.setFocus()
    page.choice.start.click()
    assert window.focusWidget() is page.run.pause
    qtbot.waitUntil(lambda: page.work.last_progress is not None, timeout=WAIT)
    page.run.stop.setFocus()
    page.run.stop.click()
    assert window.focusWidget() is page.run.parentWidget()
    qtbot.waitUntil(lambda: page.run.isHidden(), timeout=WAIT)
    assert window.focusWidget() is page.run.parentWidget()


def test_what_is_in_use_is_told_and_can_be_taken_back(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, window: MainWindow, told: list[Message]
) -> None:
    page = open_page("used")
    assert "In use now: what was learned on" in shown_words(page.now)
    page.now.back.click()
    ask = next(d for d in page.findChildren(QDialog) if d.isVisible())
    next(b for b in ask.findChildren(Button) if b.text() == "Take it back").click()
    assert page.work.task is None
    assert window.context is not None
    assert window.context.jobs.running is not None
    assert (window.context.jobs.running.op, window.context.jobs.running.args) == ("rollback", {"to": 4})
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT)
    assert told[0].text == "The library uses its old index again."


def test_too_few_documents_or_other_work_leave_nothing_to_begin(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("few")
    assert not page.choice.start.isEnabled()
    assert "200 are needed" in page.choice.hint.text()
    monkeypatch.setattr(AdaptWork, "try_next", lambda _: None)
    page.work.estimates = {"quick": Estimate("quick", (60, 120))}
    page.refresh()
    assert page.choice.start.isEnabled()
    assert window.context is not None
    window.context.jobs.ingest(["/long"])
    assert not page.choice.start.isEnabled()
    assert "Other work" in page.choice.hint.text()
    window.context.jobs.cancel()
    qtbot.waitUntil(lambda: page.choice.start.isEnabled(), timeout=WAIT)


def test_a_trial_that_fails_is_told_and_not_made_again_and_again(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ADAPT", "broken")
    asked: list[str] = []
    assert window.context is not None
    ask = window.context.engine.call
    monkeypatch.setattr(window.context.engine, "call", lambda *a: [asked.append(a[1]), ask(*a)][1])
    window.navigate("adapt", None)
    page = window.page("adapt")
    qtbot.waitUntil(lambda: page.banner.isVisible() and asked.count("adapt_estimate") == 3, timeout=WAIT)
    qtbot.waitUntil(lambda: not page.work.estimating, timeout=WAIT)
    page.refresh()
    qtbot.wait(300)
    assert asked.count("adapt_estimate") == 3
    assert page.choice.start.isEnabled()


def test_an_empty_library_says_what_to_do(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Library, "passage_count", lambda _: 0)
    window.navigate("adapt", None)
    page = window.page("adapt")
    assert page.empty.isVisible()
    assert page.work.history is None  # nothing was asked


def test_earlier_runs_are_listed_and_shown_again(open_page: Callable[..., AdaptPage], qtbot: QtBot) -> None:
    page = open_page("used")
    names = [line.accessibleName() for line in page.history.lines]
    assert [name.split(",")[0] for name in names] == ["Standard", "Standard", "Quick"]
    assert names[0].endswith("In use, +3.4 points")
    page.history.lines[2].click()
    assert "It cannot be told" in shown_words(page.verdict)
    assert page.escape()
    assert page.verdict.isHidden()


def test_an_example_opens_its_document(open_page: Callable[..., AdaptPage], window: MainWindow) -> None:
    page = open_page("used")
    page.history.lines[0].click()
    examples = [b for b in page.verdict.findChildren(LineButton) if b.isVisible()]
    assert len(examples) == 4
    visits: list[Any] = []
    object.__setattr__(page.context, "navigate", lambda key, target: visits.append((key, target)))
    examples[0].click()
    assert visits == [("document", Place(1))]


def test_a_step_whose_end_is_not_known_says_so(window: MainWindow, open_page: Callable[..., AdaptPage]) -> None:
    page = open_page()
    assert window.context is not None
    jobs = window.context.jobs
    jobs._task = Task("adapt", {"recipe": "quick", "minutes": None})
    told = []
    for progress in (
        Progress("questions", 0, 0),
        Progress("mining", 3, 90),
        Progress("mining", 30, 90, seconds_left=41),
    ):
        jobs._progressed(progress)
        told.append(page.run.left.text())
    jobs._task = None
    assert told == [
        "This step takes a moment.", "The time that is left is known soon.", "This step: about 40 seconds left",
    ]  # fmt: skip


def test_a_gain_that_search_does_not_show_is_told_as_such(qtbot: QtBot, theme: Theme) -> None:
    data = fake_adapt.gate("accepted") | {"accepted": False, "reason": "Refused: together with the words."}
    for one in data["checks"]:
        one["passed"] = one["name"] != "fused"
    row = {"number": 1, "recipe": "quick", "started": "", "state": "refused", "gate": data}
    title, text, _ = words.outcome(runs([row])[0])
    assert title == "Not used, nothing was changed"
    assert text.startswith("By meaning alone it finds more, but together with the words")
    listed = RunHistory()
    qtbot.addWidget(listed)
    listed.show_runs(runs([row]))
    assert listed.lines[0].accessibleName().endswith("+1.5 points as search ranks")


def test_the_wheel_scrolls_the_page_and_leaves_the_limit_as_it_is(
    open_page: Callable[..., AdaptPage], window: MainWindow
) -> None:
    limit = open_page().choice.limit
    at = QPointF(limit.rect().center())
    turned = QWheelEvent(
        at, limit.mapToGlobal(at), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(limit, turned)
    assert limit.currentData() is None


# giving way


def test_adapting_gives_way_to_what_the_person_asks_and_goes_on_after(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, window: MainWindow, told: list[Message]
) -> None:
    page = open_page()
    assert window.context is not None
    jobs = window.context.jobs
    ran: list[str] = []
    jobs.changed.connect(lambda: ran.append(jobs.running.op) if jobs.running and ran[-1:] != [jobs.running.op] else 0)
    page.choice.start.click()
    qtbot.waitUntil(lambda: page.work.last_progress is not None, timeout=WAIT)
    jobs.pause()
    jobs.ingest(["/x"], quiet=True)
    assert not jobs.cancelling  # what nobody asked for waits
    jobs.ingest(["/x"])
    qtbot.waitUntil(lambda: ran[-2:] == ["ingest", "adapt"], timeout=WAIT)
    assert page.run.isVisible()
    assert jobs.paused  # as it was
    assert not any("Stopped" in one.text for one in told)
    jobs.cancel()
    qtbot.waitUntil(lambda: jobs.running is None, timeout=WAIT)


def test_the_switch_of_the_library_is_not_broken_off(qtbot: QtBot, engine: Any) -> None:
    jobs, heard = Jobs(engine, engine), []
    call = engine.call(JOB, "env")  # stands for any call
    call.cancelled.connect(lambda: heard.append("cancelled"))
    jobs._task, jobs._call, jobs.last_progress = Task("adapt"), call, Progress("encoding", 1, 2)
    jobs.ingest(["/x"])
    assert not call.cancelling
    jobs.last_progress = Progress("first", 1, 2)
    jobs.ingest(["/y"])
    qtbot.waitUntil(lambda: heard == ["cancelled"], timeout=WAIT)
