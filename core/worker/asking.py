"""A question asked from start to end: search, then the answer child."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.events import Control
from core.base.types import Answer, AnswerMode, Filters, SearchResult, Turn, with_hidden
from core.base.wire import from_plain, to_plain
from core.worker.client import ChildClient
from core.worker.finding import Finder
from core.worker.protocol import ANSWER, Reply

EXTRACTIVE = "extractive"
PASSAGES = 8  # given to the answer; what does not fit its context is left out there


def ask(
    finder: Finder, library: Path, question: str, *, history: Sequence[Turn] = (), filters: Filters | None = None,
    mode: str = "auto", everything: bool = False, control: Control | None = None,
    on_partial: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[Answer, SearchResult]:  # fmt: skip
    """The answer and the search it rests on. With `everything` all that matches is read, whatever is asked.

    Raises:
        BadQuery, ChildDied, Cancelled
    """

    def told(reply: Reply) -> None:
        if reply.event == "partial" and on_partial is not None:
            on_partial(reply.data)

    with ChildClient(ANSWER, library) as child:
        asking = _Asking(finder, child, question, tuple(history), control, "ask_all" if everything else "ask")
        result = asking.found(filters or Filters(), mode)
        answer = asking.answered(result, mode, told)
        return asking.wider(answer, result), result


@dataclass(frozen=True)
class _Asking:
    """The steps of one question, as the window's flow takes them, too (app.views.ask_flow)."""

    finder: Finder
    child: ChildClient
    question: str
    history: tuple[Turn, ...]
    control: Control | None
    operation: str = "ask"

    def found(self, filters: Filters, mode: str) -> SearchResult:
        """Searched for as a model writes the question out, where it leans on the conversation; else by rules."""
        alone = ""
        if self.history and mode != EXTRACTIVE:
            args = {"question": self.question, "history": to_plain(self.history)}
            alone = str(self.child.call("stand_alone", args, control=self.control))
        if alone:
            return self.finder.retrieve(alone, (), filters, PASSAGES, self.control)
        return self.finder.retrieve(self.question, self.history, filters, PASSAGES, self.control)

    def answered(self, result: SearchResult, mode: str, on_event: Callable[[Reply], None] | None = None) -> Answer:
        args = {"question": self.question, "history": to_plain(self.history), "result": to_plain(result), "mode": mode}
        return from_plain(Answer, self.child.call(self.operation, args, on_event=on_event, control=self.control))

    def wider(self, answer: Answer, result: SearchResult) -> Answer:
        """With what only the filters hide, where nothing within them answers."""
        if answer.mode is not AnswerMode.ABSTAINED or not result.filtered_out:
            return answer
        wide = self.finder.retrieve(result.query.text, (), Filters(), PASSAGES, self.control)
        return with_hidden(answer, self.answered(wide, EXTRACTIVE))
