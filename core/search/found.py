"""Where one passage stands in what a search found: its place among all hits, its rank in each channel, and what of the
query keeps it out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from core.base.types import BM25, CONCEPT, DENSE, LEXICAL, Filters, Hit, Level, Query, ScorePart, Standing
from core.index.snapshot import Ids, Snapshot
from core.search import filters as filtering
from core.search import levels, phrases, steering, syntax
from core.search.candidates import Prepared, Ranking, rank_in
from core.search.fold import fold, unfolded
from core.search.syntax import ParsedQuery

DEEP = 2_000  # candidates of one channel among which a passage is looked for when it is not among the first ones
_FINDING = (BM25, DENSE, LEXICAL, CONCEPT)  # channels that find candidates, whichever others there are
_WRITTEN = {
    "types": "type", "folders": "folder", "languages": "lang", "tags": "tag", "after": "after", "before": "before",
    "documents": "document", "titles": "title", "authors": "author", "names": "name",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, with all that it was found by. `written` is the query as it was typed, `asked` as it was
    searched; `allowed` are the passages that it lets through (None: all)."""

    written: Query
    asked: Query
    parsed: ParsedQuery
    snapshot: Snapshot
    languages: tuple[str, ...]
    prepared: Prepared
    ranking: Ranking
    hits: tuple[Hit, ...]
    allowed: Ids | None

    def lets_through(self, passage_id: int) -> bool:
        return self.allowed is None or passage_id in self.allowed


def place(found: Found, ranking: Ranking, passage_id: int) -> tuple[int | None, int]:
    """The rank that a passage (or the section or document it is in) has among all hits that `ranking` makes, None
    when it is not among them; and the document that is shown for it, where that is not its own (0 otherwise)."""
    for hit in found.hits if ranking is found.ranking else ():
        if hit.passage.id == passage_id:
            return hit.rank, _instead(found.snapshot, hit.passage.document_id, passage_id)
    shown = passage_id
    if found.asked.level in (Level.SECTION, Level.DOCUMENT):
        vector = found.prepared.vector if DENSE in ranking.scores else None
        grouped = levels.group(found.snapshot, ranking, found.asked.level, vector)
        shown = next((best for best, ids in grouped.within.items() if passage_id in ids), -1)
        ranking = grouped.ranking
    folded = (fold if found.asked.fold else unfolded)(found.snapshot, ranking, found.asked.filters, len(ranking.ids))
    for rank, one in enumerate(folded, 1):
        if one.passage_id == shown or any(copy.passage_id == shown for copy in one.copies):
            return rank, _instead(found.snapshot, one.shown.document_id, passage_id)
    return None, 0


def _instead(snapshot: Snapshot, shown: int, passage_id: int) -> int:
    row = snapshot.db.execute("SELECT document_id FROM passage WHERE id = ?", (passage_id,)).fetchone()
    return 0 if row is None or row[0] == shown else shown


def standings(found: Found, parts: tuple[ScorePart, ...], passage_id: int) -> tuple[Standing, ...]:
    """How a passage with these parts stands in each channel, beside the first and the last hit.

    The rank is among what the query lets through and the passage itself, looked for down to `DEEP`.
    """
    allowed = None if found.allowed is None else np.union1d(found.allowed, [passage_id])
    made = []
    for part in parts:
        rank = part.rank
        if rank is None and part.channel in _FINDING:
            rank = rank_in(found.snapshot, found.prepared, part.channel, passage_id, DEEP, allowed)
        best, last = (_contribution(hit, part.channel) for hit in (found.hits[0], found.hits[-1])) if found.hits else (
            0.0, 0.0,
        )  # fmt: skip
        made.append(Standing(part.channel, part.score, rank, part.contribution, last, best))
    return tuple(made)


def _contribution(hit: Hit, channel: str) -> float:
    return next((part.contribution for part in hit.parts if part.channel == channel), 0.0)


def excluding(found: Found, passage_id: int) -> tuple[str, ...]:
    """What of the query does not let the passage through, as one writes it: syntax of its text, then filters, then
    the concepts (concept:ID) that must be there."""
    if found.lets_through(passage_id):
        return ()
    of_text = [word for words in _together(found.parsed) if _bars(found, words, passage_id) for word in words]
    filters = (text for text, one in _single(found.written.filters) if not _passes(found, one, passage_id))
    return (*of_text, *filters, *(_concept(c) for c in found.asked.required if not _holds(found, c, passage_id)))


def without(query: Query, excluded: tuple[str, ...]) -> Query:
    """`query` without these, as `excluding` names them; the words of a phrase stay as words."""
    parsed = syntax.read(query)
    text = query.text
    for written, span in sorted(zip(parsed.understood, parsed.places, strict=False), key=lambda one: -one[1].start):
        if written in excluded:
            kept = written.strip('"') if written.startswith('"') else ""
            text = f"{text[: span.start]}{kept}{text[span.end :]}"
    required = tuple(c for c in query.required if _concept(c) not in excluded)
    return replace(query, text=text, filters=_kept(query.filters, excluded), required=required)


def _concept(concept: int) -> str:
    return f"concept:{concept}"


def _holds(found: Found, concept: int, passage_id: int) -> bool:
    groups = steering.families(found.snapshot, [concept])
    return passage_id in steering.required(steering.codes_of(found.snapshot), groups, [concept])


def _together(parsed: ParsedQuery) -> list[list[str]]:
    """The pieces of syntax, those that are alternatives of one another together."""
    groups: dict[str, list[str]] = {}
    for word in parsed.understood:
        one = syntax.parse(word).filters
        named = next((f.name for f in fields(one) if getattr(one, f.name)), word)
        groups.setdefault(named if one else word, []).append(word)
    return list(groups.values())


def _bars(found: Found, words: list[str], passage_id: int) -> bool:
    """Whether this piece of syntax alone keeps the passage out."""
    one = syntax.parse(" ".join(words))
    if not _passes(found, Filters(also=(one.filters,) if one.filters else (), none=one.barred), passage_id):
        return True
    left = phrases.allowed(found.snapshot, one, found.languages, np.array([passage_id]))
    return left is not None and len(left) == 0


def _passes(found: Found, filters: Filters, passage_id: int) -> bool:
    ids = filtering.allowed(found.snapshot.db, filters)
    return ids is None or passage_id in ids


def _single(filters: Filters) -> Iterator[tuple[str, Filters]]:
    """Each filter of its own, with how one writes it."""
    for name, shown in _WRITTEN.items():
        if value := getattr(filters, name):
            values = (value,) if isinstance(value, str) else value
            yield " ".join(f"{shown}:{one}" for one in values), replace(Filters(), **{name: value})
    for one in filters.also:
        yield from _single(one)
    for one in filters.none:
        yield f"-({' '.join(text for text, _ in _single(one))})", Filters(none=(one,))


def _kept(filters: Filters, excluded: tuple[str, ...]) -> Filters:
    """The filters without those written so."""
    left = Filters()
    for text, one in _single(filters):
        if text not in excluded:
            left = replace(left, also=(*left.also, one))
    return left
