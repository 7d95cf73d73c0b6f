"""Characters of a PDF made searchable (ligatures, presentation forms, accents), with the place of each kept."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from core.ingest.readers.build import clean

# Latin, Armenian, Hebrew and Arabic forms that stand for other letters; radicals drawn as ideographs
_FORMS = "\ufb00-\ufb1c\ufb1d-\ufb4f\ufb50-\ufdcf\ufdf0-\ufdfc\ufe70-\ufefc\u2f00-\u2fd5"
_INVISIBLE = (
    r"\x00-\x1f\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff9-\uffff\ud800-\udfff"
)
_SPECIAL = re.compile(rf"[^\S ]|[{_FORMS}{_INVISIBLE}]|  ")
_FORM = re.compile(f"[{_FORMS}]")


def is_wide(character: str) -> bool:
    """Chinese and Japanese characters, which stand without spaces between words."""
    return "\u2e80" <= character <= "\ua4cf" or "\uf900" <= character <= "\ufaff" or "\uff00" <= character <= "\uffef"


def normalize(text: str) -> tuple[str, list[int] | None]:
    """NFC text without forms, control characters and doubled spaces, and the index in `text` that each character
    comes from, -1 for none; None when nothing changed."""
    if text == text.strip() and not _SPECIAL.search(text) and unicodedata.is_normalized("NFC", text):
        return text, None
    out: list[str] = []
    origin: list[int] = []
    for cluster, where in _clusters(text):
        for character in unicodedata.normalize("NFC", cluster):
            if character == " " and (not out or out[-1] == " "):
                continue
            out.append(character)
            origin.append(where)
    while out and out[-1] == " ":
        out.pop()
        origin.pop()
    result = "".join(out)
    if clean(result) != result:  # characters that compose across clusters: rare, and their boxes are dropped
        result = clean(result).strip()
        return result, [origin[0] if origin else -1] * len(result)
    return result, origin


def _clusters(text: str) -> list[tuple[str, int]]:
    """Characters with the marks that combine with them."""
    clusters: list[tuple[str, int]] = []
    for where, character in enumerate(text):
        piece = _piece(character)
        if not piece:
            continue
        if clusters and _combines(piece[0]):
            before, first = clusters[-1]
            clusters[-1] = (before + piece, first)
        else:
            clusters.append((piece, where))
    return clusters


@cache
def _piece(character: str) -> str:
    if character.isspace():
        return " "
    if _FORM.match(character):
        return unicodedata.normalize("NFKC", character).strip() or character
    return clean(character)


@cache
def _combines(character: str) -> bool:
    # a mark, or a vowel or final of decomposed Hangul
    return unicodedata.category(character) in ("Mn", "Mc") or "\u1160" <= character <= "\u11ff"
