"""The runs until now, the newest first: recipe, when, how it ended, what it gained. A click shows one again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.i18n import tr
from app.models.adapt_entries import RUNNING, STOPPED, Run
from app.tasks.remaining import duration
from app.views import adapt_words as words
from app.widgets.adapt_bars import gain
from app.widgets.card import Card, row
from app.widgets.labels import Badge, ElidedLabel, Label
from app.widgets.line_button import LineButton

_LISTED = 20


class RunHistory(Card):
    """`chosen(Run)` on a click. Hidden while there is none."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, padding=18, spacing=6)
        self.body.addWidget(Label(tr("Earlier runs"), "heading"))
        self._column = QVBoxLayout()
        self._column.setSpacing(2)
        self.body.addLayout(self._column)
        self._shown: tuple[Run, ...] | None = None
        self.lines: list[LineButton] = []
        self.hide()

    def show_runs(self, runs: Sequence[Run]) -> None:
        shown = tuple(runs[:_LISTED])
        if shown == self._shown:
            return
        self._shown = shown
        for line in self.lines:
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
        self.lines = [self._line(run) for run in shown]
        for line in self.lines:
            self._column.addWidget(line)
        self.setVisible(bool(shown))

    def _line(self, run: Run) -> LineButton:
        state, tone = words.STATES.get(run.state, (run.state, "neutral"))
        title, when = words.recipe_title(run.recipe), words.when(run.started)
        points = _points(run)
        took = duration(run.seconds) if run.seconds else ""
        name = ", ".join(part for part in (title, when, tr(state), points) if part)
        line = LineButton(name, lambda: self.chosen.emit(run))
        own = tr("own settings") if run.changes else ""
        about = ElidedLabel(" · ".join(part for part in (when, took, points, own) if part), "small")
        inner = row(Label(title, "strong"), about, Badge(tr(state), tone), spacing=12)
        inner.setStretch(1, 1)
        line.fill(inner)
        line.setEnabled(run.gate is not None or run.state not in (RUNNING, STOPPED))
        return line


def _points(run: Run) -> str:
    """What is used of it gained; else what it would have: as search ranks, where that spoke against it."""
    gate = run.gate
    if gained := words.gained(run):
        return gained
    if gate is None or not gate.queries:
        return ""
    if gate.failed == "fused":
        return tr("{gain} points as search ranks", gain=gain(gate.fused_after - gate.fused_before))
    return tr("{gain} points", gain=gain(gate.delta))
