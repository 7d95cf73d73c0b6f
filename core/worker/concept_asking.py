"""The operations of the `search` role that ask for concepts; empty answers where a library has none yet."""

from __future__ import annotations

from typing import Any

from core.base.errors import NotFound
from core.base.types import Filters, Query
from core.base.wire import from_plain
from core.worker.concept_views import Concepts
from core.worker.finding import Finder

OPERATIONS = frozenset({"query_concepts", "facets", "concept", "concept_map", "profile", "difference"})


def ask(finder: Finder, operation: str, args: dict[str, Any]) -> Any:
    """The result of one of `OPERATIONS`, as `core.worker.protocol` has it.

    Raises:
        NotFound, BadQuery, NotALibrary, LibraryDamaged, IndexDamaged
    """
    return finder.once_more(lambda: _asked(finder, operation, args))


def _asked(finder: Finder, operation: str, args: dict[str, Any]) -> Any:
    concepts = finder.concepts()
    if operation == "concept":
        if concepts is None:
            raise NotFound("This library has no concepts yet.", "They are found when enough documents are added.")
        return concepts.detail(int(args["id"]), finder.encoder)
    if operation == "concept_map":
        return {"points": [] if concepts is None else concepts.map()}
    return {"concepts": [] if concepts is None else _listed(finder, concepts, operation, args)}


def _listed(finder: Finder, concepts: Concepts, operation: str, args: dict[str, Any]) -> Any:
    match operation:
        case "query_concepts":
            return concepts.of_query(finder.searcher, from_plain(Query, args["query"]))
        case "facets":
            found = finder.searcher.found(from_plain(Query, args["query"]))
            same = finder.concepts(found.snapshot)  # another generation may have become current meanwhile
            return [] if same is None else same.facets(found.ranking.ids)
        case "profile":
            return concepts.profile(from_plain(Filters, args["filters"]))
        case "difference":
            return concepts.difference(from_plain(Filters, args["first"]), from_plain(Filters, args["second"]))
    raise ValueError(f"there is no operation {operation!r}")
