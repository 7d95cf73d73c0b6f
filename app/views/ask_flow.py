"""One question on its way: written out, searched, answered. Says each step, and stops within a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.engine.engine import Engine
from app.widgets.page_latest import Latest
from core.base.types import Answer, AnswerMode, Filters, SearchResult, Turn, with_hidden
from core.worker.protocol import ANSWER, SEARCH

PASSAGES = 8  # given to the answer
EXTRACTIVE = "extractive"


class AskFlow(QObject):
    """Signals in this order: `found`, any of `drafted` and `token`, then one of `answered`, `failed`, `stopped`.

    Where filters were in force and nothing within them answers, it is also looked whether a search without them would:
    the answer then tells what they hide (`Answer.hidden`).
    """

    found = Signal(object)  # SearchResult
    drafted = Signal(object)  # Answer: a first one, shown while the model writes
    token = Signal(str)
    answered = Signal(object)  # Answer
    failed = Signal(object)
    stopped = Signal()

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._latest = Latest(engine, self)
        self._latest.partial.connect(self._partial)
        self._latest.result.connect(self._result)
        self._latest.failed.connect(self._failed)
        self._latest.cancelled.connect(self._cancelled)
        self._arguments: dict[str, Any] = {}
        self._op = "ask"
        self._filters = Filters()
        self._result_shown: SearchResult | None = None
        self._abstained: Answer | None = None  # while it is looked what the filters hide

    @property
    def busy(self) -> bool:
        return self._latest.busy

    def start(
        self, question: str, history: Sequence[Turn], filters: Filters, mode: str, *, everything: bool = False
    ) -> None:  # fmt: skip
        """With `everything` all that matches is read, not the best passages, whatever is asked."""
        self._op = "ask_all" if everything else "ask"
        self._arguments = {"question": question, "history": list(history), "mode": mode}
        self._filters, self._result_shown, self._abstained = filters, None, None
        if history and mode != EXTRACTIVE:
            self._latest.start(ANSWER, "stand_alone", {"question": question, "history": list(history)})
        else:
            self._search(question, list(history), filters)

    def stop(self) -> None:
        """Stop hearing at once; the child is told to stop and need not be waited for."""
        if self._latest.busy:
            self._latest.drop()
            self._cancelled()

    def drop(self) -> None:
        self._latest.drop()

    def _search(self, question: str, history: Sequence[Turn], filters: Filters) -> None:
        args = {"question": question, "history": list(history), "filters": filters, "k": PASSAGES}
        self._latest.start(SEARCH, "retrieve", args)

    def _partial(self, data: Any) -> None:
        if self._abstained is not None:
            return
        if isinstance(data.get("token"), str):
            self.token.emit(data["token"])
        elif isinstance(data.get("answer"), Answer):
            self.drafted.emit(data["answer"])

    def _result(self, value: object) -> None:
        if isinstance(value, str):
            history = [] if value else self._arguments["history"]
            self._search(value or self._arguments["question"], history, self._filters)
        elif isinstance(value, SearchResult):
            self._found(value)
        elif isinstance(value, Answer):
            self._answer(replace(value, question=value.question or self._arguments["question"]))

    def _found(self, result: SearchResult) -> None:
        if self._abstained is not None:
            self._latest.start(ANSWER, self._op, {**self._arguments, "mode": EXTRACTIVE, "result": result})
            return
        self._result_shown = result
        self.found.emit(result)
        if not self._latest.busy:
            self._latest.start(ANSWER, self._op, {**self._arguments, "result": result})

    def _answer(self, answer: Answer) -> None:
        told = self._abstained
        if told is not None:
            self._end(with_hidden(told, answer))
        elif answer.mode is AnswerMode.ABSTAINED and self._result_shown and self._result_shown.filtered_out:
            self._abstained = answer
            self._search(self._result_shown.query.text, (), Filters())
        else:
            self._end(answer)

    def _end(self, answer: Answer) -> None:
        self._abstained = None
        self.answered.emit(answer)

    def _failed(self, error: object) -> None:
        """What was answered stays, though it could not be looked further."""
        if self._abstained is not None:
            self._end(self._abstained)
        else:
            self.failed.emit(error)

    def _cancelled(self) -> None:
        if self._abstained is not None:
            self._end(self._abstained)
        else:
            self.stopped.emit()
