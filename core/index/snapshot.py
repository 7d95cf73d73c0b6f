"""One consistent view of the index: its segments, statistics and passages as of one generation.

Every score depends on the living passages alone, not on how they are spread over segments, and equal scores
are ordered by (document path, external id, ordinal).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.base.errors import IndexDamaged, ModelDamaged, ModelMissing
from core.base.types import BM25, CONCEPT, DENSE, LEXICAL, MULTI, Generation, Passage
from core.index import concept_codes, generation, rows
from core.index.concept_codes import ConceptCodes
from core.index.concept_coding import KEPT
from core.index.concept_model import ConceptModel
from core.index.dense import Floats, Mask, Ordinals
from core.index.generation import NOTHING
from core.index.members import Ids, Members
from core.index.multivector import MultiVectors
from core.index.nearest import Nearest
from core.index.neutral import Means
from core.index.neutral import read as read_means
from core.index.postings import LANGUAGE, SCHEMES
from core.index.sparse import Sparse, scores_at
from core.models import adapted
from core.store import passages
from core.store.database import known_errors, open_reader
from core.text.analyze import QueryTerm

Scores = npt.NDArray[np.float64]

_OPEN_TRIES = 3


class Snapshot:
    """Use `Snapshot.open`; `close` when done. Not for two threads at a time.

    Ids are passage ids; methods that take them raise NotFound for a passage that cannot be found here.
    Methods of the dense channel raise IndexDamaged when a file is lost or damaged.
    """

    def __init__(self, library: Path, db: Database, made: Generation, segments: list[rows.SegmentRow]) -> None:
        self.generation = made
        self._library, self._db, self._segments = library, db, segments
        self._version = self._data_version()
        self._tombstones = rows.tombstones(db)  # before the living ones: a delete in between makes this outdated
        self._members = Members([s.passage_ids for s in segments], rows.passages_in_order(db))
        self._nearest = Nearest(library, made, self._members)
        self._multi = MultiVectors(library, made, self._members)
        lengths = np.concatenate([np.empty(0, np.float32), *(s.lengths for s in segments)])
        self._code_channel = concept_codes.channel(made)
        self._sparse = Sparse(db, [s.id for s in segments], self._members, lengths, {CONCEPT: self._code_channel})

    @classmethod
    def open(cls, library: Path) -> Snapshot:
        """Open the current generation; a library into which nothing was put gives an empty snapshot.

        Raises:
            NotALibrary, IndexDamaged
        """
        db = open_reader(library, any_thread=True)
        try:
            with known_errors(library):
                made, segments = _load(library, db)
                return cls(library, db, made, segments)
        except BaseException:
            db.conn.close()
            raise

    def close(self) -> None:
        self._nearest.close()
        self._multi.close()
        self._db.conn.close()

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def db(self) -> Database:
        """The read-only connection of this snapshot."""
        return self._db

    @property
    def passage_count(self) -> int:
        """How many passages can be found."""
        return self._members.living

    @property
    def channels(self) -> frozenset[str]:
        """The channels that this index can score."""
        lexical = any(rows.has_channel(self._db, s.id, LEXICAL) for s in self._segments)
        multi = any(file.multi_path for file in self.generation.segments)
        concept = self._coded and (adapted.folder(self._library) / self.generation.concepts).is_dir()
        return frozenset(
            {BM25, DENSE}
            | ({LEXICAL} if lexical else set())
            | ({MULTI} if multi else set())
            | ({CONCEPT} if concept else set())
        )

    def ids(self) -> Ids:
        """The passages that can be found, in the order of (document path, external id, ordinal)."""
        return self._members.in_order

    def ordinals(self, ids: Ids) -> Ordinals:
        """Where these passages stand in the arrays of `term_scores` and `mask`."""
        return self._members.ordinals(ids)

    def tie_ranks(self, ids: Ids) -> Ids:
        """Places of these passages in the order of `ids()`."""
        return self._members.ranks[self._members.ordinals(ids)]

    def mask(self, allowed: Ids | None) -> Mask:
        """Which ordinals may be found when only the passages `allowed` are asked for (None: all)."""
        return self._members.mask(allowed)

    def passages(self, ids: Sequence[int]) -> dict[int, Passage]:
        """The passages of these ids; those no longer in the library are left out."""
        return passages.passages(self._db, ids)

    def hashes_of(self, ids: Sequence[int]) -> dict[int, str]:
        """What names the text that the encoder sees of these passages; those no longer in the library are left out."""
        return passages.hashes(self._db, ids)

    def languages_of(self, ids: Sequence[int]) -> dict[int, str]:
        """The languages of these passages; those no longer in the library are left out."""
        return passages.languages(self._db, ids)

    def outdated(self) -> bool:
        """Whether another generation became current or passages were deleted since this one was opened."""
        if (generation.current_number(self._library) or 0) != self.generation.number:
            return True
        version = self._data_version()
        if version == self._version:
            return False
        if not np.array_equal(rows.tombstones(self._db), self._tombstones):
            return True
        self._version = version
        return False

    def languages(self) -> list[str]:
        """The languages of the living passages, most frequent first."""
        counts: dict[str, int] = {}
        alive = self._members.alive
        for number, first, end in self._members.segments():
            for language, found in rows.read_channel(self._db, self._segments[number].id, LANGUAGE).items():
                counts[language] = counts.get(language, 0) + int(alive[first:end][found.ordinals].sum())
        return sorted((c for c in counts if counts[c]), key=lambda c: (-counts[c], c))

    # dense

    def dense(self, vector: Floats, k: int, allowed: Ids | None = None) -> tuple[Ids, Scores]:
        """The `k` passages nearest to the unit `vector` [D] with their inner products, best first.

        `allowed` are passage ids to choose from (None: all).
        """
        vector = np.ascontiguousarray(vector, np.float32)
        ordinals = self._nearest.candidates(vector, k, self.mask(allowed))
        return self._best(ordinals, self._nearest.scores(vector, ordinals), k)

    @cached_property
    def means(self) -> Means | None:
        """What was taken out of the dense vectors; None when they are the encoder's."""
        made = self.generation
        return read_means(self._library / made.means, made.dimension) if made.means else None

    def query_vector(self, vector: Floats) -> Floats:
        """An encoder's vector [D] of a query as it is compared with the passages' (`means` taken out)."""
        return vector if self.means is None else self.means.queries(vector[None, :])[0]

    def dense_scores(self, vector: Floats, ids: Ids) -> Scores:
        """Inner products of `vector` with these passages."""
        return self._nearest.scores(np.ascontiguousarray(vector, np.float32), self.ordinals(ids))

    def vector(self, passage_id: int) -> Floats:
        """The passage's dense vector [D]."""
        return self.vectors(np.array([passage_id]))[0]

    def vectors(self, ids: Ids) -> Floats:
        """The dense vectors [len(ids), D]."""
        return self._nearest.rows(self.ordinals(ids))

    # concepts

    @cached_property
    def _coded(self) -> bool:
        return bool(self._segments) and concept_codes.coded(
            self._db, self._code_channel, [s.id for s in self._segments]
        )

    @cached_property
    def codes(self) -> ConceptCodes | None:
        """The passages' concepts. None where the index has none, those of another encoder, or those of an older version
        that are made at the next commit; and where their model is lost or damaged, which the doctor tells of."""
        if not self._coded:
            return None
        with contextlib.suppress(ModelMissing, ModelDamaged):
            model = ConceptModel.load(adapted.folder(self._library) / self.generation.concepts)
            if model.decoder.shape[1] == self.generation.dimension:
                segments = [s.id for s in self._segments]
                kept = KEPT[self.generation.codes]
                return ConceptCodes(self._db, self._code_channel, segments, self._members, model, kept)
        return None

    # multi-vector

    def multi(self, tokens: Floats, k: int, allowed: Ids | None = None) -> tuple[Ids, Scores]:
        """The `k` passages with the largest MaxSim with the query's unit vectors `tokens` [T, M], best first.

        Candidates come by centroids: a passage that holds none near any query token is not found.
        """
        ordinals = self._multi.candidates(tokens, k, self.mask(allowed))
        return self._best(ordinals, self._multi.scores(tokens, ordinals), k)

    def multi_scores(self, tokens: Floats, ids: Ids) -> Scores:
        """MaxSim with these passages: the mean over query tokens of the largest inner product with a passage's token.

        Not a number for a passage whose token vectors are not kept.
        """
        return self._multi.scores(tokens, self.ordinals(ids))

    def multi_rerank(self, tokens: Floats, ids: Ids, best: int, until: float = float("inf")) -> Scores:
        """As `multi_scores` for all that can be among the `best` of these; estimates for the others, which are below.

        Past `until` (time.perf_counter) what is left is estimated too.
        """
        return self._multi.reranked(tokens, self.ordinals(ids), best, until)

    # sparse

    def sparse(
        self, channel: str, query_terms: Sequence[QueryTerm], k: int, allowed: Ids | None = None
    ) -> tuple[Ids, Scores]:
        """The `k` passages with the largest positive scores in a sparse channel, best first.

        Words that cannot lift a passage among them are only looked up: not all passages are touched.
        """
        words = self._sparse.words(channel, query_terms)
        ordinals, scores = self._sparse.top(words, k, None if allowed is None else self.mask(allowed))
        return self._best(ordinals, scores, k)

    def sparse_scores(self, channel: str, query_terms: Sequence[QueryTerm], ids: Ids) -> Scores:
        """Scores of these passages, 0 where no term is found."""
        return scores_at(self._sparse.words(channel, query_terms), self.ordinals(ids))

    def term_scores(self, channel: str, term: QueryTerm) -> tuple[Ordinals, Scores]:
        """One query word's part of the scores: the ordinals of the passages that hold it, ascending."""
        word = self._sparse.words(channel, [term])[0]
        return word.ordinals, word.scores()

    def most(self, channel: str, query_terms: Sequence[QueryTerm]) -> float:
        """What a passage would score that holds nothing but these words."""
        scheme = SCHEMES[channel]
        held = self._sparse.words(channel, query_terms)
        rarity = [
            t.weight * scheme.idf(self.passage_count, len(w.ordinals)) for t, w in zip(query_terms, held, strict=True)
        ]
        return sum(rarity) * ((scheme.k1 or 0.0) + 1.0)

    def frequencies(self, channel: str, terms: Sequence[str]) -> dict[str, int]:
        """In how many passages each of these index terms stands."""
        return self._sparse.frequencies(channel, terms)

    def _best(self, ordinals: Ordinals, scores: Scores, k: int) -> tuple[Ids, Scores]:
        order = (-scores).argsort()
        ranked = scores[order]
        if np.count_nonzero(ranked[1:] == ranked[:-1]):  # seldom
            order = np.lexsort((self._members.ranks[ordinals], -scores))
        return self._members.ids[ordinals[order[:k]]], ranked[:k]

    def _data_version(self) -> int:
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])


def _load(library: Path, db: Database) -> tuple[Generation, list[rows.SegmentRow]]:
    """The current manifest with its segment rows; tried again when a writer removes them in between."""
    for _ in range(_OPEN_TRIES):
        made = generation.current(library) or NOTHING
        found = [rows.read_segment(db, file.segment) for file in made.segments]
        segments = [row for row in found if row is not None]
        if len(segments) == len(found):
            return made, segments
    raise IndexDamaged(
        "A segment of the index is lost.", "Repair the library: the index is made again from the stored text."
    )
