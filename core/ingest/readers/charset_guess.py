"""Which old encoding bytes are in: each candidate decodes them, and the one whose text looks most like a language wins.

A text is judged by its characters beyond ASCII: letters a language uses count by how frequent they are in it, foreign
letters, symbols within words and capitals after small letters count against it, bytes without a character most of all.
For Latin letters the words between them are asked, too, which language this is.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from functools import cache

from core.ingest.readers.charset_profiles import ALPHABETS, EBCDIC, IDEOGRAPHS, LATIN, Ideographs, Profile
from core.text.language import detect

_SAMPLE = 6 << 10
_HIGH = re.compile(rb"[\x80-\xff]")
_MIXED_WORD = re.compile(r"[A-Za-z](?=[\u0370-\u0eff])|[\u0370-\u0eff](?=[A-Za-z])")  # Latin next to another alphabet
_IN_LATIN_WORD = re.compile(r"(?<=[a-z])[^\x00-\x7f]|[^\x00-\x7f](?=[a-z])")
_SIGN_IN_WORD = re.compile(
    r"(?<=[^\W\d_])(?![’·\u00ad\u200c\u200d\u0300-\u036f])[^\w\x00-\x7f](?=[^\W\d_])|(?<=\d)[^\W\d_\x00-\x7f](?=\d)"
)
_TYPOGRAPHY = frozenset("–—‘’‚“”„…•€°§«»‹›©®™·\u00a0\u00ad№´²³½£×±¶†‰، ؛ ؟،؛؟\u200c\u200d\u200e\u200f")
_WIDE_SIGNS = frozenset(
    "　、。，．・：；？！ー「」『』（）〔〕［］｛｝〈〉《》【】“”‘’…—～々〇·％＋－＝／＆　※○●◎◇◆□■△▲▽▼→←↑↓"
)
_GOOD_ENOUGH = 0.2  # below this a guess is no better than none
_DECLARED_BONUS = 0.3
_LANGUAGE_BONUS, _LANGUAGE_MALUS = 0.3, 0.5
_ORDER_MALUS = 0.002  # for each place further down in a profile's list of encodings


def guess(data: bytes, declared: str = "") -> str:
    """The encoding `data` is most likely in; empty when nothing fits well. `declared` (its canonical
    name) gets the benefit of the doubt."""
    sample = _sample(data)
    if not sample:
        return ""
    best, name = _GOOD_ENOUGH, ""
    bonus = _DECLARED_BONUS + 2 / len(_HIGH.findall(sample))  # a few letters alone tell little
    for score, encoding in _scores(sample):
        score += bonus if declared and canonical(encoding) == declared else 0.0
        if score > best:
            best, name = score, encoding
    return name


@cache
def canonical(encoding: str) -> str:
    return codecs.lookup(encoding).name


def is_judged(declared: str) -> bool:
    """Is this encoding (by its canonical name) among those that `guess` weighs?"""
    return any(canonical(e) == declared for profile in (*ALPHABETS, *LATIN, *IDEOGRAPHS) for e in profile.encodings)


def guess_ebcdic(data: bytes) -> str:
    """Which of the EBCDIC code pages; they differ in few signs and national letters."""
    sample = data[:_SAMPLE]

    def oddities(encoding: str) -> int:
        return sum(
            not (c.isalnum() or c.isspace() or c in ".,;:!?'\"()-/[]") for c in sample.decode(encoding, "replace")
        )

    return min(EBCDIC, key=oddities)


def _sample(data: bytes) -> bytes:
    """Lines with bytes beyond ASCII, from all over the file: a text may begin with a long head in English."""
    lines = [line for line in re.split(rb"[\r\n]+", data) if _HIGH.search(line)]
    step = max(1, sum(map(len, lines)) // _SAMPLE)
    chosen: list[bytes] = []
    for line in lines[::step] or lines:
        first = _HIGH.search(line)
        chosen.append(line[max(0, first.start() - 200) if first else 0 :][: _SAMPLE // 2])
    return b"\n".join(chosen)[:_SAMPLE]


def _scores(sample: bytes) -> list[tuple[float, str]]:
    texts: dict[str, str] = {}

    def text_in(encoding: str) -> str:
        if encoding not in texts:
            texts[encoding] = codecs.getincrementaldecoder(encoding)("replace").decode(sample)
        return texts[encoding]

    found = []
    for profile in ALPHABETS:
        found += [
            (_letters_score(text_in(e), profile) - at * _ORDER_MALUS, e) for at, e in enumerate(profile.encodings)
        ]
    for ideographs in IDEOGRAPHS:
        found += [
            (_ideographs_score(text_in(e), ideographs) - at * _ORDER_MALUS, e)
            for at, e in enumerate(ideographs.encodings)
        ]
    languages: dict[str, str] = {}
    for profile in LATIN:
        for at, encoding in enumerate(profile.encodings):
            score = _letters_score(text_in(encoding), profile) - at * _ORDER_MALUS
            if score > 0.0:
                if encoding not in languages:
                    languages[encoding] = detect(text_in(encoding))
                found.append((score + _agreement(languages[encoding], profile.language), encoding))
    return found


def _agreement(detected: str, language: str) -> float:
    if not detected:
        return 0.0
    return _LANGUAGE_BONUS if detected == language else -_LANGUAGE_MALUS


# --- alphabets


def _letters_score(text: str, profile: Profile) -> float:
    """Mean weight of the characters beyond ASCII, between about -3 and 1."""
    counts = Counter(c for c in text if c > "\x7f")
    total = sum(counts.values())
    if not total:
        return -1.0
    weights = _weights(profile)
    score = sum(count * _letter_weight(c, weights, profile.latin) for c, count in counts.items())
    odd = 1.5 * _case_breaks(text) + len(_SIGN_IN_WORD.findall(text))
    if profile.latin:
        letters = sum(map(str.isalpha, text))
        odd += total if sum(count for c, count in counts.items() if c.isalpha()) > 0.6 * letters else 0.0
    else:
        odd += 1.5 * len(_MIXED_WORD.findall(text))
    return (score - odd) / total


@cache
def _weights(profile: Profile) -> dict[str, float]:
    size = len(profile.letters)
    weights = {
        letter: 1.0 - (0.3 if profile.latin else 0.8) * rank / size for rank, letter in enumerate(profile.letters)
    }
    return weights | {letter.upper(): weight for letter, weight in weights.items() if len(letter.upper()) == 1}


def _letter_weight(character: str, weights: dict[str, float], latin: bool) -> float:
    known = weights.get(character)
    if known is not None:
        return known
    if character in _TYPOGRAPHY:
        return 0.4
    category = unicodedata.category(character)
    if category.startswith("L"):
        return -0.3 if latin else -0.6
    if category == "Mn":
        return -0.5
    return -4.0 if character == "\ufffd" else -2.0 if category.startswith("C") else -1.2


def _case_breaks(text: str) -> int:
    """Capitals right after small letters: what a wrong Cyrillic encoding makes of most words."""
    breaks = 0
    before = " "
    for character in text:
        if before.islower() and character.isupper() and (character > "\x7f" or before > "\x7f"):
            breaks += 1
        before = character
    return breaks


# --- ideographs


def _ideographs_score(text: str, profile: Ideographs) -> float:
    counts = Counter(c for c in text if c > "\x7f")
    total = sum(counts.values())
    if not total:
        return -1.0
    frequent = _frequent(profile)
    score = sum(count * _ideograph_weight(c, frequent, profile) for c, count in counts.items())
    in_latin_words = len(_IN_LATIN_WORD.findall(text)) if total < 0.15 * len(text) else 0
    return (score - in_latin_words) / total


@cache
def _frequent(profile: Ideographs) -> frozenset[str]:
    return frozenset(profile.frequent)


def _ideograph_weight(character: str, frequent: frozenset[str], profile: Ideographs) -> float:
    if character in frequent:
        return 1.0
    if character in _WIDE_SIGNS:
        return 0.7
    if "\uff10" <= character <= "\uff5a":  # wide digits and letters
        return 0.4
    if character == "\ufffd":
        return -4.0
    if "\uff61" <= character <= "\uff9f":  # half-width kana, which most bytes are in Shift_JIS
        return -0.2
    if unicodedata.category(character)[0] in "CSZ" and not character.isprintable():
        return -2.0
    try:
        lead = character.encode(profile.standard)[0]
    except UnicodeEncodeError:
        return -0.7
    return 0.45 if any(first <= lead <= last for first, last in profile.levels) else -0.3
