"""A question asked from start to end: search, then the answer child."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core.base.events import Control
from core.base.types import Answer, Filters, SearchResult, Turn
from core.base.wire import from_plain, to_plain
from core.worker.client import ChildClient
from core.worker.finding import Finder
from core.worker.protocol import ANSWER, Reply

PASSAGES = 8  # given to the answer; what does not fit its context is left out there


def ask(
    finder: Finder, library: Path, question: str, *, history: Sequence[Turn] = (), filters: Filters | None = None,
    mode: str = "auto", control: Control | None = None, on_partial: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[Answer, SearchResult]:  # fmt: skip
    """The answer and the search it rests on.

    Raises:
        BadQuery, ChildDied, Cancelled
    """
    result = finder.retrieve(question, history, filters or Filters(), PASSAGES)

    def told(reply: Reply) -> None:
        if reply.event == "partial" and on_partial is not None:
            on_partial(reply.data)

    args = {"question": question, "history": to_plain(tuple(history)), "result": to_plain(result), "mode": mode}
    with ChildClient(ANSWER, library) as child:
        answer = from_plain(Answer, child.call("ask", args, on_event=told, control=control))
    return answer, result
