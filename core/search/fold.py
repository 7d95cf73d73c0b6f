"""Folding: passages that say the same in copies and versions of a document become one hit, the newest one shown.

Two passages say the same when the encoder saw the same of them (title, headings, text), or when their documents are of
one family and they share most of their words. A document stands in a hit at most once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from sqlite_utils import Database

from core.base.types import RERANK, Copy, Filters
from core.index.snapshot import Snapshot
from core.search import filters as filtering
from core.search.candidates import Ranking

LEAST_WORDS_IN_COMMON = 0.7  # Jaccard of the words of two passages of one family
_LEAST_DEPTH, _DEPTH = 60, 4  # candidates looked at: so many, or so many times k
_BATCH = 500
# words as they stand; in scripts without spaces each character counts as one
_WORDS = re.compile("[\u0e01-\u0e5b\u3041-\u30ff\u3400-\u9fff]|[^\\W\u0e01-\u0e5b\u3041-\u30ff\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Place:
    """A document in which a passage stands, as itself or as a copy of the one that holds it."""

    document_id: int
    path: str
    external_id: str
    title: str
    mtime_ns: int
    modified: str  # told by the document itself

    @property
    def age(self) -> tuple[int, str]:
        return self.mtime_ns, self.modified


@dataclass(frozen=True, slots=True)
class Folded:
    """One hit to be: the row of its passage in the ranking, where it is shown, and where else it stands."""

    row: int
    passage_id: int
    shown: Place
    copies: tuple[Copy, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    row: int
    id: int
    hash: str
    owner: int
    family: int | None


def fold(snapshot: Snapshot, ranking: Ranking, filters: Filters, k: int) -> list[Folded]:
    """`k` hits to be, by the score of the passage shown; fewer when all candidates fold into fewer.

    Passages that say the same rank near each other: the best candidates alone are looked at while they are enough.
    Where only others of them were read closely, the hit has the place of the best one that was.
    """
    read = _read_closely(ranking)
    depth = max(_LEAST_DEPTH, _DEPTH * k)
    while True:
        found = _fold(snapshot, ranking.ids[:depth].tolist(), filters, read)
        if len(found) >= k or depth >= len(ranking.ids):
            return found[:k]
        depth *= 4


def _read_closely(ranking: Ranking) -> frozenset[int]:
    """Rows of the candidates that the reranker read."""
    scores = ranking.scores.get(RERANK)
    return frozenset() if scores is None else frozenset(np.flatnonzero(~np.isnan(scores)).tolist())


def _fold(snapshot: Snapshot, ids: list[int], filters: Filters, read: frozenset[int]) -> list[Folded]:
    candidates = _candidates(snapshot.db, ids)
    groups = _groups(snapshot, candidates)
    places = _places(snapshot.db, {c.owner for c in candidates}, filters)
    found = [(_folded(group, places), group) for group in groups]
    placed = [(_place(one.row, group, read), one) for one, group in found if one]
    return [one for _, one in sorted(placed, key=lambda both: both[0])]


def _place(shown: int, group: Sequence[_Candidate], read: frozenset[int]) -> int:
    """The row whose place a hit has: that of the passage shown, unless only others of its group were read closely."""
    return shown if shown in read else min((c.row for c in group if c.row in read), default=shown)


def unfolded(snapshot: Snapshot, ranking: Ranking, filters: Filters, k: int) -> list[Folded]:
    """The first `k` candidates, each a hit of its own."""
    candidates = _candidates(snapshot.db, ranking.ids[:k].tolist())
    places = _places(snapshot.db, {c.owner for c in candidates}, filters)
    shown = [(c, _owner_first(c.owner, places.get(c.owner, ()))) for c in candidates]
    return [Folded(c.row, c.id, place) for c, place in shown if place is not None]


def _owner_first(owner: int, places: Sequence[Place]) -> Place | None:
    return next((p for p in places if p.document_id == owner), min(places, key=lambda p: p.path, default=None))


def _candidates(db: Database, ids: Sequence[int]) -> list[_Candidate]:
    """In the order of `ids`; passages deleted meanwhile are left out."""
    known = {}
    for part, marks in _parts(ids):
        sql = (
            "SELECT p.id, p.hash, p.document_id, d.family FROM passage p JOIN document d ON d.id = p.document_id "
            f"WHERE p.id IN ({marks})"
        )
        known.update({row[0]: row[1:] for row in db.execute(sql, part).fetchall()})
    return [_Candidate(row, i, *known[i]) for row, i in enumerate(ids) if i in known]


def _groups(snapshot: Snapshot, candidates: Sequence[_Candidate]) -> list[list[_Candidate]]:
    words = _Words(snapshot, candidates)
    groups: list[list[_Candidate]] = []
    by_hash: dict[str, list[list[_Candidate]]] = {}
    by_family: dict[int, list[list[_Candidate]]] = {}
    for candidate in candidates:
        group = _equal(candidate, by_hash.get(candidate.hash, ()))
        if group is None and candidate.family is not None:
            group = _alike(candidate, by_family.get(candidate.family, ()), words)
        if group is None:
            group = []
            groups.append(group)
            if candidate.family is not None:
                by_family.setdefault(candidate.family, []).append(group)
        by_hash.setdefault(candidate.hash, []).append(group)
        group.append(candidate)
    return groups


def _equal(candidate: _Candidate, groups: Iterable[list[_Candidate]]) -> list[_Candidate] | None:
    return next((g for g in groups if all(c.owner != candidate.owner for c in g)), None)


def _alike(candidate: _Candidate, groups: Iterable[list[_Candidate]], words: _Words) -> list[_Candidate] | None:
    for group in groups:
        if all(c.owner != candidate.owner for c in group) and words.alike(candidate.id, group[0].id):
            return group
    return None


class _Words:
    """The words of the passages whose family has another candidate."""

    def __init__(self, snapshot: Snapshot, candidates: Sequence[_Candidate]) -> None:
        owners: dict[int, set[int]] = {}
        for c in candidates:
            if c.family is not None:
                owners.setdefault(c.family, set()).add(c.owner)
        wanted = [c.id for c in candidates if c.family is not None and len(owners[c.family]) > 1]
        self._passages = snapshot.passages(wanted) if wanted else {}
        self._words: dict[int, frozenset[str]] = {}

    def alike(self, left: int, right: int) -> bool:
        if left not in self._passages or right not in self._passages:
            return False
        a, b = self._of(left), self._of(right)
        return len(a & b) >= LEAST_WORDS_IN_COMMON * len(a | b)

    def _of(self, passage_id: int) -> frozenset[str]:
        if passage_id not in self._words:
            self._words[passage_id] = frozenset(_WORDS.findall(self._passages[passage_id].text.casefold()))
        return self._words[passage_id]


def _places(db: Database, owners: set[int], filters: Filters) -> dict[int, list[Place]]:
    """Where the passages of each owner stand, among the documents that the filters let through."""
    where, values = filtering.of_document(db, filters)
    found: dict[int, list[Place]] = {}
    for column in ("id", "copy_of"):
        for part, marks in _parts(sorted(owners)):
            sql = (
                f"SELECT d.{column}, d.id, d.path, d.external_id, d.title, f.mtime_ns, d.modified FROM document d "
                f"JOIN file f ON f.id = d.file_id WHERE d.{column} IN ({marks}) AND {where} ORDER BY d.path"
            )
            for row in db.execute(sql, (*part, *values)).fetchall():
                found.setdefault(row[0], []).append(Place(*row[1:]))
    return found


def _folded(group: Sequence[_Candidate], places: dict[int, list[Place]]) -> Folded | None:
    """The newest place is shown; of equally new ones that of the best passage, then the first by path."""
    every = [(c, place) for c in group for place in places.get(c.owner, ())]
    every.sort(key=lambda one: one[1].age, reverse=True)  # stable
    if not every:
        return None
    (best, shown), *others = every
    copies = tuple(
        Copy(
            p.document_id, p.path, p.external_id, p.title, _iso(p.mtime_ns), exact=c.owner == best.owner,
            passage_id=None if c.owner == best.owner else c.id,
        )
        for c, p in others
    )  # fmt: skip
    return Folded(best.row, best.id, shown, copies)


def _iso(mtime_ns: int) -> str:
    return datetime.fromtimestamp(mtime_ns / 1e9, UTC).isoformat(timespec="seconds")


def _parts(ids: Sequence[int]) -> Iterable[tuple[tuple[int, ...], str]]:
    for at in range(0, len(ids), _BATCH):
        part = tuple(ids[at : at + _BATCH])
        yield part, ", ".join("?" * len(part))
