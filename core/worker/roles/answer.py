"""The `answer` child: the local model, loaded at the first question that needs it, or the endpoint that is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.answer.backend import Backend
from core.answer.remote import RemoteBackend, marked
from core.answer.service import Answerer
from core.base.errors import KnownError
from core.base.types import Answer, SearchResult, Turn
from core.base.wire import from_plain
from core.library import Library
from core.models import bundles, endpoint
from core.worker.finding import encoder_for
from core.worker.paging import with_pages
from core.worker.server import Call
from core.worker.whole_asking import ASK_ALL, WholeAsking, planned


class AnswerRole:
    def __init__(self, library: Path) -> None:
        self._library = library
        self._answerer: Answerer | None = None
        self._extractive: Answerer | None = None
        self._serving: endpoint.Endpoint | str = ""
        self._reader: Library | None = None
        self._whole = WholeAsking(library)

    def open(self) -> dict[str, Any]:
        self._extractive = Answerer(encoder_for(self._library), None)
        self._reader = Library.open(self._library)
        return {"role": "answer"}

    def handle(self, call: Call) -> Any:
        if call.request.op == "stand_alone":
            return self._stand_alone(call)
        if call.request.op not in ("ask", ASK_ALL):
            raise ValueError(f"answer has no operation {call.request.op!r}")
        args = call.request.args
        mode = str(args.get("mode", "auto"))
        answerer = self._for(mode)
        if isinstance(answerer.backend, RemoteBackend):
            answerer.backend.asked = False
        answer = self._answer(call, answerer, mode)
        return self._paged(marked(answer, answerer.backend))

    def _answer(self, call: Call, answerer: Answerer, mode: str) -> Answer:
        args, question = call.request.args, str(call.request.args["question"])
        result = from_plain(SearchResult, args["result"])
        plan = planned(call.request.op, args, result)

        def told(data: dict[str, Any]) -> None:
            call.emit("partial", self._paged_partial(data, answerer.backend))

        if plan is not None:
            return self._whole.answer(
                answerer, plan, question, result, mode=mode, on_partial=told, control=call.control
            )  # fmt: skip
        history = tuple(from_plain(Turn, t) for t in args.get("history", ()))
        return answerer.answer(question, history, result, mode=mode, on_partial=told, control=call.control)

    def _stand_alone(self, call: Call) -> str:
        """By a model in this program alone: an endpoint is sent a question and its passages, and nothing besides."""
        from core.answer.rewrite import stand_alone

        history = tuple(from_plain(Turn, t) for t in call.request.args.get("history", ()))
        backend = self._for("auto").backend
        local = None if isinstance(backend, RemoteBackend) else backend
        return stand_alone(str(call.request.args["question"]), history, local, call.control)

    def _paged_partial(self, data: dict[str, Any], backend: Backend | None) -> dict[str, Any]:
        if "answer" not in data:
            return data
        return {**data, "answer": self._paged(marked(data["answer"], backend, going=True))}

    def _paged(self, answer: Answer) -> Answer:
        assert self._reader is not None
        return with_pages(answer, self._reader)

    def _for(self, mode: str) -> Answerer:
        if self._extractive is None:
            self.open()
        assert self._extractive is not None
        if mode == "extractive":
            return self._extractive
        wanted = _wanted()
        if self._answerer is None or wanted != self._serving:
            self._drop()
            backend = RemoteBackend(wanted) if isinstance(wanted, endpoint.Endpoint) else load_backend()
            self._answerer = Answerer(self._extractive.encoder, backend) if backend else self._extractive
            self._serving = wanted
        return self._answerer

    def _drop(self) -> None:
        """Give the memory of a model back that is no longer the one in use."""
        if self._answerer is not None and self._answerer.backend is not None:
            self._answerer.backend.close()
        self._answerer = None

    def close(self) -> None:
        self._whole.close()
        if self._reader is not None:
            self._reader.close()


def _wanted() -> endpoint.Endpoint | str:
    """What should write: the endpoint that the person switched on, else the active model, by its id."""
    used = endpoint.in_use()
    if used is not None:
        return used
    bundle = bundles.active(bundles.LLM)
    return bundle.id if bundle is not None else ""


def load_backend() -> Backend | None:
    """The active local model, or None when there is none that loads: answers are then quoted.

    Never an endpoint: nothing goes there but a person's question and its passages.
    """
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
