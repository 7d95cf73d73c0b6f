"""From text to index terms, alike when a passage is indexed and when a query is asked.

Words are runs of letters, combining marks and digits. Compounds (`ISO-9001`, `user_id`, `3.5`, a word broken
over a line) give their parts and the whole. Scripts written without spaces give character bigrams, Chinese
characters stand for themselves too. Words are stemmed by the Snowball stemmer of their language and lose their
accents, except where accents make the word (Vietnamese).
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import Stemmer

from core.text import tokens
from core.text.letters import plain_words
from core.text.normalize import fold
from core.text.tokens import SEAM, is_han

__all__ = [
    "ANALYSIS", "QueryTerm", "Term", "find", "is_han", "located_words", "phrase_terms", "query_terms", "term_texts",
    "terms", "words",
]  # fmt: skip

ANALYSIS = 3  # changes whenever texts give other terms: an index made with another one is made anew

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch",
    "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
    # the Latin words in these languages' texts are mostly English
    "ja": "english", "ko": "english", "th": "english", "zh": "english",
}  # fmt: skip


class Term(NamedTuple):
    """An index term and the range [start, end) of the source text it stands for."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A query word: `text` as folded, `alternatives` its distinct index terms over the library's languages.

    The alternatives count as one word: a passage that holds several of them is not rewarded twice.
    `weight` is how often the query says the word. For a part of a word (`core.text.parts`), `part_of` is that word.
    """

    text: str
    alternatives: tuple[str, ...]
    weight: float = 1.0
    part_of: str = ""


def terms(text: str, language: str) -> list[Term]:
    """The index terms of `text` in reading order; `language` is ISO 639-1, empty when unknown."""
    return _located(text, language, None)


def find(text: str, language: str, wanted: Container[str]) -> list[Term]:
    """Those of the `terms` of `text` that are `wanted`."""
    return _located(text, language, wanted)


def term_texts(text: str, language: str) -> list[str]:
    """The `terms` of `text` without their places."""
    return _stems(words(text), language)


def query_terms(text: str, languages: Sequence[str], limit: int | None = None) -> list[QueryTerm]:
    """The words of a query, each with its distinct stems over `languages`; equal words are counted.

    At most `limit` distinct words are returned, the first ones of the text.
    """
    said = words(text)
    by_language = [_stems(said, language) for language in (languages or [""])]
    surface: dict[tuple[str, ...], str] = {}
    counts: dict[tuple[str, ...], int] = {}
    for word, *stems in zip(said, *by_language, strict=True):
        alternatives = tuple(dict.fromkeys(stems))
        if alternatives not in counts and limit is not None and len(counts) >= limit:
            continue
        surface.setdefault(alternatives, word)
        counts[alternatives] = counts.get(alternatives, 0) + 1
    return [QueryTerm(surface[a], a, float(n)) for a, n in counts.items()]


def words(text: str) -> list[str]:
    """The folded words of `text` before any stemming, in reading order."""
    return tokens.words(fold(_with_seams(text, tokens.seams(text))).text)


def located_words(text: str) -> list[Term]:
    """The `words` of `text` with their places."""
    seams = tokens.seams(text)
    folded = fold(_with_seams(text, seams))
    # places in the text with seams, of which those before a place must be taken off
    marked = [place + n for n, place in enumerate(seams)]
    located = []
    for token, first, last in tokens.tokens(folded.text):
        start, end = folded.source(first, last)
        located.append(Term(token, start - bisect_right(marked, start), end - bisect_right(marked, end - 1)))
    return located


def phrase_terms(text: str, languages: Sequence[str]) -> list[QueryTerm]:
    """Words that are among the terms of every passage in which the words of `text` stand side by side."""
    words = [word for parts, unspaced in tokens.pieces(fold(text).text) for word in _sure(parts, unspaced=unspaced)]
    forms = [_stems([word[: tokens.LONGEST] for word in words], language) for language in (languages or [""])]
    return [
        QueryTerm(word, tuple(dict.fromkeys(stems))) for word, *stems in dict.fromkeys(zip(words, *forms, strict=True))
    ]


def _sure(parts: Sequence[str], *, unspaced: bool) -> list[str]:
    if not unspaced:
        return list(parts) if len(parts) == 1 else [part.rstrip("+#") for part in parts]
    return [a + b for a, b in pairwise(parts)] or [part for part in parts if is_han(part)]


def _located(text: str, language: str, wanted: Container[str] | None) -> list[Term]:
    found = located_words(text)
    stems = _stems([word.text for word in found], language)
    return [
        Term(stem, word.start, word.end)
        for stem, word in zip(stems, found, strict=True)
        if wanted is None or stem in wanted
    ]


def _with_seams(text: str, seams: Sequence[int]) -> str:
    if not seams:
        return text
    bounds = [0, *seams, len(text)]
    return SEAM.join(text[a:b] for a, b in pairwise(bounds))


def _stems(words: list[str], language: str) -> list[str]:
    stemmer = _stemmer(language)
    return plain_words(words if stemmer is None else stemmer.stemWords(words), language)


class _Stemmers(threading.local):
    """Stemmers made so far in this thread: one object must not be used by two threads at a time."""

    def __init__(self) -> None:
        self.made: dict[str, Stemmer.Stemmer] = {}


_stemmers = _Stemmers()


def _stemmer(language: str) -> Stemmer.Stemmer | None:
    name = _STEMMERS.get(language)
    if name is None:
        return None
    if name not in _stemmers.made:
        _stemmers.made[name] = Stemmer.Stemmer(name)
    return _stemmers.made[name]
