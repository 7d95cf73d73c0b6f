"""Which part of a passage to show: the window that holds most of the matches."""

from __future__ import annotations

from collections.abc import Sequence

from core.base.types import Span

_SEARCH = 40  # characters to look for a word boundary at the window's edges


def window(text: str, spans: Sequence[Span], length: int = 300) -> Span:
    """The range of at most `length` characters of `text` that holds most of `spans`, cut between words.

    The earliest of equally good windows is taken; without spans it is the beginning of the text.
    """
    if len(text) <= length:
        return Span(0, len(text))
    first, last = _densest(spans, length)
    spare = length - (last - first)
    start = max(0, min(first - spare // 2, len(text) - length))
    return _between_words(text, start, start + length, first, last)


def _densest(spans: Sequence[Span], length: int) -> tuple[int, int]:
    """Start of the first and end of the last span of the fullest window."""
    ordered = sorted((s for s in spans if s.end - s.start <= length), key=lambda s: (s.start, s.end))
    best = (0, 0, 0)
    left = 0
    for right, span in enumerate(ordered):
        while span.end - ordered[left].start > length:
            left += 1
        if right - left + 1 > best[0]:
            best = (right - left + 1, ordered[left].start, span.end)
    return best[1], best[2]


def _between_words(text: str, start: int, end: int, first: int, last: int) -> Span:
    """Move the edges inwards to white space, never into [first, last)."""
    if start > 0:
        stop = min(start + _SEARCH, first)
        start = next((i + 1 for i in range(start - 1, stop) if text[i].isspace()), start)
    if end < len(text):
        stop = max(end - _SEARCH, last)
        end = next((i for i in range(end, stop - 1, -1) if text[i].isspace()), end)
    return Span(start, end)


def merge(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The same characters as `spans`, sorted, overlapping ones made one."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if merged and span.start < merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)
