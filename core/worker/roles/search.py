"""The `search` child: one open searcher, answering queries, explaining hits, choosing what to judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.base.types import Explanation, Filters, Query, SearchResult, Turn, WhyNot
from core.base.wire import from_plain
from core.search.every import MOST, Matches, every
from core.worker import concept_asking
from core.worker.finding import Finder
from core.worker.judging import Judging, ToJudge
from core.worker.server import Call


class SearchRole:
    def __init__(self, library: Path) -> None:
        self._library = library
        self._finder: Finder | None = None
        self._judging: Judging | None = None

    def open(self) -> dict[str, Any]:
        self._finder = Finder(self._library)
        return {"role": "search", "encoder": self._finder.encoder.id}

    def handle(self, call: Call) -> Any:
        if self._finder is None:  # opening failed: say again why
            self.open()
        assert self._finder is not None
        args = call.request.args
        match call.request.op:
            case "search":
                return self._search(call)
            case "retrieve":
                return self._retrieve(call)
            case "every":
                return self._every(args)
            case "explain":
                return self._explain(args)
            case "concepts":
                from core.worker.concept_list import concept_list

                return concept_list(self._library)
            case "why_not":
                return self._why_not(call)
            case "judge_next":
                return self._judge_next(args)
            case operation if operation in concept_asking.OPERATIONS:
                return concept_asking.ask(self._finder, operation, args)
        raise ValueError(f"search has no operation {call.request.op!r}")

    def _search(self, call: Call) -> SearchResult:
        assert self._finder is not None
        return self._finder.search(from_plain(Query, call.request.args["query"]), call.control)

    def _retrieve(self, call: Call) -> SearchResult:
        assert self._finder is not None
        args = call.request.args
        history = tuple(from_plain(Turn, t) for t in args.get("history", ()))
        filters = from_plain(Filters, args.get("filters", {}))
        return self._finder.retrieve(args["question"], history, filters, int(args.get("k", 8)), call.control)

    def _every(self, args: dict[str, Any]) -> Matches:
        assert self._finder is not None
        filters = from_plain(Filters, args.get("filters", {}))
        first, count = max(0, int(args.get("first", 0))), min(MOST, max(0, int(args.get("count", MOST))))
        return every(self._finder.searcher, str(args["text"]), filters, first=first, count=count)

    def _explain(self, args: dict[str, Any]) -> Explanation:
        assert self._finder is not None
        return self._finder.explain(from_plain(Query, args["query"]), int(args["passage_id"]))

    def _why_not(self, call: Call) -> WhyNot:
        assert self._finder is not None
        args = call.request.args
        return self._finder.why_not(from_plain(Query, args["query"]), int(args["passage_id"]), call.control)

    def _judge_next(self, args: dict[str, Any]) -> ToJudge:
        assert self._finder is not None
        if self._judging is None:
            self._judging = Judging(self._library, self._finder.search)
        return self._judging.next([str(question) for question in args.get("asked", ())])

    def close(self) -> None:
        if self._finder is not None:
            self._finder.close()


def make(library: Path | None) -> SearchRole:
    assert library is not None
    return SearchRole(library)
