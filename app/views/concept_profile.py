"""What a folder or a document is about: its concepts by how much of it they are, or by how special they are for it."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.context import Context
from app.i18n import plural, tr
from app.views.concept_answers import AnswerView
from app.views.concept_scope import Scope, ScopeButton
from app.views.concept_words import times, weight_words
from app.widgets.card import row
from app.widgets.concept_chips import OneOf
from app.widgets.concept_rows import Share, ShareRow
from app.widgets.labels import Label
from core.base.types import ConceptWeight

SHOWN = 40
SEVERAL = 3  # passages of a concept before it is called special
ORDERS = {"most": "Most of it", "special": "What is special in it"}
_HINTS = {
    "most": "The longer a bar, the more of these documents is about the concept.",
    "special": "How much more often the concept is found in these documents than in the whole library.",
}


class ProfileView(AnswerView):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, "file", tr("What is it about?"), tr(
            "Choose a folder or a document: the concepts in it are listed, the largest first."), parent)  # fmt: skip
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
        special = self.order.key == "special"
        found = [one for one in self._weights if not special or (one.lift > 1 and one.passages >= SEVERAL)]
        found.sort(key=lambda one: -one.lift if special else -one.weight)
        self.hint.setText(tr(_HINTS[self.order.key]))
        self.clear()
        if not self._weights:
            self.say(tr("No concept is found there"), tr("The documents may be empty, or about nothing that repeats."))
            return
        if not found:
            self.say(tr("Nothing is special in it"), tr("It is about what the whole library is about."))
            return
        most = max((one.lift if special else one.weight) for one in found) or 1.0
        for one in found[:SHOWN]:
            self.list.addWidget(self._row(one, special, most))
        self.show_list()

    def _row(self, one: ConceptWeight, special: bool, most: float) -> ShareRow:
        figure = times(one.lift) if special else plural(one.passages, "{n} passage", "{n} passages")
        value = (one.lift if special else one.weight) / most
        share = Share(max(0.0, value), figure, "series_2" if special else "accent")
        return ShareRow(one.label, (share,), weight_words(one), lambda: self.chosen.emit(one.id))
