"""One consistent view of the index: its segments, statistics and passages as of one generation.

Ordinals count through all segments of the snapshot. Every score depends on the living passages alone, not on
how they are spread over segments, and equal scores are ordered by (document path, external id, ordinal).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.base.errors import IndexDamaged, NotFound
from core.base.types import Generation, Passage
from core.index import generation, rows
from core.index.dense import DenseFile, Floats, Mask, Ordinals
from core.index.generation import NOTHING
from core.index.postings import LANGUAGE, SCHEMES, Weights, union
from core.store import passages
from core.store.database import known_errors, open_reader
from core.text.analyze import QueryTerm

Ids = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

_TIE = 1e-5  # FAISS sums in 32 bits: what is this close to the last candidate is scored again exactly
_OPEN_TRIES = 3


class Snapshot:
    """Use `Snapshot.open`; `close` when done. Not for two threads at a time."""

    def __init__(self, library: Path, db: Database, made: Generation, segments: list[rows.SegmentRow]) -> None:
        self.generation = made
        self._library, self._db = library, db
        self._segments = segments
        self._first = np.cumsum([0, *(len(s.passage_ids) for s in segments)])
        self._ids: Ids = np.concatenate([np.empty(0, np.int64), *(s.passage_ids for s in segments)])
        self._lengths = np.concatenate([np.empty(0, np.float32), *(s.lengths for s in segments)])
        self._by_id = np.argsort(self._ids, kind="stable")
        self._files: dict[int, DenseFile] = {}
        self._norms: dict[str, Weights] = {}
        self._version = self._data_version()
        self._load_living()

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
        self._files.clear()
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
        return self._living

    def ids(self) -> Ids:
        """The passages that can be found, in the order of (document path, external id, ordinal)."""
        return self._ids[self._in_order]

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
        for first, segment in zip(self._first, self._segments, strict=False):
            for language, found in rows.read_channel(self._db, segment.id, LANGUAGE).items():
                counts[language] = counts.get(language, 0) + int(self._alive[first + found.ordinals].sum())
        return sorted((c for c in counts if counts[c]), key=lambda c: (-counts[c], c))

    # dense

    def dense(self, vector: Floats, k: int, allowed: Ids | None = None) -> tuple[Ids, Scores]:
        """The `k` passages nearest to the unit `vector` [D] with their inner products, best first.

        `allowed` are passage ids to choose from (None: all).

        Raises:
            IndexDamaged: a dense file is lost or damaged.
        """
        vector = np.ascontiguousarray(vector, np.float32)
        mask = self.mask(allowed)
        ordinals = self._near(vector, k, mask)
        return self._best(ordinals, self._exact(vector, ordinals), k)

    def dense_scores(self, vector: Floats, ids: Ids) -> Scores:
        """Inner products of `vector` with these passages.

        Raises:
            NotFound: one is not in the snapshot.
            IndexDamaged
        """
        return self._exact(np.ascontiguousarray(vector, np.float32), self._ordinals(ids))

    def vector(self, passage_id: int) -> Floats:
        """The passage's dense vector [D]. Raises NotFound, IndexDamaged."""
        return self._rows(self._ordinals(np.array([passage_id])))[0]

    def vectors(self, ids: Ids) -> Floats:
        """The dense vectors [len(ids), D]. Raises NotFound, IndexDamaged."""
        return self._rows(self._ordinals(ids))

    # sparse

    def sparse(
        self, channel: str, query_terms: Sequence[QueryTerm], k: int, allowed: Ids | None = None
    ) -> tuple[Ids, Scores]:
        """The `k` passages with the largest positive scores in a sparse channel, best first."""
        return self.best(self.score_all(channel, query_terms), k, self.mask(allowed))

    def sparse_scores(self, channel: str, query_terms: Sequence[QueryTerm], ids: Ids) -> Scores:
        """Scores of these passages, 0 where no term is found. Raises NotFound."""
        return self.score_all(channel, query_terms)[self._ordinals(ids)]

    def score_all(self, channel: str, query_terms: Sequence[QueryTerm]) -> Scores:
        """Scores of a sparse channel by ordinal, 0 for passages without any of the terms."""
        scores = np.zeros(len(self._ids))
        for term in query_terms:
            ordinals, impacts = self.term_scores(channel, term)
            scores[ordinals] += impacts
        return scores

    def term_scores(self, channel: str, term: QueryTerm) -> tuple[Ordinals, Scores]:
        """One query word's part of the scores: the ordinals of the passages that hold it, ascending."""
        scheme = SCHEMES[channel]
        ordinals, weights = union([p for text in term.alternatives for p in self._postings(channel, text)])
        if self._living < len(self._ids):
            keep = self._alive[ordinals]
            ordinals, weights = ordinals[keep], weights[keep]
        if channel not in self._norms:
            self._norms[channel] = scheme.norms(self._lengths, self._average_length)
        factor = term.weight * scheme.idf(self._living, len(ordinals))
        return ordinals, factor * scheme.impacts(weights, self._norms[channel][ordinals])

    def best(self, scores: Scores, k: int, mask: Mask | None = None) -> tuple[Ids, Scores]:
        """The `k` passages with the largest positive of `scores` (by ordinal) that `mask` allows."""
        found = np.flatnonzero(scores > 0 if mask is None else (scores > 0) & mask)
        if len(found) > k > 0:
            last = np.partition(scores[found], len(found) - k)[len(found) - k]
            found = found[scores[found] >= last]
        return self._best(found, scores[found], k)

    # passages

    def passages(self, ids: Sequence[int]) -> dict[int, Passage]:
        """The passages of these ids; those no longer in the library are left out."""
        return passages.passages(self._db, ids)

    def mask(self, allowed: Ids | None) -> Mask:
        """Which ordinals may be found when only the passages `allowed` are asked for."""
        if allowed is None:
            return self._alive
        return self._alive & np.isin(self._ids, allowed)

    def ordinals(self, ids: Ids) -> Ordinals:
        """Where these passages stand in the snapshot. Raises NotFound."""
        return self._ordinals(ids)

    def tie_ranks(self, ids: Ids) -> Ids:
        """Places of these passages in the order of (document path, external id, ordinal). Raises NotFound."""
        return self._rank[self._ordinals(ids)]

    def _load_living(self) -> None:
        self._tombstones = rows.tombstones(self._db)
        order = rows.passages_in_order(self._db)
        rank = np.full(len(self._ids), np.iinfo(np.int64).max)
        if len(self._ids):
            place = np.searchsorted(self._ids, order, sorter=self._by_id).clip(max=len(self._ids) - 1)
            ordinals = self._by_id[place]
            known = self._ids[ordinals] == order
            rank[ordinals[known]] = np.flatnonzero(known)
        self._rank = rank
        self._alive: Mask = rank < np.iinfo(np.int64).max
        self._living = int(self._alive.sum())
        self._in_order = np.argsort(rank, kind="stable")[: self._living]
        total = float(self._lengths[self._alive].sum(dtype=np.float64))
        self._average_length = total / self._living if self._living else 0.0

    def _near(self, vector: Floats, k: int, mask: Mask) -> Ordinals:
        """At least the `k` nearest: all whose 32-bit score is not clearly below the k-th."""
        if k < 1:
            return np.empty(0, np.int64)
        parts = []
        for number, first, last in self._ranges():
            parts.append((number, first, self._file(number).top(vector, k, mask[first:last])))
        scores = np.concatenate([np.empty(0, np.float32), *(c.scores for _, _, c in parts)])
        if len(scores) == 0:
            return np.empty(0, np.int64)
        last_score = float(np.sort(scores)[-min(k, len(scores))]) - _TIE
        found = []
        for number, first, part in parts:
            ordinals = part.ordinals[part.scores > last_score]
            if not part.complete and len(ordinals) == len(part.ordinals):  # more may be as near as the last one
                ordinals = self._file(number).at_least(vector, last_score, mask[first : self._first[number + 1]])
            found.append(first + ordinals)
        return np.concatenate(found)

    def _exact(self, vector: Floats, ordinals: Ordinals) -> Scores:
        if len(ordinals) == 0:
            return np.empty(0)
        # row by row in 64 bits: the same number whatever else is scored with it
        return (self._rows(ordinals).astype(np.float64) * vector.astype(np.float64)).sum(axis=1)

    def _rows(self, ordinals: Ordinals) -> Floats:
        found = np.empty((len(ordinals), self.generation.dimension), np.float32)
        for number, first, last in self._ranges():
            inside = (ordinals >= first) & (ordinals < last)
            if inside.any():
                found[inside] = self._file(number).rows(ordinals[inside] - first)
        return found

    def _ranges(self) -> list[tuple[int, int, int]]:
        """Segment number, first ordinal, end of its ordinals."""
        bounds = self._first.tolist()
        return [(n, bounds[n], bounds[n + 1]) for n in range(len(self._segments))]

    def _file(self, number: int) -> DenseFile:
        if number not in self._files:
            file = self.generation.segments[number]
            path = self._library / file.dense_path
            self._files[number] = DenseFile(path, file.passages, self.generation.dimension)
        return self._files[number]

    def _postings(self, channel: str, term: str) -> list[tuple[Ordinals, Weights]]:
        found = []
        for first, segment in zip(self._first, self._segments, strict=False):
            postings = rows.read_postings(self._db, segment.id, channel, term)
            if postings is not None:
                found.append((first + postings.ordinals.astype(np.int64), postings.weights.astype(np.float64)))
        return found

    def _best(self, ordinals: Ordinals, scores: Scores, k: int) -> tuple[Ids, Scores]:
        order = np.lexsort((self._rank[ordinals], -scores))[:k]
        return self._ids[ordinals[order]], scores[order]

    def _ordinals(self, ids: Ids) -> Ordinals:
        ids = np.asarray(ids, np.int64)
        if len(self._ids) == 0 and len(ids):
            raise _not_found(int(ids[0]))
        place = np.searchsorted(self._ids, ids, sorter=self._by_id).clip(max=len(self._ids) - 1)
        ordinals = self._by_id[place]
        missing = (self._ids[ordinals] != ids) | ~self._alive[ordinals]
        if missing.any():
            raise _not_found(int(ids[missing][0]))
        return ordinals

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


def _not_found(passage_id: int) -> NotFound:
    return NotFound(f"There is no passage {passage_id} in the index.", "Search again: the library has changed.")
