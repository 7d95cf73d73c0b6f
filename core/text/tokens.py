"""Folded text to tokens, before any stemming: words, compounds with their parts, bigrams of unspaced scripts."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise

from core.text.normalize import mark_ranges

LONGEST = 64  # characters of a term; what is longer is cut (alike on both sides)
SEAM = "\x1f"  # put between the words of a compound like userName before its capitals are folded away

_MOST_PARTS = 6  # a compound of more parts (a path, a hash) has no whole worth a term
_NUMBER = 7  # digits from which a number in groups is one number: phone numbers, ISBN

# CJK, kana, Hangul, Thai, Lao, Burmese, Khmer (letters and marks only)
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0eb9\u0ebb-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d"
    "\u1100-\u11ff\u1780-\u17d3\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u309f\u30a1-\u30fa"
    "\u30fc-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9fe\uaa60-\uaa7f\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U000323af"
)

Token = tuple[str, int, int]  # the word and its range in the folded text

# where letters meet a number in one word: RTX4090, 100mg; not p53, 1990s, 20th
_BOUND = re.compile(r"(?<=[^\W\d_]{2})(?=\d\d)|(?<=\d\d)(?=[^\W\d_]{2})(?!(?:st|nd|rd|th)\b)")
_INNER = re.compile(f"{SEAM}|{_BOUND.pattern}")
# where words meet in one written with capitals inside: userName, HTTPServer; not iPhone, GmbH
_CAPITALS = re.compile(r"[A-Z](?:(?<=[a-z][a-z].)(?=[A-Za-z])|(?<=[A-Z]{3})(?=[a-z]{2}))")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff]{3,}")
_HANGUL = re.compile("[\uac00-\ud7a3]{2,}")
_COUNTED = re.compile("\\d(?=[\u3400-\u9fff\uac00-\ud7a3])")  # 1945年, 5대: a number and what it counts
_COUNT = re.compile(r"\d{1,20}\Z")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?-\d\d?-\d{4}")
_VERSION = re.compile(r"v\d+(?:\.\d+)+")


def seams(text: str) -> list[int]:
    """Places in unfolded text where a word with capitals inside is to be taken apart."""
    return [match.start() for match in _CAPITALS.finditer(text)]


def words(text: str) -> list[str]:
    """The `tokens` of `text` without their ranges: most are plain words, found in one go."""
    if not text.isascii() and _COUNTED.search(text):
        return [token for token, _, _ in tokens(text)]
    found: list[str] = []
    for word in _pattern(named=False).findall(text):
        if word.isascii() and (word.isalpha() or (word.isalnum() and not _BOUND.search(word))):
            found.append(word[:LONGEST])
        else:
            found += _texts(word) if len(word) <= LONGEST else [token for token, _, _ in tokens(word)]
    return found


@lru_cache(maxsize=1 << 14)
def _texts(word: str) -> tuple[str, ...]:
    return tuple(token for token, _, _ in tokens(word))


def tokens(text: str) -> list[Token]:
    """Words in reading order; a compound's parts and then the whole, a run of an unspaced script as bigrams."""
    found: list[Token] = []
    for match in _pattern().finditer(text):
        start, end = match.span()
        if match.lastgroup == "unspaced":
            _add_unspaced(found, text, start, end)
        elif match.lastgroup is not None or _BOUND.search(match.group()):
            _add_compound(found, text, start, end)
        else:  # the plain word: nothing to take apart
            _add(found, text, start, end)
    return found


def pieces(text: str) -> list[tuple[list[str], bool]]:
    """What phrases are compared by: each token as its parts, for an unspaced script (True) its characters."""
    found = []
    for match in _pattern().finditer(text):
        start, end = match.span()
        if match.lastgroup == "unspaced":
            found.append((_unspaced_characters().findall(text, start, end), True))
            continue
        inner_end = start + len(text[start:end].rstrip("+#"))
        parts = [text[slice(*b)] for b in _joined(text, start, inner_end)]
        found.append(([*parts[:-1], parts[-1] + text[inner_end:end]], False))
    return found


@cache
def letter() -> str:
    """A letter or digit of a script with spaces, as a regular expression."""
    return rf"[^\W_{UNSPACED}]"


@cache
def _pattern(*, named: bool = True) -> re.Pattern[str]:
    """A token; `named` tells its kind by groups."""
    # `[^\W]` knows no combining marks: without them Indic words would break at every vowel sign
    word = rf"{letter()}+(?:[{mark_ranges()}]+{letter()}*)*"
    joint = rf"(?:[-\u2010_]\n?|{SEAM}|\.|(?<=\d),(?=\d))"
    sign = r"\+\+|#"
    more, unspaced = ("?P<more>", "?P<unspaced>") if named else ("?:", "?:")
    return re.compile(rf"{word}({more}(?:{joint}{word})+(?:{sign})?|{sign})?|({unspaced}[{UNSPACED}]+)")


@cache
def _joint() -> re.Pattern[str]:
    return re.compile(r"[-\u2010_.,\n]+")


@cache
def _unspaced_characters() -> re.Pattern[str]:
    """A character of a script without spaces, with the marks that belong to it."""
    return re.compile(rf"[^{mark_ranges()}][{mark_ranges()}]*")


def _add_unspaced(found: list[Token], text: str, start: int, end: int) -> None:
    bounds = [m.span() for m in _unspaced_characters().finditer(text, start, end)]
    for first, last in bounds:
        if len(bounds) == 1 or is_han(text[first]):
            _add(found, text, first, last)
    for (first, _), (_, last) in pairwise(bounds):
        _add(found, text, first, last)
    for match in _KATAKANA.finditer(text, start, end):  # a foreign word: kana mark where it begins and ends
        _add(found, text, *match.span())
    for match in _HANGUL.finditer(text, start, end):  # Korean stems of one syllable stand before particles
        _add(found, text, match.start(), match.start() + 1)
    if start and _COUNTED.match(text, start - 1):
        number = _COUNT.search(text, max(start - 20, 0), start)
        assert number is not None
        _add(found, text, number.start(), start + 1)


def _add_compound(found: list[Token], text: str, start: int, end: int) -> None:
    inner_end = start + len(text[start:end].rstrip("+#"))
    joined = _joined(text, start, inner_end)
    for first, last in joined:
        inner = _inner(text, first, last)
        for bounds in inner:
            _add(found, text, *bounds)
        if len(inner) > 1:
            found.append((text[first:last].replace(SEAM, "")[:LONGEST], first, last))
    if (len(joined) > 1 or inner_end < end) and len(joined) <= _MOST_PARTS:
        parts = [text[slice(*b)].replace(SEAM, "") for b in joined]
        whole = _whole(parts, text[start:inner_end].replace(SEAM, "")) + text[inner_end:end]
        found.append((whole[:LONGEST], start, end))


def _add(found: list[Token], text: str, start: int, end: int) -> None:
    found.append((text[start:end][:LONGEST], start, end))


def _joined(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The ranges between joints."""
    bounds = []
    for joint in _joint().finditer(text, start, end):
        bounds.append((start, joint.start()))
        start = joint.end()
    return [*bounds, (start, end)]


def _inner(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The ranges of the words and numbers that are written as one."""
    bounds = []
    for cut in _INNER.finditer(text, start, end):
        bounds.append((start, cut.start()))
        start = cut.end()
    return [*bounds, (start, end)]


def _whole(parts: list[str], text: str) -> str:
    """One term for a compound, alike for its spellings.

    `e-mail` as email, `1,000` as 1000, `v2.1.3` as 2.1.3, ISBN and phone numbers as one number, while `3.5` and dates
    keep their signs.
    """
    if _VERSION.fullmatch(text):
        return text[1:]
    if not all(part.isdecimal() for part in parts):
        return "".join(parts)
    if "," in text and all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3:
        return "".join(parts)
    if text.count("-") == len(parts) - 1 and sum(map(len, parts)) >= _NUMBER and not _DATE.fullmatch(text):
        return "".join(parts)
    return text.replace(",", ".").replace("\n", "")


def is_han(text: str) -> bool:
    """Whether `text` is one Chinese character."""
    return len(text) == 1 and ("\u3400" <= text <= "\u9fff" or text >= "\U00020000")
