"""The `answer` child: the local model, loaded at the first question that needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.answer.backend import Backend
from core.answer.service import Answerer
from core.base.errors import KnownError
from core.base.types import Answer, SearchResult, Turn
from core.base.wire import from_plain
from core.library import Library
from core.models import bundles
from core.worker.finding import encoder_for
from core.worker.paging import with_pages
from core.worker.server import Call


class AnswerRole:
    def __init__(self, library: Path) -> None:
        self._library = library
        self._answerer: Answerer | None = None
        self._extractive: Answerer | None = None
        self._reader: Library | None = None

    def open(self) -> dict[str, Any]:
        self._extractive = Answerer(encoder_for(self._library), None)
        self._reader = Library.open(self._library)
        return {"role": "answer"}

    def handle(self, call: Call) -> Any:
        if call.request.op != "ask":
            raise ValueError(f"answer has no operation {call.request.op!r}")
        args = call.request.args
        mode = str(args.get("mode", "auto"))
        answer = self._for(mode).answer(
            str(args["question"]),
            tuple(from_plain(Turn, t) for t in args.get("history", ())),
            from_plain(SearchResult, args["result"]),
            mode=mode,
            on_partial=lambda data: call.emit("partial", self._paged_partial(data)),
            control=call.control,
        )
        return self._paged(answer)

    def _paged_partial(self, data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "answer": self._paged(data["answer"])} if "answer" in data else data

    def _paged(self, answer: Answer) -> Answer:
        assert self._reader is not None
        return with_pages(answer, self._reader)

    def _for(self, mode: str) -> Answerer:
        if self._extractive is None:
            self.open()
        assert self._extractive is not None
        if mode == "extractive":
            return self._extractive
        if self._answerer is None:
            backend = load_backend()
            self._answerer = Answerer(self._extractive.encoder, backend) if backend else self._extractive
        return self._answerer

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()


def load_backend() -> Backend | None:
    """The active local model, or None when there is none that loads: answers are then quoted."""
    try:
        bundle = bundles.active("llm")
        if bundle is None:
            return None
        from core.answer.llama import LlamaBackend

        return LlamaBackend.load(bundle)
    except (KnownError, ImportError):
        return None


def make(library: Path | None) -> AnswerRole:
    assert library is not None
    return AnswerRole(library)
