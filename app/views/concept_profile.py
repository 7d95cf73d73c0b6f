"""What a folder or a document is about: the concepts that set it apart from the library, or all by their size."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.context import Context
from app.i18n import plural, tr
from app.views.concept_answers import AnswerView
from app.views.concept_scope import Scope, ScopeButton
from app.views.concept_words import percent, times, weight_words
from app.widgets.card import row
from app.widgets.concept_chips import OneOf
from app.widgets.concept_rows import Share, ShareRow
from app.widgets.labels import Label
from core.base.types import ConceptWeight

SHOWN = 40
APART, MUCH = "apart", "much"
ORDERS = {APART: "What sets it apart", MUCH: "How much of it"}
_HINTS = {
    APART: "What these documents are about more often than the whole library, the most telling first.",
    MUCH: "The longer a bar, the more of these documents is about the concept.",
}


class ProfileView(AnswerView):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, "file", tr("What is it about?"), tr(
            "Choose a folder or a document: the concepts in it are listed."), parent)  # fmt: skip
        self.scope = ScopeButton(context, tr("Documents"))
        self.scope.changed.connect(self._ask)
        self.order = OneOf(ORDERS, tr("Order"))
        self.order.changed.connect(lambda _: self._sort())
        self.hint = Label("", "small", wrap=True)
        self.head.addLayout(row(Label(tr("What is in")), self.scope, None))
        self.head.addWidget(self.order)
        self.head.addWidget(self.hint)
        self._weights: tuple[ConceptWeight, ...] = ()
        self._show_head(False)

    def show_scope(self, scope: Scope) -> None:
        self.scope.choose(scope)

    def _show_head(self, on: bool) -> None:
        self.order.setVisible(on)
        self.hint.setVisible(on)

    def _ask(self) -> None:
        if self.scope.scope is not None:
            self.ask("profile", {"filters": self.scope.scope.filters}, tr("Reading what it is about…"))

    def show_answer(self, data: list[ConceptWeight]) -> None:
        self._weights = tuple(data)
        self._show_head(bool(self._weights))
        self._sort()

    def _sort(self) -> None:
        apart = self.order.key == APART
        found = [one for one in self._weights if one.lift > 1] if apart else list(self._weights)
        if not apart:  # the most telling come first as it is
            found.sort(key=lambda one: -one.weight)
        self.hint.setText(tr(_HINTS[self.order.key]))
        self.clear()
        if not self._weights:
            self.say(tr("No concept is found there"), tr("The documents may be empty, or about nothing that repeats."))
            return
        if not found:
            self.say(tr("Nothing sets it apart"), tr("It is about what the whole library is about."))
            return
        most = max(one.weight for one in found) or 1.0
        for one in found[:SHOWN]:
            self.list.addWidget(self._row(one, apart, most))
        self.show_list()

    def _row(self, one: ConceptWeight, apart: bool, most: float) -> ShareRow:
        passages = plural(one.passages, "{n} passage", "{n} passages")
        figure = f"{passages} · {times(one.lift) if apart else percent(one.weight)}"
        share = Share(max(0.0, one.weight / most), figure, "series_2" if apart else "accent")
        return ShareRow(one.label, (share,), weight_words(one), lambda: self.chosen.emit(one.id))
