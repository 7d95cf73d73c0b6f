"""A query made ready: its words, what the encoder makes of it, what its concepts change, which passages may answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.base.errors import BadQuery, IndexDamaged
from core.base.types import BM25, CONCEPT, DENSE, LEXICAL, MULTI, STEER, Query
from core.encode.encoder import QUERY, Encoder
from core.index.snapshot import Ids, Snapshot
from core.search import filters as filtering
from core.search import fuse, phrases, steering, syntax, words
from core.search.candidates import Prepared
from core.search.concept_terms import with_concepts
from core.search.fuse import Fusing
from core.search.syntax import ParsedQuery
from core.text.analyze import QueryTerm, query_terms
from core.text.parts import query_parts

CHANNELS = (BM25, DENSE, LEXICAL, MULTI, CONCEPT)
MOST_WORDS = 256
MOST_CHARACTERS = 20_000  # of a query that are read for words
MOST_FACTOR = 1e6  # of a concept: sums stay exact
_CHARACTERS_A_TOKEN = 32  # no encoder sees more of a text than its tokens times this

DAMAGED = "The dense index is damaged: only words were compared. It can be rebuilt from the stored text."
_CUT = "The query is very long: only its beginning was searched."
_OTHER_ENCODER = "The index was made with another encoder: only words were compared until it is made again."


@dataclass(frozen=True, slots=True)
class Preparing:
    """Makes queries ready for one snapshot, whose `languages` are known; `strange` are those of them that the encoder
    does not know."""

    snapshot: Snapshot
    encoder: Encoder
    languages: Sequence[str]
    strange: frozenset[str]
    fusing: Fusing

    def allowed(self, query: Query, parsed: ParsedQuery) -> Ids | None:
        """The passages that its filters, phrases, exclusions and required concepts let through; None when it has none.

        A passage that more is wanted of is not among them. Raises BadQuery.
        """
        snapshot = self.snapshot
        filtered = filtering.allowed(snapshot.db, query.filters)
        allowed = phrases.allowed(snapshot, parsed, list(self.languages), filtered)
        if query.required:
            groups = steering.families(snapshot, query.required)
            holding = steering.required(steering.codes_of(snapshot), groups, query.required)
            allowed = np.intersect1d(snapshot.ids() if allowed is None else allowed, holding)
        if query.like is not None:
            allowed = np.setdiff1d(snapshot.ids() if allowed is None else allowed, [query.like])
        return allowed

    def wanted(self, query: Query) -> tuple[str, ...]:
        """The channels of the query that the library has; without any the library's own, those of weight 0 left out.
        Meaning alone for more like a passage."""
        if query.like is not None:
            return (DENSE,)
        weights = {**self.fusing.weights, **query.weights}
        own = [c for c in CHANNELS if c == BM25 or fuse.weight_of(c, weights) > 0]
        there = self.snapshot.channels
        return tuple(c for c in dict.fromkeys(query.channels or own) if c in there)

    def usable(self, query: Query, prepared: Prepared) -> tuple[str, ...]:
        """The query's channels that can be scored; words alone when none of them can. What steering adds beside them:
        the channel of concepts is steered itself."""
        channels = tuple(c for c in self.wanted(query) if prepared.can(c)) or (BM25,)
        by_terms = CONCEPT in channels and DENSE not in channels
        return (*channels, STEER) if prepared.can(STEER) and not by_terms else channels

    def prepare(self, query: Query) -> tuple[Prepared, list[str]]:
        """Words and vector of the query, what its factors for concepts change, and what the person should know.

        Among that is `DAMAGED` when the index could not be read. Raises BadQuery, and NotFound of a passage that more
        is wanted of.
        """
        weights = {**self.fusing.weights, **query.weights}
        prepared, notices = Prepared((), None, weights, strange=self.strange), list[str]()
        try:
            if query.like is not None:
                vector = steering.rebuilt(self.snapshot, query.like, query.because)
                prepared = replace(prepared, vector=vector)
            else:
                prepared = self._words(query, prepared, notices)
                prepared = self._encoded(query, prepared, notices)
                prepared = self._compared(query, prepared)
            return self._steered(query, prepared), notices
        except IndexDamaged:
            return replace(prepared, vector=None), [*notices, DAMAGED]

    def _words(self, query: Query, prepared: Prepared, notices: list[str]) -> Prepared:
        text, languages = query.text[:MOST_CHARACTERS], list(self.languages)
        terms = words.without_function_words(text, query_terms(text, languages, limit=MOST_WORDS), languages)
        if len(query.text) > MOST_CHARACTERS or len(terms) >= MOST_WORDS:
            notices.append(_CUT)
        return replace(prepared, terms=tuple(terms), parts=tuple(query_parts(terms, languages)))

    def _encoded(self, query: Query, prepared: Prepared, notices: list[str]) -> Prepared:
        """With what the encoder's heads make of the query."""
        wanted, made = self.wanted(query), self.snapshot.generation
        by_vector = (DENSE,) if query.boosts or CONCEPT in wanted else ()
        heads = [c for c in dict.fromkeys((*wanted, *by_vector)) if c in self.encoder.heads]
        if not heads or not made.segments:
            return prepared
        if made.encoder != self.encoder.id:
            notices.append(_OTHER_ENCODER)
            return prepared
        seen = query.text[: _CHARACTERS_A_TOKEN * self.encoder.max_tokens]
        return _by_heads(self.encoder, seen, heads, prepared)

    def _compared(self, query: Query, prepared: Prepared) -> Prepared:
        """With its vector as the index has its own, without what only tells the language; and its concepts."""
        if prepared.vector is None:
            return prepared
        prepared = replace(prepared, vector=self.snapshot.query_vector(prepared.vector))
        return with_concepts(self.snapshot, prepared) if CONCEPT in self.wanted(query) else prepared

    def _steered(self, query: Query, prepared: Prepared) -> Prepared:
        if not query.boosts or prepared.vector is None:
            return prepared
        changes = steering.of_query(self.snapshot, query.boosts, prepared.vector)
        terms = steering.reweighed(self.snapshot, query.boosts, prepared.vector, prepared.concepts)
        return replace(prepared, steered=changes, concepts=terms)


def _by_heads(encoder: Encoder, text: str, heads: Sequence[str], prepared: Prepared) -> Prepared:
    """With what the encoder's heads make of the query, all in one pass over the model."""
    if list(heads) == [DENSE]:
        return replace(prepared, vector=encoder.encode([text], kind=QUERY)[0])
    made = encoder.encode_heads([text], heads, kind=QUERY)
    lexical = () if made.lexical is None else tuple(QueryTerm(t, (t,), w) for t, w in made.lexical[0].items())
    return replace(
        prepared, vector=None if made.dense is None else made.dense[0], lexical=lexical,
        tokens=None if made.multi is None or len(made.multi[0]) == 0 else made.multi[0],
    )  # fmt: skip


def parse(query: Query) -> ParsedQuery:
    """What the query's text says. Raises BadQuery."""
    if not query.text.strip() and query.like is None:
        raise BadQuery("The query is empty.", "Type one or more words.")
    parsed = syntax.read(query)
    if not parsed.text.strip() and query.like is None:
        raise BadQuery("The query only says which passages to leave out or where to look.", "Add a word to look for.")
    unknown = [channel for channel in query.channels if channel not in CHANNELS]
    if unknown:
        raise BadQuery(f"Unknown channels: {', '.join(unknown)}.", f"Choose among {', '.join(CHANNELS)}.")
    if not all(abs(factor) <= MOST_FACTOR for factor in query.boosts.values()):  # nor is it for what is no number
        raise BadQuery("A concept cannot count so many times.", "Use a number such as 2, or 0.5 to let it count less.")
    return parsed
