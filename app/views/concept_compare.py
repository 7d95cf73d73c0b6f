"""In what two sets of documents differ: the concepts that one has more of, with how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.context import Context
from app.i18n import plural, tr
from app.models.concept_entries import LIKELY, SURE
from app.theme import colours
from app.views.concept_answers import AnswerView
from app.views.concept_scope import ScopeButton
from app.views.concept_words import percent, sureness
from app.widgets.card import row
from app.widgets.concept_rows import Share, ShareRow
from app.widgets.hit_filters import shorten
from app.widgets.hit_flow import FlowLayout
from app.widgets.labels import ElidedLabel, Label
from app.widgets.page_offsets import one_line
from core.base.types import Difference, Filters

SHOWN = 20  # on each side
LONGEST = 40  # characters of a name
FIRST, SECOND = "series_1", "series_3"


class CompareView(AnswerView):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, "filter", tr("In what do they differ?"), tr(
            "Choose a folder or a document. It is compared with all other documents, or with those you choose."
        ), parent)  # fmt: skip
        self.first = ScopeButton(context, tr("Compare"))
        self.second = ScopeButton(context, tr("With"), others=True)
        for button in (self.first, self.second):
            button.changed.connect(self._ask)
        holder = QWidget()
        flow = FlowLayout(holder, spacing=8)
        for part in (Label(tr("Compare")), self.first, Label(tr("with")), self.second):
            flow.addWidget(part)
        self.hint = CompareLegend()
        self.head.addWidget(holder)
        self.head.addWidget(self.hint)
        self.hint.hide()

    def _ask(self) -> None:
        first, second = self.first.scope, self.second.scope
        if first is None:
            return
        against = second.filters if second is not None else Filters(none=(first.filters,))
        self.ask("difference", {"first": first.filters, "second": against}, tr("Comparing…"))

    def _names(self) -> tuple[str, str]:
        first, second = self.first.scope, self.second.scope
        assert first is not None
        return first.name, second.name if second is not None else tr("all others")

    def show_answer(self, data: list[Difference]) -> None:
        told = [one for one in data if abs(one.z) >= LIKELY]
        self.hint.setVisible(bool(told))
        if not told:
            self.say(tr("They are about the same"), tr(
                "No concept is found in one more often than in the other, beyond what chance does."))  # fmt: skip
            return
        first, second = self._names()
        self.hint.show_names(first, second)
        top = max(max(one.first, one.second) for one in told) or 1.0
        self._section(tr("More in {name}", name=first), [one for one in told if one.z > 0], top)
        self._section(tr("More in {name}", name=second), [one for one in told if one.z < 0], top)
        left = len(data) - len(told)
        if left:
            words = plural(left, "{n} more concept differs only as much as chance does.",
                           "{n} more concepts differ only as much as chance does.")  # fmt: skip
            self.list.addWidget(Label(words, "small", wrap=True))
        self.show_list()

    def _section(self, title: str, found: Sequence[Difference], top: float) -> None:
        if not found:
            return
        self.list.addWidget(Label(one_line(title), "eyebrow", wrap=True))
        for one in sorted(found, key=lambda d: -abs(d.z))[:SHOWN]:
            self.list.addWidget(self._row(one, top))
        self.list.addSpacing(10)

    def _row(self, one: Difference, top: float) -> ShareRow:
        first, second = self._names()
        shares = (
            Share(one.first / top, percent(one.first), FIRST),
            Share(one.second / top, percent(one.second), SECOND),
        )
        said = tr(
            "{name}: in {a} of {first}, in {b} of {second}; {sure}", name=one_line(one.label), a=percent(one.first),
            first=first, b=percent(one.second), second=second, sure=sureness(one),
        )  # fmt: skip
        name = one_line(one.label) if abs(one.z) >= SURE else f"{one_line(one.label)}  ·  {sureness(one)}"
        return ShareRow(name, shares, said, lambda: self.chosen.emit(one.id))


class CompareLegend(QWidget):
    """Which bar is whose, and what it is the share of."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names = tuple(ElidedLabel("", "small") for _ in range(2))
        flow = FlowLayout(self, spacing=8)
        flow.addWidget(Label(tr("Share of the passages in which the concept is found:"), "small"))
        for tone, name in zip((FIRST, SECOND), self._names, strict=True):
            name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            holder = QWidget()
            holder.setLayout(row(Swatch(tone), name, spacing=5))
            flow.addWidget(holder)

    def show_names(self, *names: str) -> None:
        for label, name in zip(self._names, names, strict=True):
            label.set_whole(shorten(one_line(name), LONGEST))


class Swatch(QWidget):
    """A spot in a colour of the theme."""

    def __init__(self, tone: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tone = tone
        self.setFixedSize(10, 10)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), colours().colour(self._tone))
