"""The reduce: what the passages say, put together under headings: a document, a year, a thing that is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.answer.whole.reading import Said
from core.base.types import Passage

A_DOCUMENT = 3  # sentences shown of one document
A_SIDE = 6  # of one of the things compared
SHOWN = 60  # groups: what is more is counted and not shown


@dataclass(frozen=True, slots=True)
class Group:
    """A heading and the sentences under it, in the order in which they are shown."""

    heading: str
    said: tuple[Said, ...]


def by_document(said: Sequence[Said], count: int = A_DOCUMENT) -> list[Group]:
    """One group for each document: those that hold most of the subject first, `count` sentences in reading order."""
    documents: dict[int, list[Said]] = {}
    for one in said:
        documents.setdefault(one.passage.document_id, []).append(one)
    return [
        Group(heading(found[0].passage), tuple(_reading_order(_best(found, count))))
        for found in sorted(
            documents.values(), key=lambda found: (-max(_rank(s) for s in found), found[0].passage.path)
        )
    ]


def by_year(said: Sequence[Said]) -> list[Group]:
    """One group for each year, the earliest first; within it by date. A sentence stands once in a year."""
    years: dict[int, dict[tuple[int, int], Said]] = {}
    for one in sorted((s for s in said if s.date), key=lambda s: (s.date, s.passage.path, s.start)):
        if one.date is not None:
            years.setdefault(one.date.year, {}).setdefault((one.passage.id, one.start), one)
    return [Group(f"{year}", tuple(found.values())) for year, found in years.items()]


def by_side(sides: Sequence[tuple[str, Sequence[Said]]]) -> list[Group]:
    """First what speaks of all the things compared, then one group for each, from as many documents as can be."""
    keys = [{(s.passage.id, s.start) for s in said} for _, said in sides]
    common = set.intersection(*keys) if keys else set()
    names = " / ".join(side for side, _ in sides)
    shared = [s for s in sides[0][1] if (s.passage.id, s.start) in common] if sides else []
    groups = [Group(names, tuple(_spread(shared, A_SIDE)))] if shared else []
    for side, said in sides:
        own = _spread([s for s in said if (s.passage.id, s.start) not in common], A_SIDE)
        if own:
            groups.append(Group(side, tuple(own)))
    return groups


def heading(passage: Passage) -> str:
    return passage.context_title or passage.external_id or passage.path


def _rank(said: Said) -> float:
    return said.share if said.by_words else 0.0


def _best(said: Sequence[Said], count: int) -> list[Said]:
    return sorted(said, key=lambda s: (-_rank(s), s.passage.ordinal, s.start))[:count]


def _reading_order(said: Sequence[Said]) -> list[Said]:
    return sorted(said, key=lambda s: (s.passage.ordinal, s.start))


def _spread(said: Sequence[Said], count: int) -> list[Said]:
    """The best sentence of each document first, then the second ones."""
    turns: dict[int, int] = {}
    placed = []
    for one in sorted(said, key=lambda s: (-_rank(s), s.passage.path, s.passage.ordinal)):
        turn = turns[one.passage.document_id] = turns.get(one.passage.document_id, -1) + 1
        placed.append((turn, one))
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])][:count]
