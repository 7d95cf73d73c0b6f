"""What a text could lend to a label: its content words and two-word phrases, alike by stem, as written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from core.concepts.stopwords import stop_words, unspaced_stops
from core.text.analyze import Term, terms

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u309f\u30fc]")
_OPENERS = ".!?:;\n•"  # a capital behind one of these says nothing
_LONGEST_CHAIN = 3  # bigrams of an unspaced script that are joined: up to 4 characters
_OPENING = 0.01  # weight of a form at the start of a sentence


class Candidate(NamedTuple):
    """A word or phrase where it stands: `words` are its stems, alike for all its forms."""

    words: tuple[str, ...]
    surface: str
    weight: float  # how much this place tells of the way to write it


@dataclass(frozen=True, slots=True)
class Text:
    """What is described: a passage with its headings, and its language."""

    text: str
    language: str


def candidates(text: Text) -> Iterator[Candidate]:
    """All candidates of a text, one by one, repeats included."""
    source, language = text.text, text.language
    found = terms(source, language)
    names = [_is_name(source[t.start : t.end], language) for t in found]
    for i, term in enumerate(found):
        if _UNSPACED.match(source, term.start):
            yield from _unspaced(source, found[i : i + _LONGEST_CHAIN])
        elif names[i]:
            yield _candidate(source, (term,))
            if i + 1 < len(found) and names[i + 1] and source[term.end : found[i + 1].start] == " ":
                yield _candidate(source, (term, found[i + 1]))


def content_words(text: str, language: str) -> list[Term]:
    """The words of a text that carry content: no function words, numbers or single letters."""
    found = terms(text, language)
    return [t for t in found if has_content(text[t.start : t.end], language)]


def has_content(surface: str, language: str) -> bool:
    """Whether a word as written says what a text is about."""
    return bool(_UNSPACED.match(surface)) or _is_name(surface, language)


@lru_cache(maxsize=100_000)
def _is_name(surface: str, language: str) -> bool:
    letters = sum(c.isalpha() for c in surface)
    if letters < 2 or letters < len(surface) / 2 or _UNSPACED.match(surface):
        return False
    if letters == 2 and not surface.isupper():
        return False
    return surface.casefold().replace("’", "'") not in stop_words(language)


def _candidate(source: str, chain: Sequence[Term]) -> Candidate:
    start = chain[0].start
    surface = source[start : chain[-1].end]
    opens = surface[0].isupper() and _opens(source, start)
    return Candidate(tuple(t.text for t in chain), surface, _OPENING if opens else 1.0)


def _opens(source: str, start: int) -> bool:
    before = source[max(0, start - 3) : start].rstrip(' "“„«(')
    return not before or before[-1] in _OPENERS


def _unspaced(source: str, chain: Sequence[Term]) -> Iterator[Candidate]:
    """Runs of two to four characters; grammar (hiragana at an edge, particles) is left out."""
    for length in range(1, len(chain) + 1):
        if length > 1 and chain[length - 1].start >= chain[length - 2].end:
            return
        surface = source[chain[0].start : chain[length - 1].end]
        if len(surface) < 2 or _KANA.match(surface[0]) or _KANA.match(surface[-1]):
            continue
        if not any(stop in surface for stop in unspaced_stops()):
            yield Candidate((surface,), surface, 1.0)


def best_surface(forms: Mapping[str, float]) -> str:
    """How to write a term: its weightiest form; one in capitals throughout only when there is no other."""
    return min(forms, key=lambda s: (s.isupper() and len(s) > 5, -forms[s], s))
