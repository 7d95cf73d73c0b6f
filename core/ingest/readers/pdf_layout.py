"""From a page's characters to lines and paragraphs. The one place where the text of a PDF page is decided.

Both reading and marking a citation on the page picture come through `layout`, so that offsets and boxes always
agree. Order is PDFium's (the order of the content); its line ends are taken, its paragraphs are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.base.types import Box
from core.ingest.readers.pdf_chars import HYPHEN, PageChars
from core.ingest.readers.pdf_text import is_wide, normalize

LIST_MARK = re.compile(r"(?:[•‣◦▪●○■□–—*\-\uf0b7\uf0a7]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\([ivx]{1,4}\))\s+\S")
_LEADERS = re.compile(r"(?:\.\s?){5,}|…{2,}")
_LINE_END = re.compile(rf"\r\n|[\r\n]|(?<={HYPHEN})")
_HIDDEN = 0.25  # times the body size: too small to be seen
_SENTENCE_END = tuple(".!?:;。！？：؟")
_HYPHENS = (HYPHEN, "-", "\u2010", "\xad")


@dataclass(frozen=True, slots=True)
class Line:
    """What stands on one height. `size` is the median height of its characters.

    `pieces` are ranges of the page's characters, `text` their text (a raised figure is a piece of its own).
    """

    pieces: tuple[tuple[int, int], ...]
    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    in_columns: bool  # wide gaps: a row of a table
    right_to_left: bool


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`start`/`end` count in the page's text; `first_char` is PDFium's index of its first character."""

    start: int
    end: int
    boxes: tuple[Box, ...]
    size: float
    is_row: bool
    first_char: int


@dataclass(frozen=True, slots=True)
class PageLayout:
    """`source[i]` is the index of PDFium's character that `text[i]` comes from, -1 for what joins lines.

    `line_of[c]` is the number of the line that PDFium's character `c` stands in, -1 for none.
    """

    text: str
    source: np.ndarray
    paragraphs: tuple[Paragraph, ...]
    chars: PageChars
    line_of: np.ndarray


SEPARATOR = "\n\n"


def layout(chars: PageChars) -> PageLayout:
    """The text of a page, its paragraphs joined by `SEPARATOR`."""
    lines = _lines(chars)
    line_of = np.full(len(chars.text), -1, np.int32)
    for number, line in enumerate(lines):
        for start, end in line.pieces:
            line_of[start:end] = number
    parts: list[str] = []
    sources: list[np.ndarray] = []
    paragraphs: list[Paragraph] = []
    length = 0
    for group in _paragraphs(lines, _body_size(lines)):
        text, source = normalize(*_join(group, chars.text))
        if not text:
            continue
        if parts:
            parts.append(SEPARATOR)
            sources.append(np.full(len(SEPARATOR), -1, np.int64))
            length += len(SEPARATOR)
        parts.append(text)
        sources.append(source)
        boxes = tuple(
            Box(round(line.left, 1), round(line.top, 1), round(line.right, 1), round(line.bottom, 1)) for line in group
        )
        size = sorted(line.size for line in group)[len(group) // 2]
        paragraphs.append(
            Paragraph(length, length + len(text), boxes, size, group[0].in_columns, group[0].pieces[0][0])
        )
        length += len(text)
    source = np.concatenate(sources) if sources else np.zeros(0, np.int64)
    return PageLayout("".join(parts), source, tuple(paragraphs), chars, line_of)


# --- lines


def _lines(chars: PageChars) -> list[Line]:
    lines: list[Line] = []
    for line in _raw_lines(chars):
        lines.append(_merge(lines.pop(), line) if lines and _goes_on(lines[-1], line) else line)
    smallest = _HIDDEN * _body_size(lines)
    return [line for line in lines if line.size >= smallest or line.size <= 0]


def _raw_lines(chars: PageChars) -> Iterator[Line]:
    """PDFium's lines with their measures, all lines of the page at once."""
    spans = _line_spans(chars.text)
    shown = _shown(chars)
    left, top, right, bottom = chars.boxes[shown].T
    height = bottom - top
    first = np.searchsorted(shown, [start for start, _ in spans])
    last = np.searchsorted(shown, [end for _, end in spans])
    for (start, end), low, high in zip(spans, first.tolist(), last.tolist(), strict=True):
        text = chars.text[start:end]
        rtl = _is_right_to_left(text)
        if low == high:  # characters without any extent
            yield Line(((start, end),), text, 0.0, 0.0, 0.0, 0.0, 0.0, False, rtl)
            continue
        part = slice(low, high)
        size = sorted(height[[low, (low + high) // 2, high - 1]].tolist())[1]
        yield Line(
            ((start, end),),
            text,
            float(left[part].min()),
            float(top[part].min()),
            float(right[part].max()),
            float(bottom[part].max()),
            size,
            _widest_gap(left[part], right[part], rtl) > 1.6 * size > 0,
            rtl,
        )


def _line_spans(text: str) -> list[tuple[int, int]]:
    """Ranges of the lines that hold something to see, without the white space around it."""
    spans: list[tuple[int, int]] = []
    begin = 0
    for end, following in [*((m.start(), m.end()) for m in _LINE_END.finditer(text)), (len(text), len(text))]:
        piece = text[begin:end]
        inner = piece.strip()
        if inner:
            start = begin + len(piece) - len(piece.lstrip())
            spans.append((start, start + len(inner)))
        begin = following
    return spans


def _shown(chars: PageChars) -> np.ndarray:
    """Indices of the characters that are no white space and have an extent."""
    codes = np.frombuffer(chars.text.encode("utf-32-le", "surrogatepass"), np.uint32)
    solid = (codes > 32) & (codes != 0xA0) & (codes != 0x3000)
    return np.flatnonzero(solid & (chars.boxes[:, 3] > chars.boxes[:, 1]))


def _widest_gap(left: np.ndarray, right: np.ndarray, right_to_left: bool) -> float:
    if len(left) < 2:
        return 0.0
    return float((left[:-1] - right[1:]).max() if right_to_left else (left[1:] - right[:-1]).max())


def _goes_on(before: Line, line: Line) -> bool:
    """PDFium ends a line at a raised or lowered figure: the rest of it follows on the same height."""
    size = max(before.size, line.size)
    gap = line.left - before.right
    shared = min(before.bottom, line.bottom) - max(before.top, line.top)
    small = min(before.size, line.size)
    return not before.text.endswith(HYPHEN) and shared > 0.5 * small and -0.2 * size < gap < 0.6 * size


def _merge(before: Line, line: Line) -> Line:
    main = before if len(before.text) >= len(line.text) else line
    return Line(
        before.pieces + line.pieces,
        before.text + line.text,
        min(before.left, line.left),
        main.top,
        max(before.right, line.right),
        main.bottom,
        main.size,
        before.in_columns or line.in_columns,
        before.right_to_left,
    )


def _is_right_to_left(text: str) -> bool:
    if text.isascii():
        return False
    count = sum("\u0590" <= c <= "\u08ff" or "\ufb1d" <= c <= "\ufefc" for c in text)
    return count * 2 > sum(map(str.isalpha, text))


def _body_size(lines: list[Line]) -> float:
    """The height most characters of the page have."""
    weights: dict[float, int] = {}
    for line in lines:
        key = round(line.size, 1)
        weights[key] = weights.get(key, 0) + len(line.text)
    return max(weights, key=lambda size: (weights[size], -size), default=0.0)


# --- paragraphs


def _paragraphs(lines: list[Line], body_size: float) -> list[list[Line]]:
    groups: list[list[Line]] = []
    for region in _regions(lines):
        left, right = min(line.left for line in region), max(line.right for line in region)
        current = [region[0]]
        for line in region[1:]:
            if _belong_together(current, line, left, right, body_size):
                current.append(line)
            else:
                groups.append(current)
                current = [line]
        if groups and _continues_in_next_column(groups[-1][-1], current[0]) and current[0] is region[0]:
            groups[-1].extend(current)
        else:
            groups.append(current)
    return groups


def _regions(lines: list[Line]) -> list[list[Line]]:
    """Runs of lines of one size, each right below the one before."""
    regions: list[list[Line]] = []
    for line in lines:
        if regions and _right_below(regions[-1][-1], line):
            regions[-1].append(line)
        else:
            regions.append([line])
    return regions


def _right_below(above: Line, line: Line) -> bool:
    size = max(above.size, line.size)
    if abs(above.size - line.size) > 0.12 * size:
        return False
    gap = line.top - above.bottom
    overlap = min(above.right, line.right) - max(above.left, line.left)
    return -0.7 * size < gap < 0.75 * size and line.top > above.top and overlap > 0


def _belong_together(current: list[Line], line: Line, left: float, right: float, body_size: float) -> bool:
    """Was the line before broken only because the margin was reached?"""
    above = current[-1]
    if line.in_columns or above.in_columns or LIST_MARK.match(line.text) or _LEADERS.search(above.text):
        return False
    if above.text.endswith((HYPHEN, "\xad")):
        return True
    if line.size > 1.15 * body_size:  # the lines of a title are broken by its author
        return True
    first_word = line.text.split(None, 1)[0]
    word_width = (line.right - line.left) * min(len(first_word) + 1, len(line.text)) / max(1, len(line.text))
    if is_wide(first_word[0]):
        word_width = 2 * line.size
    room = above.left - left if line.right_to_left else right - above.right
    broken_by_margin = room < word_width + 0.3 * line.size
    indent = (above.right - line.right) if line.right_to_left else line.left - above.left
    is_hanging = len(current) == 1 and LIST_MARK.match(above.text)
    new_indent = indent > 0.9 * line.size and not is_hanging and above.text.endswith(_SENTENCE_END)
    return broken_by_margin and not new_indent


def _continues_in_next_column(above: Line, line: Line) -> bool:
    """A sentence that goes on at the top of the next column."""
    same_size = abs(above.size - line.size) < 0.05 * max(above.size, line.size)
    moved = line.top < above.top and line.left > above.right - above.size and not line.right_to_left
    goes_on = line.text[0].islower() and not above.text.endswith(_SENTENCE_END)
    return same_size and moved and goes_on and not (above.in_columns or line.in_columns)


# --- text


def _join(lines: list[Line], page_text: str) -> tuple[str, np.ndarray]:
    """The lines of a paragraph as one, words that a hyphen broke put together; with the source of each character."""
    parts: list[str] = []
    sources: list[np.ndarray] = []
    for number, line in enumerate(lines):
        following = lines[number + 1].text if number + 1 < len(lines) else ""
        text, glue = _line_end(line.text, following, page_text)
        parts.append(text + glue)
        sources.append(np.concatenate([np.arange(start, end) for start, end in line.pieces])[: len(text)])
        sources.append(np.full(len(glue), -1, np.int64))
    return "".join(parts), np.concatenate(sources)


def _line_end(text: str, following: str, page_text: str) -> tuple[str, str]:
    """What stays of the line, and what goes between it and the next."""
    if not following:
        return text.replace(HYPHEN, "-"), ""
    if text.endswith(_HYPHENS) and len(text) > 1 and (text[-2].isalnum()):
        body = text[:-1]
        if _is_broken_word(body, following, page_text):
            return body, ""
        return body + "-", ""
    if is_wide(text[-1]) and is_wide(following[0]):
        return text, ""
    return text, " "


def _is_broken_word(body: str, following: str, page_text: str) -> bool:
    """Is the hyphen there only because of the line end?"""
    before = re.search(r"[^\W\d_]+$", body)
    after = re.match(r"[^\W\d_]+", following)
    if before is None or after is None or not after.group()[0].islower():
        return False
    compound = f"{before.group()}-{after.group()}"
    in_compound = body[: before.start()].endswith(("-", "\u2010"))
    return compound not in page_text and not in_compound
