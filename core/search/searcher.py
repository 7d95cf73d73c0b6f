"""The one query path: a query's text to ranked hits whose parts add up to their scores."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from core.base.errors import BadQuery, IndexDamaged
from core.base.events import Control
from core.base.types import (
    BM25,
    CONCEPT,
    DENSE,
    LEXICAL,
    MULTI,
    STEER,
    Filters,
    Hit,
    Level,
    Passage,
    Query,
    ScorePart,
    SearchResult,
    TermMatch,
    Turn,
)
from core.encode.encoder import QUERY, Encoder
from core.encode.load import languages as spoken_by
from core.index.dense import Floats
from core.index.neutral import Means
from core.index.snapshot import Ids, Snapshot
from core.models import adapted
from core.search import feedback, foreign, fuse, levels, phrases, steering, syntax, words
from core.search import filters as filtering
from core.search.candidates import DEPTH, Prepared, Ranking, rank, scores_of
from core.search.concept_terms import concept_matches, with_concepts
from core.search.fold import Folded, fold, unfolded
from core.search.found import Found
from core.search.fuse import Fusing, Rule
from core.search.hits import hits as make_hits
from core.search.hits import parts as parts_of
from core.search.hits import token_matches, word_matches
from core.search.rerank import Reading, Readings, Rerankers
from core.search.standalone import standalone
from core.search.syntax import ParsedQuery
from core.store.database import known_errors
from core.text.analyze import QueryTerm, query_terms
from core.text.parts import query_parts

CHANNELS = (BM25, DENSE, LEXICAL, MULTI, CONCEPT)
MOST_LANGUAGES = 40  # more than there are stemmers: a language with one document must not be lost
MOST_WORDS = 256
MOST_CHARACTERS = 20_000  # of a query that are read for words
_DEEPER = 4  # times as many candidates, when too few hits are left of them
_CHARACTERS_A_TOKEN = 32  # no encoder sees more of a text than its tokens times this
_REMEMBERED = 8  # rankings kept, so that an explanation shows the parts of the very hit it explains

_CUT = "The query is very long: only its beginning was searched."
_DAMAGED = "The dense index is damaged: only words were compared. It can be rebuilt from the stored text."
_LOST = "The index is damaged and cannot be searched. It can be rebuilt from the stored text."
_OTHER_ENCODER = "The index was made with another encoder: only words were compared until it is made again."


@dataclass(frozen=True, slots=True)
class MatchContext:
    """All that an explanation of one passage's score needs.

    `parts` add up to `score`, `terms` to the BM25 part's raw score, `tokens` to the lexical part's. The vectors [D]
    are unit vectors, None when the index has no dense part that fits the encoder.
    """

    query: Query
    passage: Passage
    score: float
    parts: tuple[ScorePart, ...]
    terms: tuple[TermMatch, ...]
    query_vector: Floats | None
    passage_vector: Floats | None
    dense_score: float
    tokens: tuple[TermMatch, ...] = ()
    means: Means | None = None  # what was taken out of both vectors
    rules: Mapping[str, Rule] = field(default_factory=dict)  # what makes contributions of the channels' scores
    steering: Mapping[int, float] = field(default_factory=dict)  # concept -> what steering it adds to the dense score
    concepts: Mapping[int, float] = field(default_factory=dict)  # latent -> its part of the concept part's raw score


class Searcher:
    """Searches one library; opens the newest generation by itself. Not for two threads at a time."""

    def __init__(
        self, library: Path, encoder: Encoder, fusing: Fusing | None = None, rerankers: Rerankers = lambda name: None,
        promised: Callable[[str], bool] = bool,
    ) -> None:  # fmt: skip
        """Without `fusing` the weights are those that the library was calibrated to; without `rerankers` nothing is
        read closely. `promised` tells without opening it whether a named reranker can be expected to open.

        Raises:
            NotALibrary, IndexDamaged
        """
        self._library = library
        self._encoder = encoder
        self._given = fusing
        self._rerankers, self._promised, self._readings = rerankers, promised, Readings()
        self._sentences = levels.Sentences(encoder)
        self._remembered: deque[tuple[Query, Ranking, tuple[Hit, ...]]] = deque(maxlen=_REMEMBERED)
        self._heard = feedback.memory()
        self._snapshot: Snapshot | None = None
        self._damaged = False
        self._languages: list[str] = []
        self._strange: frozenset[str] = frozenset()  # those of them that the encoder does not know

    @property
    def damaged(self) -> bool:
        """Whether the last search met a damaged index file."""
        return self._damaged

    @property
    def encoder(self) -> Encoder:
        return self._encoder

    @property
    def reads_closely(self) -> bool:
        """Whether there is a reranker. Raises NotALibrary, IndexDamaged."""
        return self._rerankers(self.snapshot().generation.reranker) is not None

    def snapshot(self) -> Snapshot:
        """The snapshot that queries run on, the newest one. Raises NotALibrary, IndexDamaged."""
        if self._snapshot is None or self._snapshot.outdated():
            self.reopen()
        assert self._snapshot is not None
        return self._snapshot

    def reopen(self) -> None:
        self.close()
        self._snapshot = Snapshot.open(self._library)
        self._languages = self._snapshot.languages()[:MOST_LANGUAGES]
        self._strange = foreign.strange(spoken_by(self._encoder.id, adapted.folder(self._library)), self._languages)
        self._remembered.clear()
        self._damaged = False

    def close(self) -> None:
        if self._snapshot is not None:
            self._snapshot.close()
            self._snapshot = None

    def search(self, query: Query, control: Control | None = None) -> SearchResult:
        """The best `query.k` passages.

        A damaged index answers with what remains (the words, or nothing): the result says so in `notice`, and
        `damaged` is set until the index is opened again.

        Raises:
            BadQuery: no text, an unknown channel, a bad date in the filters.
            NotALibrary, LibraryDamaged
            Cancelled: through `control`, while hits are read closely.
        """
        parsed, clock = _parsed(query), _Clock()
        with known_errors(self._library):
            try:
                snapshot = self.snapshot()
            except IndexDamaged:
                self._damaged = True
                return SearchResult(query, (), 0, clock.laps(), notice=_LOST)
            clock.lap("open")
            return self._search(snapshot, query, parsed, clock, control)

    def _search(
        self, snapshot: Snapshot, written: Query, parsed: ParsedQuery, clock: _Clock, control: Control | None = None
    ) -> SearchResult:
        query = parsed.asked(written)
        allowed = self._allowed(snapshot, query, parsed)
        clock.lap("filter")
        prepared, notices = self._prepare(snapshot, query)
        clock.lap("encode")
        try:
            usable = self._usable(snapshot, query, prepared)
            reading = self._reading(snapshot, query)
            ranking, chosen = self._ranked(snapshot, query, prepared, usable, allowed, reading, control)
        except IndexDamaged:
            self._damaged = True
            notices.append(_DAMAGED)
            prepared = replace(prepared, vector=None, tokens=None)
            ranking, chosen = self._ranked(snapshot, query, prepared, (BM25,), allowed)
        clock.lap("rank")
        hits = self._at_level(snapshot, query, prepared, ranking, chosen)
        if DENSE in ranking.scores:
            notices.append(foreign.notice([hit.passage.language for hit in hits], self._strange, self._encoder.id))
        self._remembered.append((written, ranking, hits))
        clock.lap("fetch")
        notice = " ".join(filter(None, notices))
        number, out = snapshot.generation.number, ranking.filtered_out
        closer = len(hits) > 1 and self._could_read(snapshot, query, ranking)
        return SearchResult(written, hits, number, clock.laps(), out, notice, parsed.understood, parsed.places, closer)

    def _at_level(
        self, snapshot: Snapshot, query: Query, prepared: Prepared, ranking: Ranking, chosen: Sequence[Folded]
    ) -> tuple[Hit, ...]:
        """The hits as large as they are asked for."""
        vector = prepared.vector if DENSE in ranking.scores else None
        if query.level in (Level.SECTION, Level.DOCUMENT):
            grouped = levels.group(snapshot, ranking, query.level, vector)
            show = fold if query.fold else unfolded
            chosen = show(snapshot, grouped.ranking, query.filters, query.k)
            return grouped.applied(make_hits(snapshot, grouped.ranking, prepared, chosen))
        hits = make_hits(snapshot, ranking, prepared, chosen)
        return self._sentences.best(snapshot, hits, vector) if query.level is Level.SENTENCE else hits

    def _could_read(self, snapshot: Snapshot, query: Query, ranking: Ranking) -> bool:
        """Whether reading the best candidates closely, which was not wished for, could order them otherwise."""
        wished = query.rerank or query.channels
        several = len(ranking.scores) > 1 and not self._damaged
        return not wished and several and self._promised(snapshot.generation.reranker)

    def retrieve(
        self, question: str, history: Sequence[Turn], filters: Filters, k: int, control: Control | None = None
    ) -> SearchResult:
        """Search for a question of a conversation; the result's `query.text` is the stand-alone question.

        Raises as `search`.
        """
        return self.search(Query(standalone(question, history), k=k, filters=filters, literal=True), control)

    def ranking(self, query: Query, depth: int, without: int | None = None) -> Ranking:
        """At least `depth` candidates of each channel without their texts, for evaluation and training: read closely
        without a look at the clock, where the searcher has a reranker.

        The passage `without` is left out of everything, as if it were not in the library. Raises as `search`.
        """
        parsed, snapshot = _parsed(query), self.snapshot()
        query = parsed.asked(query)
        prepared, _ = self._prepare(snapshot, query)
        allowed = self._allowed(snapshot, query, parsed)
        if without is not None:
            allowed = np.setdiff1d(snapshot.ids() if allowed is None else allowed, [without])
        channels, fusing = self._usable(snapshot, query, prepared), self._fusing(snapshot)
        ranking = rank(snapshot, prepared, channels, max(DEPTH, depth), allowed, fusing, self._heard)
        reading = self._reading(snapshot, query, hurried=False)
        return ranking if reading is None else reading.apply(snapshot, ranking, prepared.weights)

    def query_vector(self, query: Query) -> Floats | None:
        """What the passages' vectors are compared with for `query` [D], None where meaning takes no part.

        Raises BadQuery, NotALibrary, IndexDamaged.
        """
        parsed, snapshot = _parsed(query), self.snapshot()
        return self._prepare(snapshot, replace(parsed.asked(query), channels=(DENSE,), boosts={}))[0].vector

    def context(self, query: Query, passage_id: int) -> MatchContext:
        """How `passage_id` scores for `query`, whether or not the search returned it.

        Where it stands for a hit (a sentence, section or document as well), the parts are those of the hit.

        Raises:
            NotFound: the passage is not in the index.
            BadQuery, NotALibrary, LibraryDamaged
        """
        parsed = _parsed(query)
        with known_errors(self._library):
            return self._context(self.snapshot(), query, parsed, passage_id)

    def _context(self, snapshot: Snapshot, written: Query, parsed: ParsedQuery, passage_id: int) -> MatchContext:
        query = parsed.asked(written)
        # the vectors are wanted even where the score has no dense part
        wanted = (*self._wanted(snapshot, query), DENSE)
        prepared, _ = self._prepare(snapshot, replace(query, channels=wanted))
        ranking, hits = self._found(snapshot, written, parsed)
        parts = next((hit.parts for hit in hits if hit.passage.id == passage_id), None)
        if parts is None:
            scores = scores_of(snapshot, prepared, tuple(ranking.scores), ranking, passage_id)
            parts = parts_of(ranking, scores, passage_id)
        passage = snapshot.passages([passage_id])[passage_id]
        vector, dense_score = None, 0.0
        if prepared.vector is not None:
            vector = snapshot.vector(passage_id)
            dense_score = float(snapshot.dense_scores(prepared.vector, np.array([passage_id]))[0])
        score = fuse.total([part.contribution for part in parts])
        terms = word_matches(snapshot, prepared, ranking, passage)
        tokens = token_matches(snapshot, prepared, passage) if LEXICAL in ranking.scores else ()
        means = None if prepared.vector is None else snapshot.means
        return MatchContext(
            query, passage, score, parts, terms, prepared.vector, vector, dense_score, tokens, means, ranking.rules,
            {} if prepared.steered is None else prepared.steered.by_concept(passage_id),
            concept_matches(snapshot, prepared.concepts, passage_id) if CONCEPT in ranking.scores else {},
        )  # fmt: skip

    def found(self, query: Query, *, tried: bool = False) -> Found:
        """What a search for `query` found, with all that it was found by; the last ones are remembered.

        With `tried` it is only looked how the candidates would rank: no hits are made, none are read closely.

        Raises:
            BadQuery, NotALibrary, LibraryDamaged, IndexDamaged
        """
        parsed = _parsed(query)
        with known_errors(self._library):
            snapshot, asked = self.snapshot(), parsed.asked(query)
            allowed = self._allowed(snapshot, asked, parsed)
            prepared, _ = self._prepare(snapshot, asked)
            hits: tuple[Hit, ...] = ()
            if tried:
                ranking, _ = self._ranked(snapshot, asked, prepared, self._usable(snapshot, asked, prepared), allowed)
            else:
                ranking, hits = self._found(snapshot, query, parsed)
            languages = tuple(self._languages)
            return Found(query, asked, parsed, snapshot, languages, prepared, ranking, hits, allowed)

    def _found(self, snapshot: Snapshot, written: Query, parsed: ParsedQuery) -> tuple[Ranking, tuple[Hit, ...]]:
        """What a search found; it is made again where it was not among the last ones."""
        found = next((one for one in reversed(self._remembered) if one[0] == written), None)
        if found is None:
            self._search(snapshot, written, parsed, _Clock())
            found = self._remembered[-1]
        return found[1:]

    def _allowed(self, snapshot: Snapshot, query: Query, parsed: ParsedQuery) -> Ids | None:
        """The passages that its filters, phrases and exclusions let through; None when it has none."""
        filtered = filtering.allowed(snapshot.db, query.filters)
        allowed = phrases.allowed(snapshot, parsed, self._languages, filtered)
        if query.required:
            groups = steering.families(snapshot, query.required)
            holding = steering.required(steering.codes_of(snapshot), groups, query.required)
            allowed = np.intersect1d(snapshot.ids() if allowed is None else allowed, holding)
        if query.like is not None:
            allowed = np.setdiff1d(snapshot.ids() if allowed is None else allowed, [query.like])
        return allowed

    def _prepare(self, snapshot: Snapshot, query: Query) -> tuple[Prepared, list[str]]:
        """Words and vector of the query, what its factors for concepts change, and what the person should know."""
        if query.like is None:
            prepared, notices = self._of_text(snapshot, query)
        else:
            weights = {**self._fusing(snapshot).weights, **query.weights}
            prepared, notices = Prepared((), None, weights, strange=self._strange), []
        try:
            if query.like is not None:
                prepared = replace(prepared, vector=steering.rebuilt(snapshot, query.like, query.because))
            if query.boosts and prepared.vector is not None:
                changes = steering.of_query(snapshot, query.boosts, prepared.vector)
                terms = steering.reweighed(snapshot, query.boosts, prepared.vector, prepared.concepts)
                prepared = replace(prepared, steered=changes, concepts=terms)
        except IndexDamaged:
            self._damaged = True
            notices.append(_DAMAGED)
            prepared = replace(prepared, vector=None)
        return prepared, notices

    def _of_text(self, snapshot: Snapshot, query: Query) -> tuple[Prepared, list[str]]:
        """Words and vector of the query's text, and what the person should know of them."""
        text = query.text[:MOST_CHARACTERS]
        terms = words.without_function_words(
            text, query_terms(text, self._languages, limit=MOST_WORDS), self._languages
        )
        notices = [_CUT] if len(query.text) > MOST_CHARACTERS or len(terms) >= MOST_WORDS else []
        weights = {**self._fusing(snapshot).weights, **query.weights}
        parts = tuple(query_parts(terms, self._languages))
        prepared = Prepared(tuple(terms), None, weights, strange=self._strange, parts=parts)
        wanted = self._wanted(snapshot, query)
        by_vector = (DENSE,) if query.boosts or CONCEPT in wanted else ()
        heads = [c for c in dict.fromkeys((*wanted, *by_vector)) if c in self._encoder.heads]
        if heads and snapshot.generation.segments:
            if snapshot.generation.encoder == self._encoder.id:
                seen = query.text[: _CHARACTERS_A_TOKEN * self._encoder.max_tokens]
                prepared = _encoded(self._encoder, seen, heads, prepared)
                try:
                    prepared = _neutral(snapshot, prepared)
                    if CONCEPT in wanted:
                        prepared = with_concepts(snapshot, prepared)
                except IndexDamaged:
                    self._damaged = True
                    notices.append(_DAMAGED)
                    prepared = replace(prepared, vector=None)
            else:
                notices.append(_OTHER_ENCODER)
        return prepared, notices

    def _reading(self, snapshot: Snapshot, query: Query, *, hurried: bool = True) -> Reading | None:
        """Of the library's own channels together, where there is a reranker and it is wished for; a hurried one that
        is known is gone on with."""
        wished = query.rerank and not query.channels and query.like is None
        reranker = None if not wished else self._rerankers(snapshot.generation.reranker)
        if reranker is None:
            return None
        made = Reading(reranker, query.text, self._fusing(snapshot), hurried)
        return self._readings.of(snapshot.generation.number, query, made) if hurried else made

    def _fusing(self, snapshot: Snapshot) -> Fusing:
        return self._given or Fusing(weights=snapshot.generation.fusion)

    def _wanted(self, snapshot: Snapshot, query: Query) -> tuple[str, ...]:
        """The channels of the query that the library has; without any the library's own, those of weight 0 left out.
        Meaning alone for more like a passage."""
        if query.like is not None:
            return (DENSE,)
        weights = {**self._fusing(snapshot).weights, **query.weights}
        own = [c for c in CHANNELS if c == BM25 or fuse.weight_of(c, weights) > 0]
        return tuple(c for c in dict.fromkeys(query.channels or own) if c in snapshot.channels)

    def _usable(self, snapshot: Snapshot, query: Query, prepared: Prepared) -> tuple[str, ...]:
        """The query's channels that can be scored; words alone when none of them can."""
        channels = tuple(c for c in self._wanted(snapshot, query) if prepared.can(c)) or (BM25,)
        by_terms = CONCEPT in channels and DENSE not in channels  # which are steered themselves
        return (*channels, STEER) if prepared.can(STEER) and not by_terms else channels

    def _ranked(
        self, snapshot: Snapshot, query: Query, prepared: Prepared, channels: Sequence[str], allowed: Ids | None,
        reading: Reading | None = None, control: Control | None = None,
    ) -> tuple[Ranking, list[Folded]]:  # fmt: skip
        """Candidates, and the best `query.k` of them to show: deeper where copies and versions fold into too few."""
        depth, fusing = max(DEPTH, query.k), self._fusing(snapshot)
        while True:
            ranking = rank(snapshot, prepared, channels, depth, allowed, fusing, self._heard)
            if reading is not None:
                ranking = reading.apply(snapshot, ranking, prepared.weights, control)
            if not query.fold:
                return ranking, unfolded(snapshot, ranking, query.filters, query.k)
            found = fold(snapshot, ranking, query.filters, query.k)
            if len(found) >= query.k or len(ranking.ids) < depth:
                return ranking, found
            depth *= _DEEPER


class _Clock:
    """Milliseconds per stage."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self._laps[stage] = round(1000 * (now - self._last), 3)
        self._last = now

    def laps(self) -> dict[str, float]:
        return {**self._laps, "total": round(1000 * (self._last - self._start), 3)}


def _parsed(query: Query) -> ParsedQuery:
    """What the query's text says. Raises BadQuery."""
    if not query.text.strip() and query.like is None:
        raise BadQuery("The query is empty.", "Type one or more words.")
    parsed = syntax.read(query)
    if not parsed.text.strip() and query.like is None:
        raise BadQuery("The query only says which passages to leave out or where to look.", "Add a word to look for.")
    unknown = [channel for channel in query.channels if channel not in CHANNELS]
    if unknown:
        raise BadQuery(f"Unknown channels: {', '.join(unknown)}.", f"Choose among {', '.join(CHANNELS)}.")
    return parsed


def _neutral(snapshot: Snapshot, prepared: Prepared) -> Prepared:
    """With the dense vector as the index has its own: without what only tells the language."""
    if prepared.vector is None:
        return prepared
    return replace(prepared, vector=snapshot.query_vector(prepared.vector))


def _encoded(encoder: Encoder, text: str, heads: Sequence[str], prepared: Prepared) -> Prepared:
    """With what the encoder's heads make of the query, all in one pass over the model."""
    if list(heads) == [DENSE]:
        return replace(prepared, vector=encoder.encode([text], kind=QUERY)[0])
    made = encoder.encode_heads([text], heads, kind=QUERY)
    lexical = () if made.lexical is None else tuple(QueryTerm(t, (t,), w) for t, w in made.lexical[0].items())
    return replace(
        prepared, vector=None if made.dense is None else made.dense[0], lexical=lexical,
        tokens=None if made.multi is None or len(made.multi[0]) == 0 else made.multi[0],
    )  # fmt: skip
