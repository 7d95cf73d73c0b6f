"""The Adapt page: search learns from the documents, is put to the test, and gets better or stays as it is."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.context import Context, Place
from app.i18n import tr
from app.models.adapt_entries import Moved, Run
from app.tasks.adapt import AdaptWork
from app.views import adapt_words as words
from app.views.adapt_history import RunHistory
from app.views.adapt_now import Now
from app.views.adapt_recipes import RecipeChoice
from app.views.adapt_run import RunCard
from app.views.adapt_said import SaidCard
from app.views.adapt_verdict import VerdictCard
from app.views.dialogs import confirm
from app.views.judge_view import JudgeView
from app.widgets.banner import Banner
from app.widgets.buttons import Button
from app.widgets.card import Scroller, row
from app.widgets.empty_state import EmptyState
from app.widgets.hit_model import name_of
from app.widgets.labels import Label
from app.widgets.page import Page
from core.base.errors import NotFound
from core.base.types import Span

WIDEST = 920
_BACK = (
    "Search uses its old model and index again, at once; nothing else changes. To have it again, let it learn again."
)


class AdaptPage(Page):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.work = AdaptWork(context.engine, context.jobs, self)
        self._build()
        self.work.changed.connect(self.refresh)
        self.work.ended.connect(self._ended)
        self.work.broke.connect(self._broke)
        self.work.failed.connect(self.banner.show_error)
        context.engine.changed.connect(lambda _: self._library_changed())
        self.refresh()

    # layout

    def _build(self) -> None:
        self.stack = QStackedWidget()
        self.judge = JudgeView(self.context)
        self.judge.left.connect(self._back_from_judging)
        add = Button(tr("Add documents"), "primary", "folder-add", lambda: self.context.navigate("library", None))
        self.empty = EmptyState("sparkle", tr("Nothing to learn from yet"), tr(
            "Add a folder first. Then search can learn the words and questions of your documents, on this computer."
        ), (add,))  # fmt: skip
        for page in (self._main(), self.empty, self.judge):
            self.stack.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 22, 16, 0)
        column.addWidget(self.stack)

    def _main(self) -> QWidget:
        self.judge_button = Button(tr("Judge questions"), "secondary", "check", self.show_judging)
        head = row(Label(tr("Adapt"), "title"), None, self.judge_button)
        self.banner = Banner()
        self.now = Now(self._ask_back, self._go_on)
        self.run = RunCard(self.work, self.context.jobs)
        self.verdict = VerdictCard()
        self.verdict.opened.connect(self._open)
        self.verdict.back.connect(self._ask_back)
        self.verdict.judge.connect(self.show_judging)
        self.choice = RecipeChoice(self.context.engine)
        self.choice.begun.connect(self._begin)
        self.said = SaidCard(self.context)
        self.judge.kept.connect(self.said.refresh)
        self.history = RunHistory()
        self.history.chosen.connect(self._show_run)
        inner = QWidget()
        inner.setMaximumWidth(WIDEST)
        column = QVBoxLayout(inner)
        column.setContentsMargins(2, 2, 12, 24)
        column.setSpacing(14)
        column.addLayout(head)
        column.addWidget(Label(tr("Search learns the words of your documents, and what answers your questions."),
                               "muted", wrap=True))  # fmt: skip
        for part in (self.banner, self.now, self.run, self.verdict, self.choice, self.said, self.history):
            column.addWidget(part)
        column.addStretch(1)
        self.scroller = Scroller()
        line = row(None, inner, None)
        line.setStretch(1, 40)
        self.scroller.body.addLayout(line)
        return self.scroller

    # what the window asks of a page

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    def escape(self) -> bool:
        if self.stack.currentWidget() is self.judge:
            self.judge.leave()
            return True
        if not self.verdict.isHidden():
            self.verdict.hide()
            return True
        return False

    @property
    def has_open(self) -> bool:
        return self.stack.currentWidget() is self.judge

    def close_page(self) -> None:
        self.judge.judging.stop()

    # what is shown

    def _look(self) -> None:
        """Ask for what is not known yet, while the page is seen."""
        self.said.refresh()
        if self.isVisible() and self.context.library.passage_count():
            self.work.refresh(estimates=True)

    def _library_changed(self) -> None:
        self.work.forget_estimates()
        if self.isVisible():
            self._look()
        self.refresh()

    def refresh(self) -> None:
        if self.stack.currentWidget() is not self.judge:
            filled = self.context.library.passage_count() > 0
            self.stack.setCurrentWidget(self.scroller if filled else self.empty)
        work, running = self.work, self.context.jobs.running
        self.choice.setVisible(work.task is None)
        self.choice.show_estimates(work.estimates, work.estimating, self._hindrance())
        self.now.show_state(
            work.in_use, work.unfinished, known=work.history is not None, free=running is None, elsewhere=work.elsewhere
        )
        self.history.show_runs(work.past)
        if self.isVisible() and running is None:
            work.try_next()
        self._renew_verdict()

    def _hindrance(self) -> str:
        """Why nothing can be begun just now; empty when it can."""
        if self.work.elsewhere is not None:
            return tr("Another window is at it. You can begin when it is done.")
        busy = self.context.jobs.running is not None and self.work.task is None
        return tr("Other work goes on just now. You can begin when it is done.") if busy else ""

    def _renew_verdict(self) -> None:
        """A run that is shown may have been taken back meanwhile; what has just ended gets its number."""
        shown = self.verdict.run
        if self.verdict.isHidden() or shown is None or not self.work.history:
            return
        same = next((run for run in self.work.history if _same(run, shown)), None)
        if same is not None and same != shown and same.gate is not None:
            self.verdict.show_run(same, self._names(same))

    def _ended(self, run: Run) -> None:
        """Told in a message where the person is elsewhere."""
        self._show_run(run)
        if not self.isVisible():
            title, _, tone = words.outcome(run)
            told = tr("Adapting is done. {outcome}.", outcome=title)
            self.context.notifications.tell(
                told, tone=tone, action=tr("Look"), on_action=lambda: self.context.navigate("adapt", None)
            )

    def _broke(self, error: Any) -> None:
        self.banner.show_error(error)
        if not self.isVisible():
            self.context.notifications.error(error)

    def _show_run(self, run: Run) -> None:
        self.verdict.show_run(run, self._names(run))
        QTimer.singleShot(0, self, self._scroll_to_verdict)

    def _scroll_to_verdict(self) -> None:
        """Its first line at the top: it may be higher than the window."""
        top = self.verdict.mapTo(self.scroller.widget(), QPoint(0, 0)).y()
        self.scroller.verticalScrollBar().setValue(max(0, top - 8))

    def _names(self, run: Run) -> dict[int, str]:
        """What the documents of a run's examples are called; those that are gone are left out."""
        found: dict[int, str] = {}
        moved = (*run.gate.up, *run.gate.down) if run.gate is not None else ()
        for one in moved:
            if one.document is None:
                continue
            try:
                found[one.document] = name_of(self.context.library.document(one.document))
            except NotFound:
                continue
        return found

    # what the person does

    def _begin(self, recipe: str, minutes: int | None, changes: dict[str, Any]) -> None:
        self.banner.hide()
        self.verdict.hide()
        self.work.begin(recipe, minutes, changes)
        self._show_run_card()

    def _go_on(self, run: Run) -> None:
        self.work.begin(run.recipe, run.minutes)
        self._show_run_card()

    def _show_run_card(self) -> None:
        """The button that was pressed is gone: the focus goes to what can be pressed now."""
        self.run.pause.setFocus(Qt.FocusReason.OtherFocusReason)
        QTimer.singleShot(0, self, lambda: self.scroller.verticalScrollBar().setValue(0))

    def _ask_back(self, run: Run) -> None:
        confirm(self, tr("Take it back?"), tr(_BACK), tr("Take it back"), lambda: self.work.take_back(run),
                keep=tr("Cancel"), sign="history")  # fmt: skip

    def show_judging(self) -> None:
        self.stack.setCurrentWidget(self.judge)
        self.judge.begin()

    def _back_from_judging(self) -> None:
        self.stack.setCurrentWidget(self.scroller)
        self.judge_button.setFocus(Qt.FocusReason.OtherFocusReason)
        self.refresh()

    def _open(self, moved: Moved) -> None:
        """The passage where it stands; its document where the passage is no longer there."""
        try:
            passage = self.context.library.passage(moved.passage) if moved.passage is not None else None
        except NotFound:
            passage = None
        if passage is not None:
            span = (Span(passage.start, passage.end),)
            self.context.navigate("document", Place(passage.document_id, passage.first_page, span))
        elif moved.document is not None:
            self.context.navigate("document", Place(moved.document))


def _same(run: Run, shown: Run) -> bool:
    """`shown` may come from the end of a run, which knows no number."""
    if shown.number:
        return run.number == shown.number
    return (
        run.recipe == shown.recipe
        and run.generation == shown.generation
        and run.gate is not None
        and (shown.gate is not None and run.gate.delta == shown.gate.delta)
    )
