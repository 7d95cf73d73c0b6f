"""What would bring a passage up that was expected: changes of the question, each tried out by a search."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from core.base.events import Control
from core.base.types import BM25, DENSE, LEXICAL, RERANK, ConceptShare, Lift, Passage, Query
from core.base.types import CONCEPT as BY_CONCEPTS
from core.concepts.terms import Text, candidates
from core.search.found import Found, place, without

WORD, CONCEPT, FILTER, CHANNEL = "word", "concept", "filter", "channel"  # kinds of `Lift`
_ALONE = (BM25, DENSE, LEXICAL, BY_CONCEPTS)  # channels that find by themselves
BOOST = 2.0  # factor that a concept is tried with
_MOST_WORDS, _MOST_CONCEPTS = 3, 2
_SECONDS = 0.6  # no try is begun afterwards
_SATURATION = 1.2  # of how often a word is said, as in BM25


class Tries(Protocol):
    def found(self, query: Query, *, tried: bool = False) -> Found: ...


def lifts(
    searcher: Tries, found: Found, passage: Passage, rank: int | None, excluded: tuple[str, ...],
    concepts: tuple[ConceptShare, ...], control: Control,
) -> tuple[Lift, ...]:  # fmt: skip
    """What was tried and brings the passage above `rank`, best first; a filter that keeps it out is told of anyway.

    `concepts` are those of the passage that may be boosted, best first. Nothing is read closely by a reranker: where
    the hits were, a change must also be better than the same question that is not read closely. After `_SECONDS` no
    further try is begun.

    Raises:
        Cancelled: through `control`, between two tries.
    """
    until = time.perf_counter() + _SECONDS
    made: list[Lift] = []
    unread = _tried(searcher, found.written, passage) if RERANK in found.ranking.scores and not excluded else rank
    for lift, query in _tries(found, passage, excluded, concepts):
        if made and time.perf_counter() >= until:
            break
        control.check()
        made.append(replace(lift, rank=_tried(searcher, query, passage)))
    helping = [one for one in made if one.kind == FILTER or (_better(one.rank, rank) and _better(one.rank, unread))]
    return tuple(sorted(helping, key=lambda one: (one.rank is None, one.rank)))


def _tried(searcher: Tries, query: Query, passage: Passage) -> int | None:
    """Where the passage would stand."""
    tried = searcher.found(replace(query, rerank=False), tried=True)
    return place(tried, tried.ranking, passage.id)[0]


def _better(tried: int | None, rank: int | None) -> bool:
    return tried is not None and (rank is None or tried < rank)


def _tries(
    found: Found, passage: Passage, excluded: tuple[str, ...], concepts: tuple[ConceptShare, ...]
) -> Iterator[tuple[Lift, Query]]:
    """While something keeps the passage out, only to leave that out can help."""
    query = found.written
    if excluded:
        freed = without(query, excluded)
        if freed.text.strip() or freed.like is not None:
            yield Lift(FILTER, " ".join(excluded), None), freed
        return
    for word in _telling(found, passage)[:_MOST_WORDS] if query.like is None else ():
        yield Lift(WORD, word, None), replace(query, text=f"{query.text} {word}")
    # the passages' concepts are not kept everywhere (the model may be lost)
    for concept in concepts[:_MOST_CONCEPTS] if found.snapshot.codes is not None else ():
        boosted = replace(query, boosts={**query.boosts, concept.id: BOOST})
        yield Lift(CONCEPT, concept.label, None, concept.id), boosted
    channels = [channel for channel in _ALONE if channel in found.ranking.scores and found.prepared.can(channel)]
    for channel in channels if len(channels) > 1 else ():
        yield Lift(CHANNEL, channel, None), replace(query, channels=(channel,))


def _telling(found: Found, passage: Passage) -> list[str]:
    """Words of the passage that the question lacks and that set it apart in the library, most telling first."""
    asked = {text for term in found.prepared.counted for text in term.alternatives}
    said = candidates(Text(passage.text, passage.language))
    words = [(one.words[0], one.surface) for one in said if len(one.words) == 1 and one.words[0] not in asked]
    counts, shown = Counter(word for word, _ in words), dict(reversed(words))
    holding = found.snapshot.frequencies(BM25, list(counts))
    worth = _worth(counts, holding, found.snapshot.passage_count)
    return [shown[text] for text in sorted(worth, key=lambda text: (-worth[text], text))]


def _worth(counts: Mapping[str, int], holding: Mapping[str, int], passages: int) -> dict[str, float]:
    return {
        text: count / (count + _SATURATION) * float(np.log1p((passages - n + 0.5) / (n + 0.5)))
        for text, count in counts.items()
        if (n := holding.get(text, 0)) > 0
    }
