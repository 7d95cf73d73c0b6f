"""From text to index terms, alike when a passage is indexed and when a query is asked.

Words are runs of letters, combining marks and digits. Compounds (`ISO-9001`, `user_id`, `3.5`, a word broken
over a line) give their parts and the whole. Scripts written without spaces give character bigrams. Words are
stemmed by the Snowball stemmer of their language.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import Stemmer

from core.text.normalize import Folded, fold, mark_ranges

_LONGEST = 64  # characters of a term; what is longer is cut (alike on both sides)
_MOST_PARTS = 6  # a compound of more parts (a path, a hash) has no whole worth a term

# CJK, kana, Hangul, Thai, Lao, Burmese, Khmer (letters and marks only)
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0eb9\u0ebb-\u0ecd\u0ed0-\u0edf\u1000-\u1049\u1050-\u109d"
    "\u1100-\u11ff\u1780-\u17d3\u17e0-\u17e9\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u309f\u30a1-\u30fa"
    "\u30fc-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9fe\uaa60-\uaa7f\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U000323af"
)

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


@dataclass(frozen=True, slots=True)
class Term:
    """An index term and the range [start, end) of the source text it stands for."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A query word: `text` as folded, `alternatives` its distinct index terms over the library's languages.

    The alternatives count as one word: a passage that holds several of them is not rewarded twice.
    `weight` is how often the query says the word.
    """

    text: str
    alternatives: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int
    stem: bool


def terms(text: str, language: str) -> list[Term]:
    """The index terms of `text` in reading order; `language` is ISO 639-1, empty when unknown."""
    tokens = list(_tokens(fold(text)))
    return [Term(stem, token.start, token.end) for token, stem in zip(tokens, _stems(tokens, language), strict=True)]


def query_terms(text: str, languages: Sequence[str], limit: int | None = None) -> list[QueryTerm]:
    """The words of a query, each with its distinct stems over `languages`; equal words are counted.

    At most `limit` distinct words are returned, the first ones of the text.
    """
    tokens = list(_tokens(fold(text)))
    by_language = [_stems(tokens, language) for language in (languages or [""])]
    surface: dict[tuple[str, ...], str] = {}
    counts: dict[tuple[str, ...], int] = {}
    for token, *stems in zip(tokens, *by_language, strict=True):
        alternatives = tuple(dict.fromkeys(stems))
        if alternatives not in counts and limit is not None and len(counts) >= limit:
            continue
        surface.setdefault(alternatives, token.text)
        counts[alternatives] = counts.get(alternatives, 0) + 1
    return [QueryTerm(surface[a], a, float(n)) for a, n in counts.items()]


def has_stemmer(language: str) -> bool:
    return language in _STEMMERS


@cache
def _pattern() -> re.Pattern[str]:
    letter = rf"[^\W_{_UNSPACED}]"
    # `[^\W]` knows no combining marks: without them Indic words would break at every vowel sign
    word = rf"{letter}+(?:[{mark_ranges()}]+{letter}*)*"
    joint = r"(?:[-\u2010_]\n?|\.|(?<=\d),(?=\d))"
    return re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|{word}(?:{joint}{word})*(?P<sign>\+\+|#)?")


@cache
def _joint() -> re.Pattern[str]:
    return re.compile(r"[-\u2010_.,\n]+")


@cache
def _unspaced_characters() -> re.Pattern[str]:
    """A character of a script without spaces, with the marks that belong to it."""
    return re.compile(rf"[^{mark_ranges()}][{mark_ranges()}]*")


def _tokens(folded: Folded) -> Iterator[_Token]:
    for match in _pattern().finditer(folded.text):
        if match["unspaced"]:
            yield from _bigrams(folded, match.start(), match.end())
        else:
            yield from _word(folded, match)


def _bigrams(folded: Folded, start: int, end: int) -> Iterator[_Token]:
    bounds = [m.span() for m in _unspaced_characters().finditer(folded.text, start, end)]
    if len(bounds) == 1:
        yield _token(folded, *bounds[0], folded.text[slice(*bounds[0])], stem=False)
    for (first, _), (_, last) in pairwise(bounds):
        yield _token(folded, first, last, folded.text[first:last], stem=False)


def _word(folded: Folded, match: re.Match[str]) -> Iterator[_Token]:
    start, end = match.span()
    text = match.group()
    if text.isalnum():  # the plain word: nothing to take apart
        yield _token(folded, start, end, text, stem=True)
        return
    inner_end = end - len(match["sign"] or "")
    bounds = _part_bounds(folded.text, start, inner_end)
    for first, last in bounds:
        yield _token(folded, first, last, folded.text[first:last], stem=True)
    if (len(bounds) > 1 or match["sign"]) and len(bounds) <= _MOST_PARTS:
        parts = [folded.text[slice(*b)] for b in bounds]
        whole = _whole(parts, folded.text[start:inner_end]) + (match["sign"] or "")
        yield _token(folded, start, end, whole, stem=not match["sign"])


def _part_bounds(text: str, start: int, end: int) -> list[tuple[int, int]]:
    bounds = []
    for joint in _joint().finditer(text, start, end):
        bounds.append((start, joint.start()))
        start = joint.end()
    return [*bounds, (start, end)]


def _whole(parts: list[str], text: str) -> str:
    """One term for a compound: `e-mail` as email, `1,000` as 1000, while `3.5` and dates keep their signs."""
    if not all(part.isdecimal() for part in parts):
        return "".join(parts)
    if "," in text and all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3:
        return "".join(parts)
    return text.replace(",", ".").replace("\n", "")


def _token(folded: Folded, start: int, end: int, text: str, *, stem: bool) -> _Token:
    return _Token(text[:_LONGEST], *folded.source(start, end), stem)


def _stems(tokens: Iterable[_Token], language: str) -> list[str]:
    stemmer = _stemmer(language)
    if stemmer is None:
        return [token.text for token in tokens]
    return [stemmer.stemWord(t.text) if t.stem and not t.text[0].isdecimal() else t.text for t in tokens]


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
