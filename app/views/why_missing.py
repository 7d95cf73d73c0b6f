"""From a passage that was expected to what would bring it up: choosing it, asking why it is not found, changing the
search."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.context import Context
from app.views.steer_search import Steer
from app.views.why_beside import WhyBeside
from app.views.why_expected import Expected
from app.views.why_not_sheet import WhyNotSheet
from app.widgets.steer_state import MORE
from app.widgets.why_lifts import freed
from core.base.errors import NotFound
from core.base.types import Filters, Lift, Query, SearchResult, WhyNot


class Missing(QObject):
    """`wanted(text, Filters)`: search for this instead."""

    wanted = Signal(str, object)

    def __init__(self, context: Context, page: QWidget, why: WhyBeside, steer: Steer) -> None:
        super().__init__(page)
        self._context = context
        self._page = page
        self._why = why
        self._steer = steer
        self._result = SearchResult(Query(""), (), 0, {})
        self._waiting: int | None = None  # a passage to ask about once its search is there
        why.other_asked.connect(self.choose)
        why.lifted.connect(self.lift)

    def found(self, result: SearchResult) -> None:
        """These hits are shown now."""
        self._result = result
        if self._waiting is not None:
            passage, self._waiting = self._waiting, None
            self.ask(passage)
        elif self._why.is_not:
            self._why.not_panel.again(result.query)

    def ask(self, passage_id: int) -> None:
        """Say why a passage is not among the hits, or not higher."""
        self._why.ask_not(self._result.query, passage_id)

    def choose(self, expected: Expected | None = None) -> None:
        """Let the person choose the passage."""
        document = None
        if expected is not None:
            try:
                document = self._context.library.document(expected.document_id)
            except NotFound as error:  # removed meanwhile
                self._context.notifications.error(error)
                return
        sheet = WhyNotSheet(
            self._context.library, self._result.query.text, self._page, document=document,
            offset=expected.offset if expected else None,
        )  # fmt: skip
        sheet.chosen.connect(self._chosen)
        sheet.open()

    def _chosen(self, question: str, passage_id: int) -> None:
        if question == self._result.query.text:
            self.ask(passage_id)
            return
        self._waiting = passage_id
        self.wanted.emit(question, self._result.query.filters)

    def lift(self, why: WhyNot, lift: Lift) -> None:
        """Change the search as it was proposed."""
        query, steering = self._result.query, self._steer.state
        match lift.kind:
            case "word":
                self._search(f"{query.text} {lift.what}", query.filters)
            case "concept":
                self._steer.choose(steering.counting(lift.id, lift.what, MORE))
            case "filter":
                told = self._result.understood, self._result.understood_at
                self._search(*freed(query.text, *told, query.filters, why.excluded))
            case _:
                self._steer.choose(steering.only_by((lift.what,)))

    def _search(self, text: str, filters: Filters) -> None:
        """Search for something else, with a way back."""
        before = self._result.query
        self._steer.remember(lambda: self.wanted.emit(before.text, before.filters))
        self.wanted.emit(text, filters)
