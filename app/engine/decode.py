"""From the plain values on the wire to the types of `core.base`."""

from __future__ import annotations

from typing import Any

from app.errors import Bug
from core.base.errors import KnownError, known_error
from core.base.events import Changed, Curve, Progress
from core.base.types import (
    Answer,
    ConceptDetail,
    ConceptPoint,
    ConceptWeight,
    Difference,
    Explanation,
    IngestReport,
    SearchResult,
    WhyNot,
)  # fmt: skip
from core.base.wire import from_plain

_RESULTS: dict[tuple[str, str], type] = {
    ("search", "search"): SearchResult,
    ("search", "retrieve"): SearchResult,
    ("search", "explain"): Explanation,
    ("search", "why_not"): WhyNot,
    ("search", "concept"): ConceptDetail,
    ("answer", "ask"): Answer,
    ("answer", "ask_all"): Answer,
    ("job", "ingest"): IngestReport,
    ("job", "demo"): IngestReport,
}
_LISTS: dict[tuple[str, str], tuple[str, type]] = {
    ("search", "query_concepts"): ("concepts", ConceptWeight),
    ("search", "facets"): ("concepts", ConceptWeight),
    ("search", "profile"): ("concepts", ConceptWeight),
    ("search", "difference"): ("concepts", Difference),
    ("search", "concept_map"): ("points", ConceptPoint),
}


def result(role: str, op: str, data: Any) -> Any:
    """The typed outcome of an operation; a plain value where none is declared. Raises TypeError on a misfit.

    Of an operation that gives a list under a name, the list alone.
    """
    if (role, op) in _LISTS:
        name, item = _LISTS[role, op]
        return [from_plain(item, one) for one in data[name]]
    kind = _RESULTS.get((role, op))
    return from_plain(kind, data) if kind is not None else data


def partial(data: Any) -> Any:
    if isinstance(data, dict) and isinstance(data.get("answer"), dict):
        return data | {"answer": from_plain(Answer, data["answer"])}
    return data


def progress(data: Any) -> Progress:
    return from_plain(Progress, data)


def curve(data: Any) -> Curve:
    return from_plain(Curve, data)


def changed(data: Any) -> Changed:
    return from_plain(Changed, data)


def error(data: Any) -> KnownError:
    return known_error(str(data.get("code", "")), str(data.get("message", "")), str(data.get("advice", "")))


def bug(data: Any) -> Bug:
    return Bug(str(data.get("message", "")), str(data.get("traceback", "")))
