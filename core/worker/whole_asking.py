"""Questions about the whole library in the answer child: told apart there, searched with the child's own encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.answer.remote import RemoteBackend
from core.answer.service import Answerer, Partial
from core.answer.whole.answering import WholeAnswerer
from core.answer.whole.kinds import Plan, of_kind, plan
from core.base.events import Control
from core.base.types import Answer, SearchResult
from core.encode.encoder import Encoder
from core.worker.finding import Finder

ASK_ALL = "ask_all"
BEST = "best"  # scope of a question that is answered from the best passages, whatever it seems to ask


def planned(op: str, args: dict[str, Any], result: SearchResult) -> Plan | None:
    """What is asked of the whole library: always something with `ask_all`; with `ask` where the question says so."""
    question = str(args["question"])
    alone = result.query.text.strip() or question
    if op == ASK_ALL:
        return plan(alone) or plan(question) or of_kind(alone)
    return None if args.get("scope") == BEST else plan(alone) or plan(question)


class WholeAsking:
    """Opens the index at the first question that needs it."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self._finder: Finder | None = None
        self._encoder: Encoder | None = None

    def answer(
        self, answerer: Answerer, wanted: Plan, question: str, result: SearchResult, *, mode: str,
        on_partial: Partial, control: Control,
    ) -> Answer:  # fmt: skip
        """Raises Cancelled, and what a search raises."""
        finder = self._opened(answerer.encoder)
        # all that matches is far more than a person expects to leave this computer for one question
        local = None if isinstance(answerer.backend, RemoteBackend) else answerer.backend
        whole = WholeAnswerer(finder.searcher, answerer.encoder, answerer.scale, local)
        return whole.answer(question, wanted, result, mode=mode, on_partial=on_partial, control=control)

    def _opened(self, encoder: Encoder) -> Finder:
        if self._finder is None or self._encoder is not encoder:
            self.close()
            self._finder, self._encoder = Finder(self._library, encoder), encoder
        return self._finder

    def close(self) -> None:
        if self._finder is not None:
            self._finder.close()
            self._finder = None
