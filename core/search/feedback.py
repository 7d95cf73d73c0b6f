"""Words that the best passages share, added to the words of a query: pseudo-relevance feedback.

The relevance model RM3 (Lavrenko & Croft 2001; Abdul-Jaleel et al. 2004): what the best passages of the first ranking
say most, more often than the library does, probably belongs to what was asked. The words of the query keep their
weights; what is added is shown in explanations like any other word.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.base.recent import Recent
from core.base.types import BM25, Passage
from core.index.snapshot import Ids, Scores, Snapshot
from core.text.analyze import QueryTerm, terms

PASSAGES = 10  # that are taken for relevant
WORDS = 30
LEAST_PASSAGES = 100  # of the library: in a smaller one the best passages are most of it
SHARE = 0.3  # of the whole query's weight that the added words have
_LOOKED_UP = 80  # words whose frequency in the library is asked for
_MOST_PASSAGES = 0.2  # share of the library beyond which a word tells nothing
_LEAST_LETTERS = 2
_HEARD = 4_096  # passages whose words are kept for the next queries


@dataclass(frozen=True, slots=True)
class Heard:
    """The words of a passage: how often each stands there, all together, and how it is written."""

    counts: Mapping[str, int]
    length: int
    shown: dict[str, str]


Memory = Recent[int, Heard]


def memory() -> Memory:
    """What passages say, for as long as the same ones may be met; a passage never changes."""
    return Recent(_HEARD)


def expansion(
    snapshot: Snapshot, query_terms: Sequence[QueryTerm], ids: Ids, totals: Scores, kept: Memory
) -> tuple[QueryTerm, ...]:
    """Words of the best of `ids` (best first, with their scores), weighted against the words of the query."""
    best = ids[:PASSAGES].tolist()
    if not best or not query_terms or snapshot.passage_count < LEAST_PASSAGES:
        return ()
    trust = np.exp(totals[: len(best)] - totals[0])
    said, shown = _relevance(_heard(snapshot, best, kept), dict(zip(best, (trust / trust.sum()).tolist(), strict=True)))
    known = {text for term in query_terms for text in term.alternatives}
    chosen = _telling(snapshot, {word: p for word, p in said.items() if word not in known})
    total = sum(said[word] for word in chosen)
    weight = SHARE / (1.0 - SHARE) * sum(term.weight for term in query_terms)
    return tuple(QueryTerm(shown[word], (word,), weight * said[word] / total) for word in chosen)


def _heard(snapshot: Snapshot, ids: Sequence[int], kept: Memory) -> dict[int, Heard]:
    """What these passages say."""
    missing = [id for id in ids if id not in kept]
    for id, passage in snapshot.passages(missing).items():
        kept.put(id, _taken_apart(passage))
    return {id: heard for id in ids if (heard := kept.get(id)) is not None}


def _taken_apart(passage: Passage) -> Heard:
    text = f"{passage.title}\n{passage.text}"
    found = terms(text, passage.language)
    shown: dict[str, str] = {}
    for term in found:
        shown.setdefault(term.text, text[term.start : term.end])
    return Heard(Counter(term.text for term in found), len(found), shown)


def _relevance(passages: dict[int, Heard], trust: dict[int, float]) -> tuple[dict[str, float], dict[str, str]]:
    """How likely each word is in a relevant passage, and how it is written there."""
    said: defaultdict[str, float] = defaultdict(float)
    shown: dict[str, str] = {}
    for id, heard in passages.items():
        for word, count in heard.counts.items():
            said[word] += trust[id] * count / heard.length
        shown = heard.shown | shown
    return said, shown


def _telling(snapshot: Snapshot, said: dict[str, float]) -> list[str]:
    """The words that set these passages apart from the library: likely here, and in few passages there."""
    longest = sorted((w for w in said if len(w) >= _LEAST_LETTERS), key=lambda w: (-said[w], w))[:_LOOKED_UP]
    holding = snapshot.frequencies(BM25, longest)
    passages = snapshot.passage_count
    worth = {
        word: said[word] * float(np.log1p((passages - count + 0.5) / (count + 0.5)))
        for word, count in holding.items()
        if 0 < count <= max(_MOST_PASSAGES * passages, 1)
    }
    return sorted(worth, key=lambda word: (-worth[word], word))[:WORDS]
