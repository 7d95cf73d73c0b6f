"""Headings of plain text: lines underlined with = or -, and numbered lines where their numbers follow one another."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_LONGEST = 120
_UNDERLINE = re.compile(r"[^\S\n]*(={3,}|-{3,})\s*")
_COLUMNS = re.compile(r"\S(?:\s{2,}|\t)\S| \| ")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})[.)]?[^\S\n]+(?=[^\W\d_])(\S.*)")
_NO_HEADING_END = tuple(".,;:!?。，；：！？…")
_LONGEST_NUMBERED = 80


@dataclass(frozen=True, slots=True)
class Heading:
    """`lines`: how many lines of its paragraph it takes, its underline included."""

    text: str
    level: int
    lines: int


def find_headings(paragraphs: Sequence[str]) -> list[Heading | None]:
    """For each paragraph the heading that it begins with."""
    found = [_underlined(paragraph) for paragraph in paragraphs]
    above = max((heading.level for heading in found if heading), default=0)
    for index, heading in _numbered(paragraphs, above).items():
        found[index] = found[index] or heading
    return found


def _underlined(paragraph: str) -> Heading | None:
    lines = paragraph.strip("\n").split("\n")
    skipped = len(paragraph) - len(paragraph.lstrip("\n"))
    if len(lines) > 2 and _UNDERLINE.fullmatch(lines[0]) and lines[0].strip() == lines[2].strip():
        lines, skipped = lines[1:], skipped + 1
    text = lines[0].strip()
    line = _UNDERLINE.fullmatch(lines[1]) if len(lines) > 1 else None
    if line is None or not 0 < len(text) <= _LONGEST or _COLUMNS.search(text) or not any(map(str.isalnum, text)):
        return None
    if abs(len(line.group(1)) - _width(text)) > max(2, 0.25 * _width(text)):
        return None
    return Heading(text, 1 if "=" in line.group(1) else 2, skipped + 2)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


# --- numbered lines


def _numbered(paragraphs: Sequence[str], above: int) -> dict[int, Heading]:
    """Lines of their own with numbers in order and text below; none when they may as well be items of a list."""
    texts = [paragraph.strip() for paragraph in paragraphs]
    places = [index for index, text in enumerate(texts) if text]
    candidates = {index: match for index in places if (match := _NUMBERED.fullmatch(texts[index])) and _short(match)}
    numbers = {index: tuple(map(int, match.group(1).split("."))) for index, match in candidates.items()}
    following = dict(pairwise(places))
    if len(numbers) < 2 or not _in_order(list(numbers.values())):
        return {}
    for index, number in numbers.items():
        below = numbers.get(following.get(index, -1))
        has_text = following.get(index) is not None and (below is None or below[:-1] == number)
        if not has_text:
            return {}
    return {
        index: Heading(texts[index], above + len(number), paragraphs[index].count("\n") + 1)
        for index, number in numbers.items()
    }


def _short(match: re.Match[str]) -> bool:
    text = match.group(2)
    begins = text[0].isupper() or not (text[0].isupper() or text[0].islower())  # scripts without capitals
    return begins and len(match.group()) <= _LONGEST_NUMBERED and not text.endswith(_NO_HEADING_END)


def _in_order(numbers: Sequence[tuple[int, ...]]) -> bool:
    """Does each number follow the one before: 1, 2, 2.1, 2.2, 3?"""
    before: tuple[int, ...] = (0,)
    if numbers[0] == (0,):
        before = (-1,)
    for number in numbers:
        deeper = number == (*before, 1)
        next_one = len(number) <= len(before) and number == (*before[: len(number) - 1], before[len(number) - 1] + 1)
        if not deeper and not next_one:
            return False
        before = number
    return True
