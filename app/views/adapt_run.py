"""The run at work: its stages, their curves, the time that is left; pause, go on, stop."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QProgressBar, QVBoxLayout, QWidget

from app.i18n import grouped, tr
from app.tasks.adapt import AdaptWork
from app.tasks.jobs import ADAPT, Jobs
from app.tasks.remaining import remaining
from app.views import adapt_words as words
from app.views.job_panel import stage
from app.widgets.adapt_curve import CurvePlot
from app.widgets.buttons import Button
from app.widgets.card import Card, row
from app.widgets.empty_state import IconLabel
from app.widgets.labels import ElidedLabel, Label
from core.base.events import Progress

_TONES = {"queries": "series_3", "pretraining": "series_2", "first": "series_1", "second": "series_4"}
_COLUMN = 260  # least width of a curve
# what else a curve tells in words; parts of the loss are for those who look closer
_FIGURES = {"nb_recall": "recall", "recall": "recall", "rate": "rate", "learning_rate": "rate"}


class RunCard(Card):
    """Visible while a run is at work or waits to go on."""

    def __init__(self, work: AdaptWork, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent, padding=18, spacing=10)
        self._work, self._jobs = work, jobs
        self.title = Label("", "heading", wrap=True)
        self.pause = Button("", "secondary", "pause", self._pause)
        self.stop = Button(tr("Stop"), "secondary", "stop", jobs.cancel)
        head = row(self.title, self.pause, self.stop)
        head.setStretch(0, 1)
        self.body.addLayout(head)
        self.left = Label("", "muted", wrap=True)
        self.body.addWidget(self.left)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of this stage"))
        self.body.addWidget(self.bar)
        self.steps: list[Step] = []
        self._column = QVBoxLayout()
        self._column.setSpacing(4)
        self.body.addSpacing(4)
        self.body.addLayout(self._column)
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        self.body.addLayout(self._grid)
        self.plots: dict[str, CurvePlot] = {}
        self._wells: dict[str, Card] = {}
        self._losses: dict[str, Label] = {}
        self.body.addWidget(Label(tr(words.MEANWHILE), "small", wrap=True))
        work.changed.connect(self.refresh)
        work.progressed.connect(self.refresh)
        work.grown.connect(self._grow)
        self.refresh()

    def refresh(self) -> None:
        task = self._work.task
        if task is None:
            self._hand_focus_on()
        self.setVisible(task is not None)
        if task is None:
            self._clear()
            return
        at_work = self._jobs.running is not None and self._jobs.running.op == ADAPT
        paused, stopping = self._jobs.paused, self._jobs.cancelling
        self.pause.setText(tr("Go on") if paused else tr("Pause"))
        self.pause.set_icon("play" if paused else "pause")
        if stopping or not at_work:
            self._hand_focus_on()
        self.pause.setEnabled(at_work and not stopping)
        self.stop.setEnabled(at_work and not stopping)
        self._headline(str(task.args["recipe"]), at_work)
        self._list(str(task.args["recipe"]))

    def _hand_focus_on(self) -> None:
        """What has the focus is about to be hidden or disabled: the page keeps it, not whatever is next in the window,
        which would be scrolled to."""
        focus, page = self.window().focusWidget(), self.parentWidget()
        if focus is not None and page is not None and self.isAncestorOf(focus):
            page.setFocus(Qt.FocusReason.OtherFocusReason)

    def _headline(self, recipe: str, at_work: bool) -> None:
        progress = self._work.last_progress
        now = stage(progress) if progress is not None else tr("Getting ready")
        hint = _left(progress)
        if not at_work:
            now, hint = tr("Waiting"), tr("It goes on when the other work is done.")
        elif self._jobs.cancelling:
            now, hint = tr("Stopping"), tr("What was learned until now is kept.")
        elif self._jobs.paused:
            now, hint = tr("Paused"), tr("It goes on where it was.")
        self.title.setText(f"{words.recipe_title(recipe)}: {now[:1].lower()}{now[1:]}")
        self.left.setText(hint)
        if progress is None or not progress.total or not at_work:
            self.bar.setRange(0, 0 if at_work and not self._jobs.paused else 1)
        else:
            self.bar.setRange(0, progress.total)
            self.bar.setValue(progress.done)

    def _pause(self) -> None:
        (self._jobs.resume if self._jobs.paused else self._jobs.pause)()

    # stages

    def _list(self, recipe: str) -> None:
        progress = self._work.last_progress
        now = words.merged(progress.stage) if progress is not None else ""
        seen = [words.merged(stage) for stage in self._work.stages]
        names = words.shown_stages(recipe, seen)
        lines = tuple(
            (name, "now" if name == now else "done" if name in seen else "",
             _amount(progress) if progress is not None and name == now else "")
            for name in names
        )  # fmt: skip
        if tuple(step.name for step in self.steps) != tuple(names):
            self._lay_steps(names)
        for step, (_, state, amount) in zip(self.steps, lines, strict=True):
            step.show_state(state, amount)

    def _lay_steps(self, names: list[str]) -> None:
        for step in self.steps:
            self._column.removeWidget(step)
            step.hide()
            step.deleteLater()
        self.steps = [Step(name) for name in names]
        for step in self.steps:
            self._column.addWidget(step)

    # curves

    def _grow(self, stage: str) -> None:
        if stage not in self.plots:
            self._add_plot(stage)
        points = self._work.curves[stage]
        self.plots[stage].show_points(points)
        figures = points[-1].figures
        known = [f"{tr(_FIGURES[name])} {value:.3g}" for name, value in figures.items() if name in _FIGURES]
        self._losses[stage].setText(" · ".join([tr("loss {n}", n=self.plots[stage].last()), *known]))
        self._losses[stage].setToolTip(" · ".join(f"{name} {value:.3g}" for name, value in figures.items()))

    def _add_plot(self, stage: str) -> None:
        title = words.stage_title(stage)
        plot = CurvePlot(title, _TONES.get(stage, "series_5"))
        well = Card(role="well", padding=12, spacing=4)
        self._losses[stage] = Label("", "small", wrap=True)
        well.body.addWidget(ElidedLabel(title, "strong", mode=Qt.TextElideMode.ElideRight))
        well.body.addWidget(self._losses[stage])
        well.body.addWidget(plot)
        self.plots[stage], self._wells[stage] = plot, well
        self._arrange()

    def _arrange(self) -> None:
        """As many curves beside one another as the width takes."""
        wide = _COLUMN * max(1.0, self.fontMetrics().height() / 19)
        columns = max(1, min(len(self._wells), int((self.width() - 36) // wide)))
        for well in self._wells.values():
            self._grid.removeWidget(well)
        for at in range(3):
            self._grid.setColumnStretch(at, 1 if at < columns else 0)
        for at, well in enumerate(self._wells.values()):
            self._grid.addWidget(well, at // columns, at % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _clear(self) -> None:
        for well in self._wells.values():
            self._grid.removeWidget(well)
            well.hide()
            well.deleteLater()
        self.plots, self._wells, self._losses = {}, {}, {}


def _left(progress: Progress | None) -> str:
    """How long the step at work still takes."""
    if progress is not None and (not progress.total or progress.stage == "judging"):
        return tr("This step takes a moment.")
    left = remaining(progress.seconds_left) if progress is not None else ""
    return tr("This step: {left}", left=left) if left else tr("The time that is left is known soon.")


def _amount(progress: Progress) -> str:
    if not progress.total:
        return progress.detail
    return tr("{n} of {m}", n=grouped(progress.done), m=grouped(progress.total))


class Step(QWidget):
    """A stage in the list: done, at work (`now`), or to come."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self._title = words.stage_title(name)
        self._state = "new"
        self.sign = IconLabel("more", "outline", 16)
        self.label = Label(self._title, "muted")
        self.amount = Label("", "small")
        self.setLayout(row(self.sign, self.label, 8, self.amount, None))

    def show_state(self, state: str, amount: str) -> None:
        self.amount.setText(amount)
        if state == self._state:
            return
        self._state = state
        self.sign.set_look(*{"done": ("check", "success"), "now": ("play", "accent")}.get(state, ("more", "outline")))
        self.label.setProperty("role", {"now": "strong", "done": "body"}.get(state, "muted"))
        self.label.style().unpolish(self.label)
        self.label.style().polish(self.label)
        spoken = {"done": tr("done"), "now": tr("now")}.get(state, tr("to come"))
        self.setAccessibleName(f"{self._title}: {spoken}")
