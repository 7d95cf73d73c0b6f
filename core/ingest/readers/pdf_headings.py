"""Which paragraphs of a PDF are headings, and how deep: by its outline if it has one, else by letter size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_LONGEST = 150
_DEEPEST = 6
_LARGER = 1.12  # times the body size
_NUMBERED = re.compile(
    r"(?:(\d{1,2}(?:\.\d{1,2}){0,4})\.?|([IVX]{1,5})\.|(Chapter|Appendix|Kapitel|Chapitre)\s+\w+)\s+\S", re.I
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A paragraph of the document as far as headings go."""

    page: int  # from 0
    text: str
    size: float
    is_row: bool
    bold: bool


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    title: str
    level: int  # from 1
    page: int  # from 0


def levels(paragraphs: Sequence[Candidate], outline: Sequence[OutlineEntry]) -> list[int]:
    """For each paragraph its depth as a heading, 0 for body text."""
    by_outline = _by_outline(paragraphs, outline)
    if sum(map(bool, by_outline)) >= 3:
        return by_outline
    by_size = _by_size(paragraphs)
    heading_characters = sum(len(p.text) for p, level in zip(paragraphs, by_size, strict=True) if level)
    everything = sum(len(p.text) for p in paragraphs)
    if heading_characters * 3 > everything:  # a poster or a form, where size tells nothing
        return [0] * len(paragraphs)
    return by_size


def with_title(depths: Sequence[int], paragraphs: Sequence[Candidate], title: str) -> list[int]:
    """`depths` with the first line of the first page that is the document's title as a heading."""
    marked = list(depths)
    wanted = _words(title)
    first_page = (i for i, p in enumerate(paragraphs) if p.page == 0 and _words(p.text) == wanted)
    place = next(first_page, None) if wanted else None
    if place is not None and not marked[place]:
        marked[place] = 1
    return marked


def _words(title: str) -> str:
    return " ".join(title.casefold().split())


def _by_outline(paragraphs: Sequence[Candidate], outline: Sequence[OutlineEntry]) -> list[int]:
    wanted: dict[tuple[int, str], int] = {}
    for entry in outline:
        wanted.setdefault((entry.page, _key(entry.title)), min(entry.level, _DEEPEST))
    found = [0] * len(paragraphs)
    for index, paragraph in enumerate(paragraphs):
        if len(paragraph.text) <= _LONGEST and wanted:
            found[index] = wanted.pop((paragraph.page, _key(paragraph.text)), 0)
    return found


def _key(title: str) -> str:
    """Letters only: numbering, dots and spaces differ between an outline and its page."""
    return re.sub(r"[\W\d_]+", "", title).casefold()


def _by_size(paragraphs: Sequence[Candidate]) -> list[int]:
    weights: Counter[float] = Counter()
    for paragraph in paragraphs:
        weights[round(paragraph.size, 1)] += len(paragraph.text)
    if not weights:
        return []
    body = max(weights, key=lambda size: (weights[size], -size))
    marks = [_mark(paragraph, body) for paragraph in paragraphs]
    sizes = sorted({mark for mark in marks if mark > body}, reverse=True)
    depth = {size: min(index + 1, _DEEPEST) for index, size in enumerate(_merged(sizes))}
    lowest = min(len(set(depth.values())) + 1, _DEEPEST)
    return [
        0 if not mark else _depth_of(mark, depth) if mark > body else _numbered_depth(paragraph.text, lowest)
        for mark, paragraph in zip(marks, paragraphs, strict=True)
    ]


def _mark(paragraph: Candidate, body: float) -> float:
    """The size of a heading; the body's size for one that only its weight or number shows; 0 for no heading."""
    text = paragraph.text
    if paragraph.is_row or not 2 < len(text) <= _LONGEST or not any(c.isalpha() for c in text) or "://" in text:
        return 0.0
    if paragraph.size > _LARGER * body:
        return round(paragraph.size, 1) if not text.endswith((",", ";")) else 0.0
    short = len(text) <= 90 and not text.endswith((".", ",", ";", ":", "。", "，"))
    if short and paragraph.size > 0.95 * body and paragraph.bold and text[0].isalnum() and not text[0].islower():
        return body
    return 0.0


def _merged(sizes: list[float]) -> list[float]:
    """Sizes that differ by less than 4 % are one."""
    merged: list[float] = []
    for size in sizes:
        if not merged or size < 0.96 * merged[-1]:
            merged.append(size)
    return merged


def _depth_of(size: float, depth: dict[float, int]) -> int:
    return depth[min(depth, key=lambda known: abs(known - size))]


def _numbered_depth(text: str, lowest: int) -> int:
    found = _NUMBERED.match(text)
    dots = found.group(1).count(".") if found and found.group(1) else 0
    return min(lowest + dots, _DEEPEST)
