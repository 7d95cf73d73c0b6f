"""The one query path: a query's text to ranked hits whose parts add up to their scores."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.base.errors import IndexDamaged
from core.base.events import Control
from core.base.types import (
    BM25,
    CONCEPT,
    DENSE,
    LEXICAL,
    Filters,
    Hit,
    Level,
    Query,
    SearchResult,
    Turn,
)
from core.encode.encoder import Encoder
from core.encode.load import languages as spoken_by
from core.index.dense import Floats
from core.index.snapshot import Ids, Snapshot
from core.models import adapted
from core.search import feedback, foreign, fuse, levels
from core.search.asking import arranged
from core.search.candidates import DEPTH, Prepared, Ranking, rank, scores_of
from core.search.concept_terms import concept_matches
from core.search.fold import Folded, fold, unfolded
from core.search.found import Found
from core.search.fuse import Fusing
from core.search.hits import hits as make_hits
from core.search.hits import parts as parts_of
from core.search.hits import token_matches, word_matches
from core.search.matching import MatchContext as MatchContext
from core.search.preparing import DAMAGED, Preparing, parse
from core.search.question_parts import parts
from core.search.rerank import Reading, Readings, Rerankers
from core.search.standalone import standalone
from core.search.syntax import ParsedQuery
from core.store.database import known_errors

MOST_LANGUAGES = 40  # more than there are stemmers: a language with one document must not be lost
_SPARE = 4  # passages beyond those wanted for an answer: some say the same, or crowd out other documents
_DEEPER = 4  # times as many candidates, when too few hits are left of them
_REMEMBERED = 8  # rankings kept, so that an explanation shows the parts of the very hit it explains

_LOST = "The index is damaged and cannot be searched. It can be rebuilt from the stored text."


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
            BadQuery: no text, an unknown channel, a bad date in the filters, concepts that the library does not have.
            NotFound: the passage to find more of is not in the index.
            IndexDamaged: it cannot be told which passages hold the words or concepts that must be there.
            NotALibrary, LibraryDamaged
            Cancelled: through `control`, while hits are read closely.
        """
        parsed, clock = parse(query), _Clock()
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
        allowed = self._preparing(snapshot).allowed(query, parsed)
        clock.lap("filter")
        prepared, notices = self._prepare(snapshot, query)
        clock.lap("encode")
        try:
            usable = self._preparing(snapshot).usable(query, prepared)
            reading = self._reading(snapshot, query)
            ranking, chosen = self._ranked(snapshot, query, prepared, usable, allowed, reading, control)
        except IndexDamaged:
            self._damaged = True
            notices.append(DAMAGED)
            prepared = replace(prepared, vector=None, tokens=None)
            ranking, chosen = self._ranked(snapshot, query, prepared, (BM25,), allowed)
        clock.lap("rank")
        hits = self._at_level(snapshot, query, prepared, ranking, chosen)
        if DENSE in ranking.scores:
            notices.append(foreign.notice([hit.passage.language for hit in hits], self._strange, self._encoder.id))
        self._remembered.append((written, ranking, hits))
        clock.lap("fetch")
        notice = " ".join(filter(None, notices))
        number = snapshot.generation.number
        out = max(ranking.filtered_out - int(query.like is not None), 0)  # the passage itself is none that is missed
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

        What asks for several things is searched in parts, too, and the passages come as an answer needs them
        (core.search.asking). Raises as `search`.
        """
        asked = Query(standalone(question, history), k=k + _SPARE, filters=filters, literal=True)
        texts = (asked.text, *parts(asked.text))
        results = [self.search(replace(asked, text=text), control) for text in texts]
        # without a snapshot the index is damaged
        return arranged(self._snapshot, results, k) if self._snapshot is not None else results[0]

    def ranking(self, query: Query, depth: int, without: int | None = None) -> Ranking:
        """At least `depth` candidates of each channel without their texts, for evaluation and training: read closely
        without a look at the clock, where the searcher has a reranker.

        The passage `without` is left out of everything, as if it were not in the library. Raises as `search`.
        """
        parsed, snapshot = parse(query), self.snapshot()
        query = parsed.asked(query)
        prepared, _ = self._prepare(snapshot, query)
        allowed = self._preparing(snapshot).allowed(query, parsed)
        if without is not None:
            allowed = np.setdiff1d(snapshot.ids() if allowed is None else allowed, [without])
        channels, fusing = self._preparing(snapshot).usable(query, prepared), self._fusing(snapshot)
        ranking = rank(snapshot, prepared, channels, max(DEPTH, depth), allowed, fusing, self._heard)
        reading = self._reading(snapshot, query, hurried=False)
        return ranking if reading is None else reading.apply(snapshot, ranking, prepared.weights)

    def query_vector(self, query: Query) -> Floats | None:
        """What the passages' vectors are compared with for `query` [D], None where meaning takes no part.

        Raises BadQuery, NotALibrary, IndexDamaged.
        """
        parsed, snapshot = parse(query), self.snapshot()
        return self._prepare(snapshot, replace(parsed.asked(query), channels=(DENSE,), boosts={}))[0].vector

    def context(self, query: Query, passage_id: int) -> MatchContext:
        """How `passage_id` scores for `query`, whether or not the search returned it.

        Where it stands for a hit (a sentence, section or document as well), the parts are those of the hit.

        Raises:
            NotFound: the passage is not in the index.
            BadQuery, NotALibrary, LibraryDamaged
        """
        parsed = parse(query)
        with known_errors(self._library):
            return self._context(self.snapshot(), query, parsed, passage_id)

    def _context(self, snapshot: Snapshot, written: Query, parsed: ParsedQuery, passage_id: int) -> MatchContext:
        query = parsed.asked(written)
        # the vectors are wanted even where the score has no dense part
        wanted = (*self._preparing(snapshot).wanted(query), DENSE)
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
        parsed = parse(query)
        with known_errors(self._library):
            snapshot, asked = self.snapshot(), parsed.asked(query)
            allowed = self._preparing(snapshot).allowed(asked, parsed)
            prepared, _ = self._prepare(snapshot, asked)
            hits: tuple[Hit, ...] = ()
            if tried:
                usable = self._preparing(snapshot).usable(asked, prepared)
                ranking, _ = self._ranked(snapshot, asked, prepared, usable, allowed)
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

    def _preparing(self, snapshot: Snapshot) -> Preparing:
        return Preparing(snapshot, self._encoder, self._languages, self._strange, self._fusing(snapshot))

    def _prepare(self, snapshot: Snapshot, query: Query) -> tuple[Prepared, list[str]]:
        prepared, notices = self._preparing(snapshot).prepare(query)
        self._damaged = self._damaged or DAMAGED in notices
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
