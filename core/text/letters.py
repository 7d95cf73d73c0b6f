"""Letters that are written in several ways, made alike: accents, vowel points, final forms, digits of any script.

Works on folded text (`normalize.fold`), on whole texts as on single words, so that index, query and phrases agree.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache, lru_cache

from core.text.normalize import fold

_ACCENTED = frozenset({"vi"})  # where an accent makes another word
_ACCENTS = re.compile("[\u0300-\u036f]")  # the first block of marks only: those of kana and Indic scripts are letters
# marks left out in everyday writing: Hebrew points and cantillation; Arabic vowels, tatweel, signs of recitation; nukta
_LEFT_OUT = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u093c\u09bc\u0a3c\u0abc]"
)
# Latin letters with strokes have no accent to take off; Hebrew final forms; alef with hamza, yeh, kaf and heh as
# Arabic, Persian and Urdu write them; the nasal sign of Devanagari
_SAME: dict[int, int | str] = {
    **str.maketrans("øłđħıŧ" "ךםןףץ" "أإآٱ" "ىيېے" "کڪ" "ةۃۂہھەۀ" "ؤئ" "ँ",
                    "oldhit" "כמנפצ" "اااا" "یییی" "كك" "ههههههه" "وی" "ं"),
    ord("æ"): "ae", ord("œ"): "oe",
}  # fmt: skip


def plain(text: str, language: str) -> str:
    """`text` folded, in plain letters: what two spellings of the same words have in common."""
    folded = fold(text).text
    return folded if folded.isascii() else _plain(folded, accented=language in _ACCENTED)


def plain_words(words: list[str], language: str) -> list[str]:
    """Folded words in plain letters."""
    accented = language in _ACCENTED
    return [word if word.isascii() else _plain_word(word, accented) for word in words]


@lru_cache(maxsize=1 << 16)
def _plain_word(word: str, accented: bool) -> str:
    return _plain(word, accented=accented)


def _plain(text: str, *, accented: bool) -> str:
    if accented:
        return text.translate(_digits())
    bare = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
    return _LEFT_OUT.sub("", bare).translate(_same())


@cache
def _same() -> dict[int, int | str]:
    return {**_SAME, **_digits()}


@cache
def _digits() -> dict[int, int | str]:
    """The decimal digits of all scripts as ASCII's."""
    others = (c for c in map(chr, range(0x80, sys.maxunicode)) if c.isdecimal())
    return {ord(c): str(unicodedata.decimal(c)) for c in others}
