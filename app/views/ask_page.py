"""The Ask page: a conversation about the documents, with answers that say what they rest on."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.context import Context, Place
from app.i18n import tr
from app.views.ask_conversation import ConversationView
from app.views.ask_flow import AskFlow
from app.views.ask_history import HistoryList
from app.views.ask_question import Question
from app.views.ask_turns import TurnActions
from app.views.why_beside import WhyBeside
from app.widgets.answer_announce import announce
from app.widgets.answer_box import QuestionBox
from app.widgets.answer_parts import mode_text
from app.widgets.answer_turn import TurnView
from app.widgets.buttons import Button
from app.widgets.empty_state import EmptyState
from app.widgets.hit_filters import FilterBar
from app.widgets.page import Page
from core.base.errors import KnownError
from core.base.types import Answer, Citation, Filters, Query, SearchResult, Span
from core.library import Found

WIDEST = 860  # a line of an answer stays readable
NARROW = 900  # below this width the reason takes the place of the list of conversations
NARROWER = 640  # below this one it takes the place of the conversation, too


class AskPage(Page):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._conversation: int | None = None
        self._editing: TurnView | None = None  # its question is being edited
        self._again_of: int | None = None  # the exchange that is being asked again, to be compared with
        self._cut = False  # what the library keeps of the conversation is out of sight, while a branch begins
        self._flow = AskFlow(context.engine, self)
        self.do = TurnActions(context, self)
        self._build()
        self.setFocusProxy(self.box.field)
        self._connect()
        self.history.load()
        self._state()

    # what the window asks of a page

    def show_target(self, target: Any) -> None:
        question = target if isinstance(target, Question) else Question(str(target or ""))
        if question.text:
            self.filters.set_filters(question.filters)
            self._flow.stop()
            self.ask(question.text)
        self.focus_search()

    def focus_search(self) -> None:
        self.box.take_focus()

    @property
    def has_open(self) -> bool:
        return self._flow.busy or self._editing is not None or self.why.is_open

    def escape(self) -> bool:
        if self._flow.busy:
            self._flow.stop()
            return True
        if self._editing is not None:
            self._edit(None)
            return True
        if self.why.is_open:
            self.why.close()
            self.focus_search()
            return True
        return False

    def close_page(self) -> None:
        self._flow.drop()
        self.history.search.hush()
        self.why.stop()

    # layout

    def _build(self) -> None:
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(10)
        self._split.setStyleSheet("QSplitter::handle { background: transparent; }")  # cards tell the areas apart
        outer = QHBoxLayout(self)
        outer.setContentsMargins(16, 20, 16, 16)
        outer.addWidget(self._split)
        self.history = HistoryList(self.context, self._split)
        self._middle = QWidget(self._split)
        self._split.setStretchFactor(1, 1)
        self.why = WhyBeside(self.context, self._split)
        inner = QWidget(self._middle)
        inner.setMaximumWidth(WIDEST)
        centred = QHBoxLayout(self._middle)
        centred.setContentsMargins(8, 0, 8, 0)
        centred.addWidget(inner, 1)
        self._build_inner(inner)

    def _build_inner(self, inner: QWidget) -> None:
        self._stack = QStackedWidget(inner)
        self.conversation = ConversationView(self._stack)
        self.filters = FilterBar(self.context.library.facets, inner)
        self.box = QuestionBox(inner)
        add = Button(tr("Add documents"), "primary", "folder-add", lambda: self.context.navigate("library", None))
        stays = tr("Add a folder first. It is read on this computer and stays on it.")
        self.nothing_yet = EmptyState("library", tr("Nothing to ask yet"), stays, (add,), self._stack)
        sources = tr(
            "Answers come from your documents only, with their sources. Follow-up questions know the conversation."
        )
        self.start = EmptyState("ask", tr("Ask your documents"), sources, parent=self._stack)
        self.start.text.setMinimumWidth(400)
        for page in (self.conversation, self.nothing_yet, self.start):
            self._stack.addWidget(page)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self._stack, 1)
        column.addWidget(self.filters)
        column.addWidget(self.box)

    def _connect(self) -> None:
        self.box.asked.connect(self.ask)
        self.box.stopped.connect(self._flow.stop)
        self.box.recalled.connect(self._edit_last)
        self.box.edit_ended.connect(lambda: self._edit(None))
        self.history.opened.connect(self._open_found)
        self.history.fresh.connect(self.new_conversation)
        self.history.deleted.connect(self._deleted)
        self.conversation.opened.connect(self._open)
        self.conversation.why.connect(self._why)
        self.conversation.retry.connect(self._retry)
        self.conversation.wider.connect(self._widen)
        self.conversation.edit.connect(self._edit)
        self.conversation.branch.connect(self._show_branch)
        self.conversation.more.connect(self.do.popup)
        self.do.again.connect(self._ask_again)
        self.do.edit.connect(self._edit)
        self.why.changed.connect(self._fit)
        self.why.closed.connect(self.focus_search)
        self._flow.found.connect(self._found)
        self._flow.drafted.connect(lambda answer: self.conversation.turns[-1].show_draft(answer))
        self._flow.token.connect(lambda token: self.conversation.turns[-1].add_token(token))
        self._flow.answered.connect(self._answered)
        self._flow.failed.connect(self._failed)
        self._flow.stopped.connect(self._stopped)
        self.context.engine.changed.connect(lambda _: self._state())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        why = self.why.is_open
        self.history.setVisible(self.width() >= (NARROW + 300 if why else NARROW - 200))
        self._middle.setVisible(not (why and self.width() < NARROWER))

    def _state(self) -> None:
        """What stands where the conversation will be."""
        if self.conversation.turns:
            self._stack.setCurrentWidget(self.conversation)
        else:
            self._stack.setCurrentWidget(self.start if self.context.library.passage_count() else self.nothing_yet)

    # conversations

    def new_conversation(self) -> None:
        self._flow.stop()
        self._show_none()
        self.focus_search()

    def open_conversation(self, conversation_id: int) -> None:
        if conversation_id == self._conversation and not self._cut:
            return
        self._flow.stop()
        self._show_kept(conversation_id)

    def _show_none(self) -> None:
        self._conversation, self._cut = None, False
        self._edit(None)
        self.conversation.clear()
        self.history.mark(None)
        self._state()

    def _show_kept(self, conversation_id: int) -> None:
        """Show the branch of a conversation that the library says is shown."""
        self._conversation, self._cut = conversation_id, False
        self._edit(None)
        self.conversation.show_stored(self.context.library.turns(conversation_id))
        self.history.mark(conversation_id)
        self._state()

    def _open_found(self, found: Found) -> None:
        """Open a conversation, at the exchange that was looked for."""
        self.open_conversation(found.conversation.id)
        if found.turn_id and self.conversation.find(found.turn_id) is None:
            self._show_branch(found.turn_id)
        turn = self.conversation.find(found.turn_id)
        if turn is not None:
            self.conversation.reveal(turn)

    def _show_branch(self, turn_id: int) -> None:
        self._flow.stop()
        try:
            conversation_id = self.context.library.show_branch(turn_id)
        except KnownError as error:
            self.context.notifications.error(error)
            return
        self._show_kept(conversation_id)
        turn = self.conversation.find(turn_id)
        if turn is not None:
            self.conversation.reveal(turn)
            QTimer.singleShot(0, turn, turn.branches.take_focus)  # once it is laid out
            announce(self, f"{turn.branches.told.accessibleName()}. {turn.question}")

    def _deleted(self, conversation_id: int) -> None:
        if conversation_id == self._conversation:
            self._flow.drop()  # what it would have answered belongs to nothing any more
            self.box.show_running(False)
            self._show_none()

    # a question and its answer

    def ask(self, question: str) -> None:
        """Ask what was written: at the end, or in the place of the question that is being edited."""
        if not self._flow.busy:
            self._ask(question, self._editing)

    def _ask(
        self, question: str, at: TurnView | None = None, filters: Filters | None = None, mode: str = "",
        everything: bool | None = None,
    ) -> None:  # fmt: skip
        self._edit(None)
        if at is not None and at in self.conversation.turns:
            self.conversation.cut(at)
            self._cut = True
        history = self.conversation.history()
        self.conversation.add(question)
        self._state()
        self.box.show_running(True)
        self._flow.start(
            question, history, self.filters.filters() if filters is None else filters, mode or self.box.mode,
            everything=self.box.everything if everything is None else everything,
        )  # fmt: skip

    def _retry(self, turn: TurnView) -> None:
        if not self._flow.busy:
            self.conversation.drop(turn)
            self._ask(turn.question)

    def _widen(self, turn: TurnView) -> None:
        """The same question, of all documents."""
        if not self._flow.busy:
            self.filters.set_filters(Filters())
            self._ask(turn.question, turn)

    def _ask_again(self, turn: TurnView) -> None:
        """The same question under the same filters and with the same kind of answer; then what changed since."""
        if self._flow.busy or turn.stored is None:
            return
        record, whole = turn.stored.answer.record, turn.stored.answer.matching > 0
        self._again_of = turn.stored.id
        self._ask(turn.question, turn, record and record.filters, record.asked_mode if record else "", whole)

    def _edit(self, turn: TurnView | None) -> None:
        """Take a question into the box, to be asked in other words; None: no longer."""
        if turn is not None and (self._flow.busy or turn.stored is None):
            return
        if turn is not self._editing:
            self._editing = turn
            self.box.show_editing(turn.question if turn is not None else None)

    def _edit_last(self) -> None:
        if self.conversation.turns:
            self._edit(self.conversation.turns[-1])

    def _found(self, result: SearchResult) -> None:
        self.filters.show_removed(result.filtered_out)
        self.conversation.turns[-1].show_found(result)

    def _answered(self, answer: Answer) -> None:
        turn = self.conversation.turns[-1]
        turn.show_answer(answer)
        self.box.show_running(False)
        self.conversation.settle()
        announce(self, f"{mode_text(answer)}. {answer.text}")
        self._keep(turn, answer)

    def _keep(self, turn: TurnView, answer: Answer) -> None:
        library, again_of, self._again_of = self.context.library, self._again_of, None
        try:
            self._conversation = library.save_turn(self._conversation, turn.search_text, answer, turn.after)
        except KnownError as error:  # the answer is there and stays; only keeping it failed
            self.context.notifications.error(error)
            return
        self._cut = False
        turn.show_stored(library.turns(self._conversation)[-1])
        self.history.load(self._conversation)
        if again_of is not None:
            self.do.compare(turn, again_of)

    def _failed(self, error: Any) -> None:
        self.conversation.turns[-1].show_error(error)
        self.box.show_running(False)
        announce(self, str(error))

    def _stopped(self) -> None:
        turn = self.conversation.turns[-1]
        turn.show_stopped()
        self.box.show_running(False)
        announce(self, tr("Stopped"))
        if turn.answer is not None:
            self._keep(turn, turn.answer)
        elif self._cut and self._conversation is not None:  # nothing came of the branch: what was there is shown again
            self._show_kept(self._conversation)
        self._again_of = None

    # from a citation onwards

    def _open(self, turn: TurnView, citation: Citation) -> None:
        self.conversation.hold(turn)
        place = Place(citation.document_id, citation.page, (Span(citation.start, citation.end),))
        self.context.navigate("document", place)

    def _why(self, turn: TurnView, citation: Citation) -> None:
        self.conversation.hold(turn)
        self.why.ask(Query(turn.search_text), citation.passage_id)
