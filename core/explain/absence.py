"""Why a passage is not among the hits, in one plain sentence."""

from __future__ import annotations

from collections.abc import Sequence

from core.base.types import BM25, CONCEPT, DENSE, LEXICAL, ConceptShare, Standing
from core.search.found import DEEP

_NAMED = 3
_WAYS = {BM25: "by words", DENSE: "by meaning", LEXICAL: "by learned words", CONCEPT: "by concepts"}


def absence(
    rank: int | None, hits: int, excluded: Sequence[str], instead: int, words: Sequence[str],
    concepts: Sequence[ConceptShare], standings: Sequence[Standing],
) -> str:  # fmt: skip
    """What keeps it out goes before its place, and its place before what it lacks."""
    if excluded:
        return f"It is kept out by {_barring(excluded[:_NAMED])}."
    if instead and rank is not None:
        if rank <= hits:
            return f"The same text is shown at place {rank}, in another document."
        return f"The same text stands at place {rank}, in another document, behind the {hits} hits shown."
    if rank is not None and rank <= hits:
        return f"It is among the hits, at place {rank}."
    lacks = _lacks(words, concepts)
    return f"{_place(rank, hits, standings)}{f': {lacks}' if lacks else ''}."


def _barring(excluded: Sequence[str]) -> str:
    """A concept does not keep a passage out by being there, but by being asked for."""
    concepts = [one for one in excluded if one.startswith("«")]
    others = [one for one in excluded if one not in concepts]
    return listed([*others, f"what must be there: {listed(concepts)}"] if concepts else others)


def _place(rank: int | None, hits: int, standings: Sequence[Standing]) -> str:
    if rank is not None:
        return f"It stands at place {rank}, behind the {hits} hits shown" if hits else f"It stands at place {rank}"
    known = [one for one in standings if one.rank is not None]
    if not known:
        ways = [_WAYS[one.channel] for one in standings if one.channel in _WAYS] or list(_WAYS.values())[:2]
        return f"It is not among the best {DEEP:,} passages {' or '.join(ways)}"
    best = min(known, key=lambda one: one.rank or 0)
    return f"It is no candidate: its best rank is {best.rank:,}, {_WAYS.get(best.channel, best.channel)}"


def _lacks(words: Sequence[str], concepts: Sequence[ConceptShare]) -> str:
    said = []
    if words:
        said.append(f"it lacks the {'word' if len(words) == 1 else 'words'} {listed(words[:_NAMED])}")
    if concepts:
        names = [f"«{c.label}»" for c in concepts[:_NAMED]]
        said.append(f"{'' if said else 'it '}is not about {listed(names)}, as some of the hits are")
    return " and ".join(said)


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
