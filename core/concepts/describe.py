"""Names for latents: the words that set the passages in which a latent is strongest apart from all others.

A class-based TF-IDF, weighted by activation: a term's score in a latent is `p · log(p / p0)`, its mean presence
in the strongest passages against its mean presence everywhere. Presence of a term said n times is n / (n + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.events import Control
from core.concepts.vocabulary import Ranked, Vocabulary

STRONGEST = 12  # passages that name a latent
_LEAST_PART = 0.25  # of the largest activation: what is weaker does not name
_COMMON = 0.5  # share of the passages above which a latent is about nothing in particular
_TERMS = 6  # kept with each concept
_COVER = 0.55  # a phrase takes the place of its word when it stands in this share of the word's passages
_SECOND = 0.3  # of the first term's score: what is below adds nothing to a label
_LONGEST_PHRASE = 3

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Description:
    """A latent's label, its contrast terms (the first ones are in the label) and the rows strongest in it."""

    latent: int
    label: str
    terms: tuple[str, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Name:
    """A term as it will be shown."""

    surface: str
    words: tuple[str, ...]
    score: float


def strongest(activations: Floats, most: int = STRONGEST) -> list[int]:
    """Rows with the largest activations of one latent, strongest first."""
    rows = np.argsort(-activations, kind="stable")[:most]
    return [int(r) for r in rows if activations[r] > 0]


def describe(vocabulary: Vocabulary, activations: Floats, control: Control | None = None) -> list[Description]:
    """Descriptions of the latents that can be named: active in two texts or more, and in half of them at most.

    `activations` [N, M] belong to the vocabulary's texts. Labels are unique; the latents with the clearest
    terms choose first.
    """
    fires_M = (activations > 0).sum(0)
    drafts = []
    for latent in map(int, np.flatnonzero((fires_M >= 2) & (fires_M <= _COMMON * len(activations)))):
        if control is not None:
            control.check()
        rows = strongest(activations[:, latent])
        names = _names(vocabulary, rows, activations[rows, latent])
        if names:
            drafts.append((latent, rows, names))
    drafts.sort(key=lambda draft: (-draft[2][0].score, draft[0]))
    taken: set[frozenset[str]] = set()
    named = []
    for latent, rows, names in drafts:
        if label := _label(names, taken):
            named.append(Description(latent, label, tuple(n.surface for n in names[:_TERMS]), tuple(rows)))
    return sorted(named, key=lambda d: d.latent)


def _names(vocabulary: Vocabulary, rows: Sequence[int], weights: Floats) -> list[_Name]:
    """Terms for these texts, best first, none of which repeats a word of a better one."""
    strong = max(2, int((weights >= _LEAST_PART * weights[0]).sum()))
    rows, weights = rows[:strong], weights[:strong]
    ranked = vocabulary.ranked(rows, weights)
    names: list[_Name] = []
    seen: set[str] = set()
    for term in ranked:
        if any(_overlaps(word, other) for word in term.words for other in seen):
            continue
        name = _grown(vocabulary, term, ranked, rows)
        if seen.intersection(name.words):
            name = _Name(vocabulary.surface(term.id), term.words, term.score)
        names.append(name)
        seen.update(name.words)
        if len(names) == 2 * _TERMS:
            break
    return names


def _grown(vocabulary: Vocabulary, term: Ranked, ranked: Sequence[Ranked], rows: Sequence[int]) -> _Name:
    """The term, or the longer phrase that stands in most of its places: prime → prime number."""
    words, surface = term.words, vocabulary.surface(term.id)
    grew = True
    while grew and len(words) < _LONGEST_PHRASE:
        grew = False
        for other in ranked:
            if len(other.words) < 2 or other.share < _COVER * term.share:
                continue
            longer = _joined(words, surface, other.words, vocabulary.surface(other.id))
            if longer and (len(words) == 1 or vocabulary.stands(longer[1], rows)):
                words, surface = longer
                grew = True
                break
    return _Name(surface, words, term.score)


def _joined(
    words: tuple[str, ...], surface: str, other: tuple[str, ...], other_surface: str
) -> tuple[tuple[str, ...], str] | None:
    """Two phrases that share an edge word as one: `stem cell` behind `pluripotent stem`."""
    if len(words) == 1:
        return (other, other_surface) if words[0] in other else None
    if words[-1] == other[0] and other[-1] not in words:
        return (*words, other[-1]), f"{surface} {other_surface.split()[-1]}"
    if words[0] == other[-1] and other[0] not in words:
        return (other[0], *words), f"{other_surface.split()[0]} {surface}"
    return None


def _overlaps(word: str, other: str) -> bool:
    """Whether two stems are the same word, or one begins or (in unspaced scripts) holds the other."""
    short, long = sorted((word, other), key=len)
    return long.startswith(short) or (not short.isascii() and short in long)


def _label(names: Sequence[_Name], taken: set[frozenset[str]]) -> str:
    """The best phrase alone, or words up to three; longer only when that is needed to be unique."""
    words: set[str] = set()
    for count, name in enumerate(names, 1):
        words.update(name.words)
        last = count == len(names) or names[count].score < _SECOND * names[0].score
        if (len(words) >= 2 or last) and frozenset(words) not in taken:
            taken.add(frozenset(words))
            return ", ".join(n.surface for n in names[:count])
    return ""
