"""From text to index terms, alike when a passage is indexed and when a query is asked.

Words are runs of letters, combining marks and digits. Compounds (`ISO-9001`, `user_id`, `3.5`, a word broken
over a line) give their parts and the whole. Scripts written without spaces give character bigrams, Chinese
characters stand for themselves too. Words are stemmed by the Snowball stemmer of their language and lose their
accents, except where accents make the word (Vietnamese).
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

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

_ACCENTED = frozenset({"vi"})
_ACCENTS = re.compile("[\u0300-\u036f]")


class Term(NamedTuple):
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


def terms(text: str, language: str) -> list[Term]:
    """The index terms of `text` in reading order; `language` is ISO 639-1, empty when unknown."""
    return _located(fold(text), language, None)


def find(text: str, language: str, wanted: Container[str]) -> list[Term]:
    """Those of the `terms` of `text` that are `wanted`."""
    return _located(fold(text), language, wanted)


def term_texts(text: str, language: str) -> list[str]:
    """The `terms` of `text` without their places."""
    return _stems(_words(fold(text).text), language)


def query_terms(text: str, languages: Sequence[str], limit: int | None = None) -> list[QueryTerm]:
    """The words of a query, each with its distinct stems over `languages`; equal words are counted.

    At most `limit` distinct words are returned, the first ones of the text.
    """
    words = _words(fold(text).text)
    by_language = [_stems(words, language) for language in (languages or [""])]
    surface: dict[tuple[str, ...], str] = {}
    counts: dict[tuple[str, ...], int] = {}
    for word, *stems in zip(words, *by_language, strict=True):
        alternatives = tuple(dict.fromkeys(stems))
        if alternatives not in counts and limit is not None and len(counts) >= limit:
            continue
        surface.setdefault(alternatives, word)
        counts[alternatives] = counts.get(alternatives, 0) + 1
    return [QueryTerm(surface[a], a, float(n)) for a, n in counts.items()]


@cache
def _pattern(*, named: bool = True) -> re.Pattern[str]:
    """A token; `named` tells its kind by groups."""
    letter = rf"[^\W_{_UNSPACED}]"
    # `[^\W]` knows no combining marks: without them Indic words would break at every vowel sign
    word = rf"{letter}+(?:[{mark_ranges()}]+{letter}*)*"
    joint = r"(?:[-\u2010_]\n?|\.|(?<=\d),(?=\d))"
    sign = r"\+\+|#"
    more, unspaced = ("?P<more>", "?P<unspaced>") if named else ("?:", "?:")
    return re.compile(rf"{word}({more}(?:{joint}{word})+(?:{sign})?|{sign})?|({unspaced}[{_UNSPACED}]+)")


@cache
def _joint() -> re.Pattern[str]:
    return re.compile(r"[-\u2010_.,\n]+")


@cache
def _unspaced_characters() -> re.Pattern[str]:
    """A character of a script without spaces, with the marks that belong to it."""
    return re.compile(rf"[^{mark_ranges()}][{mark_ranges()}]*")


_Token = tuple[str, int, int]  # the word and its range in the folded text


def _located(folded: Folded, language: str, wanted: Container[str] | None) -> list[Term]:
    tokens = _tokens(folded.text)
    stems = _stems([token for token, _, _ in tokens], language)
    return [
        Term(stem, *folded.source(start, end))
        for stem, (_, start, end) in zip(stems, tokens, strict=True)
        if wanted is None or stem in wanted
    ]


def _words(text: str) -> list[str]:
    """The `_tokens` of `text` without their ranges: most are plain words, found in one go."""
    words: list[str] = []
    for word in _pattern(named=False).findall(text):
        if word.isascii() and word.isalnum():
            words.append(word[:_LONGEST])
        else:
            words += [token for token, _, _ in _tokens(word)]
    return words


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    for match in _pattern().finditer(text):
        start, end = match.span()
        if match.lastgroup is None:  # the plain word: nothing to take apart
            found.append((match.group()[:_LONGEST], start, end))
        elif match.lastgroup == "unspaced":
            _add_bigrams(found, text, start, end)
        else:
            _add_compound(found, text, start, end)
    return found


def _add_bigrams(found: list[_Token], text: str, start: int, end: int) -> None:
    bounds = [m.span() for m in _unspaced_characters().finditer(text, start, end)]
    for first, last in bounds:
        if len(bounds) == 1 or is_han(text[first]):
            _add(found, text, first, last)
    for (first, _), (_, last) in pairwise(bounds):
        _add(found, text, first, last)


def _add_compound(found: list[_Token], text: str, start: int, end: int) -> None:
    inner_end = start + len(text[start:end].rstrip("+#"))
    bounds = _part_bounds(text, start, inner_end)
    for first, last in bounds:
        _add(found, text, first, last)
    if len(bounds) <= _MOST_PARTS:
        parts = [text[slice(*b)] for b in bounds]
        whole = _whole(parts, text[start:inner_end]) + text[inner_end:end]
        found.append((whole[:_LONGEST], start, end))


def _add(found: list[_Token], text: str, start: int, end: int) -> None:
    found.append((text[start:end][:_LONGEST], start, end))


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


def _stems(words: list[str], language: str) -> list[str]:
    stemmer = _stemmer(language)
    stems = words if stemmer is None else stemmer.stemWords(words)
    return stems if language in _ACCENTED else [w if w.isascii() else _without_accents(w) for w in stems]


@lru_cache(maxsize=1 << 16)
def _without_accents(word: str) -> str:
    # the first block of marks only: those of kana and of Indic scripts are not accents
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare)


def is_han(text: str) -> bool:
    """Whether `text` is one Chinese character."""
    return len(text) == 1 and ("\u3400" <= text <= "\u9fff" or text >= "\U00020000")


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
