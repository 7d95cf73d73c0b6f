"""Hits larger or smaller than a passage: sections, documents, sentences.

A document (or a section: the passages of a document under one heading path) scores what its passages found score, best
first, each next one counting `DECAY` of the one before, and how near the mean of all its passages' vectors is to the
query: its own vector. Every channel's part is summed with the same factors, so the parts of a hit add up to its score.
A sentence scores what its passage does, and how near it is to the query itself.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from core.base.types import Hit, Level, ScorePart, Span
from core.encode.encoder import PASSAGE, Encoder
from core.index.dense import Floats
from core.index.snapshot import Snapshot
from core.search import fuse
from core.search.candidates import Ranking
from core.search.hits import parts as parts_of
from core.text.sentences import split

DOCUMENT, SENTENCE = "document", "sentence"  # names of the parts that the levels add
DECAY = 0.1
MOST_PASSAGES = 8  # of a document that count: the next ones would add nothing
MOST_MEMBERS = 100  # passages whose mean is a document's vector
VECTOR_WEIGHT = 0.1  # of the document's own vector; its passages have most of it already
SENTENCE_WEIGHT = 1.0
MOST_COMPARED = 30  # passages whose sentences are encoded
MOST_SENTENCES = 120
BUDGET_SECONDS = 0.25  # for sentences that were not met before; the best passages' come first
_AT_ONCE = 16  # sentences encoded between two looks at the clock: work for all threads
_KEPT = 4_000  # vectors of sentences

Scores = npt.NDArray[np.float64]
_Group = tuple[int, str]
_Sentence = tuple[int, str, str]  # number of the generation, language, text


@dataclass(frozen=True, slots=True)
class Grouped:
    """The best passage of each group, best group first, as a ranking; `parts` of each by that passage's id, and the
    ids of all the group's passages that were found, best first."""

    ranking: Ranking
    parts: Mapping[int, tuple[ScorePart, ...]]
    within: Mapping[int, tuple[int, ...]]

    def applied(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """The hits of the best passages with the scores of their groups."""
        return tuple(
            replace(hit, parts=parts, score=fuse.total([p.contribution for p in parts]), within=self.within[i])
            for hit, i, parts in ((hit, hit.passage.id, self.parts[hit.passage.id]) for hit in hits)
        )


def group(snapshot: Snapshot, ranking: Ranking, level: Level, vector: Floats | None) -> Grouped:
    """Gather the passages of `ranking` by section or document. Raises IndexDamaged.

    `vector` [D] is the query's as the index compares it, None when meaning takes no part.
    """
    groups: dict[_Group, list[int]] = {}
    keys = _keys(snapshot, ranking.ids.tolist(), level)
    for row, passage in enumerate(ranking.ids.tolist()):
        if passage in keys:
            groups.setdefault(keys[passage], []).append(row)
    rows = list(groups.values())
    own = _own_vectors(snapshot, list(groups), level, vector)
    parts = [_parts(ranking, some) for some in rows]
    if own is not None:
        rule = fuse.scale(DOCUMENT, own, VECTOR_WEIGHT)
        ranks = np.empty(len(own), np.int64)
        ranks[np.argsort(-own, kind="stable")] = np.arange(1, len(own) + 1)
        parts = [
            (*some, ScorePart(DOCUMENT, float(s), int(rank), VECTOR_WEIGHT, rule.contribution(float(s))))
            for some, s, rank in zip(parts, own, ranks, strict=True)
        ]
    totals = np.array([fuse.total([p.contribution for p in some]) for some in parts])
    order = np.argsort(-totals, kind="stable")
    best = np.array([rows[i][0] for i in order], np.int64)
    ids = [int(i) for i in ranking.ids[best]]
    return Grouped(
        _taken(ranking, best, totals[order]),
        {i: parts[at] for i, at in zip(ids, order, strict=True)},
        {i: tuple(int(p) for p in ranking.ids[rows[at]]) for i, at in zip(ids, order, strict=True)},
    )


def _taken(ranking: Ranking, rows: npt.NDArray[np.int64], totals: Scores) -> Ranking:
    return replace(
        ranking, ids=ranking.ids[rows], totals=totals, scores={c: s[rows] for c, s in ranking.scores.items()},
        parts={c: s[rows] for c, s in ranking.parts.items()},
    )  # fmt: skip


def _parts(ranking: Ranking, rows: Sequence[int]) -> tuple[ScorePart, ...]:
    """The channels' parts of a group with candidates in these rows, best first; raw scores are those of the best."""
    first = int(ranking.ids[rows[0]])
    scores = {c: float(s[rows[0]]) for c, s in ranking.scores.items()}
    made = []
    for part in parts_of(ranking, scores, first):
        values = ranking.parts[part.channel][list(rows[:MOST_PASSAGES])]
        made.append(replace(part, contribution=float(values @ DECAY ** np.arange(len(values)))))
    return tuple(made)


def _keys(snapshot: Snapshot, ids: Sequence[int], level: Level) -> dict[int, _Group]:
    """For each passage its document, and its heading path for sections."""
    found = {}
    for passage in ids:
        row = snapshot.db.execute("SELECT document_id, heading_path FROM passage WHERE id = ?", (passage,)).fetchone()
        if row is not None:
            found[passage] = (int(row[0]), str(row[1]) if level is Level.SECTION else "")
    return found


def _own_vectors(snapshot: Snapshot, groups: Sequence[_Group], level: Level, query: Floats | None) -> Scores | None:
    """Cosine of the query with each group's vector: the mean of those of all its passages that can be found."""
    if query is None or not groups:
        return None
    members = [_members(snapshot, one) for one in groups]
    every = np.concatenate(members)
    every = every[np.isin(every, snapshot.ids())]
    vectors = dict(zip(every.tolist(), snapshot.vectors(every).astype(np.float64), strict=True))
    found = np.zeros(len(groups))
    for at, ids in enumerate(members):
        mean = np.sum([vectors[i] for i in ids.tolist() if i in vectors], axis=0)
        found[at] = mean @ query.astype(np.float64) / max(float(np.linalg.norm(mean)), 1e-12)
    return found


def _members(snapshot: Snapshot, one: _Group) -> npt.NDArray[np.int64]:
    """The passages of a group; an even sample of a very long one."""
    document, headings = one
    sql = "SELECT id FROM passage WHERE document_id = ?" + (" AND heading_path = ?" if headings else "")
    values = (document, headings) if headings else (document,)
    ids = [i for (i,) in snapshot.db.execute(sql + " ORDER BY ordinal", values).fetchall()]
    return np.array(ids[:: -(-len(ids) // MOST_MEMBERS)], np.int64)


@dataclass
class Sentences:
    """Finds the best sentence of each hit; keeps the vectors of sentences that it met.

    To encode all sentences of thirty passages takes a large encoder seconds: it goes from the best passage on, and when
    `BUDGET_SECONDS` are over the others stay as they are. The same search goes on from there when it is asked again.
    """

    encoder: Encoder
    _vectors: OrderedDict[_Sentence, Floats] = field(default_factory=OrderedDict)

    def best(self, snapshot: Snapshot, hits: Sequence[Hit], vector: Floats | None) -> tuple[Hit, ...]:
        """The hits shown at their best sentence, those with the best passage and sentence first.

        Hits beyond the first `MOST_COMPARED` or the budget, and all of them without a query `vector`, stay as they are.
        """
        if vector is None:
            return tuple(hits)
        until, met = time.perf_counter() + BUDGET_SECONDS, True
        scored: list[tuple[float, Span]] = []
        for part in _rounds(list(zip(hits, self._spans(hits), strict=False))):
            keys = [_sentence(snapshot, hit, span) for hit, spans in part for span in spans]
            new = any(key not in self._vectors for key in keys)
            if new and not met and time.perf_counter() >= until:
                break
            met = met and not new
            cosines = iter((self._encoded(snapshot, keys).astype(np.float64) @ vector.astype(np.float64)).tolist())
            scored += [max(((next(cosines), span) for span in spans), key=lambda one: one[0]) for _, spans in part]
        self._forget()
        return _reordered(hits, scored) if scored else tuple(hits)

    def _spans(self, hits: Sequence[Hit]) -> list[list[Span]]:
        """The sentences of the best hits, whole passages only."""
        found: list[list[Span]] = []
        total = 0
        for hit in hits[:MOST_COMPARED]:
            some = [Span(*s) for s in split(hit.passage.text)] or [Span(0, len(hit.passage.text))]
            total += len(some)
            if found and total > MOST_SENTENCES:
                break
            found.append(some[:MOST_SENTENCES])
        return found

    def _encoded(self, snapshot: Snapshot, keys: Sequence[_Sentence]) -> Floats:
        """Unit vectors [S, D] as the index has its passages'."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._vectors]
        if missing:
            made = self.encoder.encode([text for *_, text in missing], kind=PASSAGE)
            if snapshot.means is not None:
                made = snapshot.means.passages(made, [language for _, language, _ in missing])
            self._vectors.update(zip(missing, made, strict=True))
        return np.stack([self._vectors[key] for key in keys])

    def _forget(self) -> None:
        while len(self._vectors) > _KEPT:
            self._vectors.popitem(last=False)


def _sentence(snapshot: Snapshot, hit: Hit, span: Span) -> _Sentence:
    return snapshot.generation.number, hit.passage.language, hit.passage.text[span.start : span.end]


def _rounds(hits: Sequence[tuple[Hit, list[Span]]]) -> Iterator[list[tuple[Hit, list[Span]]]]:
    """Whole passages in their order, about `_AT_ONCE` sentences at a time."""
    part: list[tuple[Hit, list[Span]]] = []
    for one in hits:
        part.append(one)
        if sum(len(spans) for _, spans in part) >= _AT_ONCE:
            yield part
            part = []
    if part:
        yield part


def _reordered(hits: Sequence[Hit], scored: Sequence[tuple[float, Span]]) -> tuple[Hit, ...]:
    values = np.array([score for score, _ in scored])
    rule = fuse.scale(SENTENCE, values, SENTENCE_WEIGHT)
    ranks = np.empty(len(values), np.int64)
    ranks[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    made = []
    for hit, (score, span), rank in zip(hits, scored, ranks.tolist(), strict=False):
        part = ScorePart(SENTENCE, score, rank, SENTENCE_WEIGHT, rule.contribution(score))
        parts = (*hit.parts, part)
        made.append(replace(hit, parts=parts, score=fuse.total([p.contribution for p in parts]), snippet=span))
    made.sort(key=lambda hit: -hit.score)
    every = (*made, *hits[len(made) :])
    return tuple(replace(hit, rank=place) for place, hit in enumerate(every, 1))
