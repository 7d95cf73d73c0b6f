"""How a run ended: before and after with what is sure, questions that moved, every check, and what would help."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from app.i18n import tr
from app.models.adapt_entries import ACCEPTED, Check, Moved, Run, Verdict
from app.views import adapt_words as words
from app.widgets.adapt_bars import GainLine, Pair, PairBars, gain
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Card, Rule, row
from app.widgets.empty_state import IconLabel
from app.widgets.labels import Badge, ElidedLabel, Label
from app.widgets.line_button import LineButton

_LISTED = 5  # questions that are told in each direction
_NARROW = 560
_SIGNS = {"success": ("check", "success"), "info": ("info", "accent_text"), "warning": ("warning", "warning")}


class VerdictCard(Card):
    """`opened(Moved)`: a question's passage is to be read. `back(Run)`: take the run back. `judge()`: judge questions.
    `closed()`: enough read."""

    opened = Signal(object)
    back = Signal(object)
    judge = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, padding=18, spacing=12)
        self.run: Run | None = None
        self._names: dict[int, str] = {}
        self._inner: QWidget | None = None
        self._sides: QBoxLayout | None = None
        self.more: Button | None = None
        self.checks = QWidget()
        self.hide()

    def show_run(self, run: Run, names: dict[int, str]) -> None:
        """`names` gives what the documents of its questions are called, by their ids."""
        self.run, self._names, self._sides, self.more = run, names, None, None
        if self._inner is not None:
            self.body.removeWidget(self._inner)
            self._inner.hide()
            self._inner.deleteLater()
        self._inner = QWidget()
        column = QVBoxLayout(self._inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self._head(column, run)
        if run.gate is not None and run.gate.queries:
            self._measures(column, run.gate)
            self._beside(column, run)
            self._moved(column, run.gate)
            self._checks(column, run.gate)
        self.body.addWidget(self._inner)
        self._turn()
        self.show()

    def _head(self, column: QVBoxLayout, run: Run) -> None:
        title, text, tone = words.outcome(run)
        self.setAccessibleName(f"{title}. {text}")
        sign = IconLabel(*_SIGNS[tone], 22)
        label = Label(title, "heading", wrap=True)
        state, badge_tone = words.STATES.get(run.state, (run.state, "neutral"))
        close = IconButton("close", tr("Close"), self._close)
        head = row(sign, label, Badge(tr(state), badge_tone), close)
        head.setStretch(1, 1)
        column.addLayout(head)
        about = " · ".join(part for part in (words.recipe_title(run.recipe), words.when(run.started)) if part)
        column.addWidget(Label(about, "small"))
        column.addWidget(Label(text, wrap=True))
        self._help(column, run)

    def _help(self, column: QVBoxLayout, run: Run) -> None:
        buttons: list[QWidget | None] = []
        if run.state == ACCEPTED and run.previous:
            back = Button(tr("Take it back…"), "secondary", "history", lambda: self.back.emit(run))
            back.setToolTip(tr("Search is as it was before, at once."))
            buttons.append(back)
        if advice := words.advice(run):
            column.addWidget(Label(advice, "muted", wrap=True))
            buttons.append(Button(tr("Judge questions"), "secondary", "check", self.judge.emit))
        if buttons:
            column.addLayout(row(*buttons, None))

    def _close(self) -> None:
        self.hide()
        self.closed.emit()

    # figures

    def _measures(self, column: QVBoxLayout, gate: Verdict) -> None:
        sure = tr("With 95 % certainty the difference by meaning is between {low} and {high} points.",
                  low=gain(gate.low), high=gain(gate.high))  # fmt: skip
        for pair, words_of_gain in (
            (Pair(tr("By meaning"), gate.before, gate.after, gate.before + gate.low, gate.before + gate.high),
             gain(gate.delta)),
            (Pair(tr("Together with the words, as search ranks"), gate.fused_before, gate.fused_after),
             gain(gate.fused_after - gate.fused_before)),
        ):  # fmt: skip
            head = row(Label(pair.label, "strong", wrap=True), Label(words_of_gain, "strong"))
            head.setStretch(0, 1)
            column.addLayout(head)
            column.addWidget(PairBars(pair))
            if pair.low is not None:
                column.addWidget(GainLine(gate.delta, gate.low, gate.high))
        said = tr("How high the right passage stands, from 0 to 100 (nDCG@10), on {n} questions kept aside.",
                  n=gate.queries)  # fmt: skip
        column.addWidget(Label(f"{said} {sure}", "small", wrap=True))
        if by_kind := words.kinds(gate):
            column.addWidget(Label(tr("By kind of question: {kinds}", kinds=by_kind), "small", wrap=True))

    def _beside(self, column: QVBoxLayout, run: Run) -> None:
        """What came of learned weights of words, and of reading the best hits closely."""
        if run.headed is not None and run.headed.queries:
            used = tr("They are used.") if run.weighs else tr("They are not used: it is not better beyond doubt.")
            pair = Pair(tr("Together, with learned weights of words"), run.headed.without, run.headed.after)
            self._pair(column, pair, used)
        if run.read is not None and run.read.gate.queries:
            gate = run.read.gate
            used = tr("It is used: search shows its hits at once, and again when it has read them.")
            pair = Pair(tr("Together, the best hits read closely"), gate.fused_before, gate.fused_after)
            self._pair(column, pair, used if run.reads else words.because(gate))

    def _pair(self, column: QVBoxLayout, pair: Pair, said: str) -> None:
        head = row(Label(pair.label, "strong", wrap=True), Label(gain(pair.after - pair.before), "strong"))
        head.setStretch(0, 1)
        column.addLayout(head)
        column.addWidget(PairBars(pair))
        column.addWidget(Label(said, "small", wrap=True))

    # examples

    def _moved(self, column: QVBoxLayout, gate: Verdict) -> None:
        if not gate.up and not gate.down:
            return
        column.addWidget(Rule())
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._sides.setSpacing(16)
        for title, moved in ((tr("Moved up"), gate.up), (tr("Moved down"), gate.down)):
            side = QVBoxLayout()
            side.setSpacing(2)
            side.addWidget(Label(title, "strong"))
            for one in moved[:_LISTED]:
                side.addWidget(self._example(one))
            if not moved:
                side.addWidget(Label(tr("None"), "muted"))
            side.addStretch(1)
            self._sides.addLayout(side, 1)
        column.addLayout(self._sides)

    def _example(self, moved: Moved) -> LineButton:
        where = words.ranks(moved.before, moved.after)
        document = self._names.get(moved.document, "") if moved.document is not None else ""
        name = tr("{question}: from rank {ranks}. Read it in {document}", question=moved.question, ranks=where,
                  document=document)  # fmt: skip
        button = LineButton(name, lambda: self.opened.emit(moved))
        lines = QVBoxLayout()
        lines.setSpacing(1)
        lines.addWidget(Label(moved.question, wrap=True))
        lines.addWidget(ElidedLabel(" · ".join(part for part in (where, document) if part), "small"))
        button.fill(lines)
        button.setEnabled(bool(document))
        return button

    # checks

    def _checks(self, column: QVBoxLayout, gate: Verdict) -> None:
        if not gate.checks:
            return
        self.checks = QWidget()
        lines = QVBoxLayout(self.checks)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(4)
        for check in gate.checks:
            lines.addWidget(_check(check))
        passed = sum(check.passed for check in gate.checks)
        title = tr("All checks: {n} of {m} passed", n=passed, m=len(gate.checks))
        self.more = Button(title, "link", "chevron-down", self._toggle)
        column.addWidget(Rule())
        column.addLayout(row(self.more, None))
        column.addWidget(self.checks)
        self.checks.hide()

    def _toggle(self) -> None:
        self.checks.setVisible(self.checks.isHidden())
        if self.more is not None:
            self.more.set_icon("chevron-down" if self.checks.isHidden() else "chevron-up")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def _turn(self) -> None:
        if self._sides is not None:
            across = self.width() >= _NARROW * max(1.0, self.fontMetrics().height() / 19)
            self._sides.setDirection(QBoxLayout.Direction.LeftToRight if across else QBoxLayout.Direction.TopToBottom)


def _check(check: Check) -> QWidget:
    title = words.check_title(check.name)
    figures = tr("{figure}, at least {limit}", figure=f"{check.figure:.3g}", limit=f"{check.limit:.3g}")
    made = QWidget()
    made.setAccessibleName(f"{title}: {tr('passed') if check.passed else tr('not passed')}, {figures}")
    sign = IconLabel("check", "success", 16) if check.passed else IconLabel("close", "danger", 16)
    line = row(sign, Label(title, wrap=True), Label(figures, "small"))
    line.setStretch(1, 1)
    line.setAlignment(sign, Qt.AlignmentFlag.AlignTop)
    made.setLayout(line)
    return made
