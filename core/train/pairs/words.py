"""Words of questions and passages, as they are compared: whole words, single characters of scripts without spaces."""

from __future__ import annotations

import re

from core.text.letters import plain

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_UNIT = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+")
_LETTERS = re.compile(r"[^\W\d_]+")
_CHARACTER = re.compile(rf"[{_UNSPACED}]")


def units(text: str, language: str = "") -> list[str]:
    """In plain letters and in reading order."""
    return _UNIT.findall(plain(text, language))


def size(text: str) -> float:
    """About how many words a text has: two characters of a script without spaces count as one."""
    found = _UNIT.findall(text)
    return sum(0.5 if _CHARACTER.fullmatch(unit) else 1.0 for unit in found)


def letters(text: str) -> int:
    return sum(map(len, _LETTERS.findall(text)))
