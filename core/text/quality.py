"""How well a text reads: does it look like something written, in any script, or like what a broken font leaves?

Looked at are characters that stand in no text (private use, unassigned, control, rare ideographs), words of several
scripts, words without marks they lean on, Latin letters that no language puts side by side, and texts torn into
single letters. Numbers, codes and symbols count neither way, and a short text is never called bad for its letters
alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from itertools import pairwise

GOOD = 0.5  # below it a text is taken for garbage

_SAMPLE = 1200  # characters looked at from the start, and as many from the middle
_ENOUGH = 150  # pairs of letters that are needed for a sure verdict
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f])*")
_BULLETS = frozenset("\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf02d\uf0e0")  # private-use bullets of word processors
_SINGLES = 40  # one-letter words from which on a text may be torn apart

# The commonest pairs of letters, accents aside, of English, German, French, Spanish, Turkish, Vietnamese, Finnish
# and Indonesian, and some of the Slavic languages: nine of ten pairs of any text, three of ten of random letters.
_COMMON = (
    "aa ab ac ad ag ah ai ak al am an ao ap ar as at au av ay ba be bi bo br bu ca ce ch ci ck co ct cu cz da de di "
    "do du dz ea eb ec ed ee eg ei ek el em en ep er es et eu ev fa fe fi fo fr ga ge gi go gr gu ha he hi ho hu ia "
    "ic id ie ig ii ik il im in io ir is it iv iz ja je jo ka ke kh ki ko ks ku la le li ll lo lt lu ma mb me mi mm "
    "mo mp mu na nc nd ne ng nh ni nn no ns nt nu ny oa oc od of oi ok ol om on op or os ot ou ov pa pe ph pi pl po "
    "pr pu qu ra rd re ri rk rl rm rn ro rs rt ru rz sa sc se si so sp ss st su sv sz ta te th ti to tr ts tt tu ty "
    "ua uc ud ue ui uk ul um un uo up ur us ut uy va ve vi vo wa we wi ya ye za ze zi zn"
)
_PAIRS = frozenset(_COMMON.split())
# scripts that are written together in one word
_TOGETHER = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "FULLWIDTH", "HALFWIDTH"})


def quality(text: str) -> float:
    """From 0 (nothing of it can be meant) to 1; at least `GOOD` for text that reads well. 1 for no text."""
    sample = text if len(text) <= 2 * _SAMPLE else text[:_SAMPLE] + " " + text[len(text) // 2 :][:_SAMPLE]
    shown = sum(not c.isspace() for c in sample)
    if not shown:
        return 1.0
    words = _WORD.findall(sample)
    faults = (
        _ramp(_odd_characters(sample) / shown, 0.02, 0.15),
        0.0 if sample.isascii() else _ramp(_mixed(words), 0.1, 0.4),
        _unlikely(words),
        _torn(words),
    )
    good = 1.0
    for fault in faults:
        good *= 1.0 - fault
    return round(good, 3)


def scripts(text: str) -> Counter[str]:
    """How many letters of each script (first word of a character's Unicode name) the start of a text has."""
    return Counter(script(c) for c in text[: 2 * _SAMPLE] if c.isalpha())


@cache
def script(character: str) -> str:
    return unicodedata.name(character, "?").partition(" ")[0]


def _ramp(value: float, none: float, full: float) -> float:
    return min(1.0, max(0.0, (value - none) / (full - none)))


def _odd_characters(text: str) -> int:
    return sum(count for character, count in Counter(text).items() if _is_odd(character))


@cache
def _is_odd(character: str) -> bool:
    """Does it stand in no text that is meant to be read?"""
    if character in _BULLETS or character in "\t\n\r\f\v":
        return False
    rare = "\u3400" <= character <= "\u4dbf" or "\u02c2" <= character <= "\u02df" or character >= "\U00020000"
    return rare or character == "\ufffd" or unicodedata.category(character) in ("Co", "Cn", "Cc", "Cs")


def _mixed(words: list[str]) -> float:
    """The share of words whose letters are of scripts that no word mixes."""
    long = [word for word in words if len(word) > 2]
    return sum(map(_is_mixed, long)) / len(long) if len(long) >= 5 else 0.0


def _is_mixed(word: str) -> bool:
    if word.isascii():
        return False
    found = Counter(script(c) for c in word if c.isalpha() and unicodedata.category(c) != "Lm")
    if len(found) < 2 or found.keys() & _TOGETHER:  # without spaces between words, anything may follow anything
        return False
    found.pop("MICRO", None)
    return len(found) > 1 and not (found.keys() == {"LATIN", "GREEK"} and min(found.values()) == 1)  # μm, Δx


def _unlikely(words: list[str]) -> float:
    """Latin letters side by side that no language puts there, or nearly all with accents (another code page)."""
    latin = [word for word in words if len(word) > 1 and script(word[0]) == "LATIN"]
    letters = "".join(latin)
    if not letters:
        return 0.0
    plain = [_without_accents(word) for word in latin]
    pairs = [a + b for word in plain for a, b in pairwise(word)]
    known = sum(pair in _PAIRS for pair in pairs) / max(1, len(pairs))
    weight = min(1.0, len(pairs) / _ENOUGH) * len(letters) / sum(map(len, words))
    accents = sum(c > "\x7f" for c in letters) / len(letters)
    return weight * max(1.0 - _ramp(known, 0.45, 0.65), _ramp(accents, 0.4, 0.6))


def _without_accents(word: str) -> str:
    if word.isascii():
        return word.lower()
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))


def _torn(words: list[str]) -> float:
    """Single letters for words, in scripts that have spaces between words."""
    spaced = [word for word in words if script(word[0]) in ("LATIN", "CYRILLIC", "GREEK")]
    single = sum(len(word) == 1 for word in spaced)
    return 0.6 * _ramp(single / len(spaced), 0.6, 0.8) if single >= _SINGLES else 0.0
