"""Where a piece of text stands on a page that was read from its picture: from the boxes of its stored blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.base.types import Block, Box
from core.ingest.readers.pdf_page import Rect


def block_rects(
    blocks: Sequence[Block], page_number: int, spans: Sequence[tuple[int, int]], scale: float
) -> list[Rect]:
    """Rectangles in pixels at `scale`, one for each line of each span; `spans` count in the document's text.

    A block keeps a box for each of its lines, but not which characters stand in it: they are taken to be spread
    evenly over the lines.
    """
    on_page = [block for block in blocks if block.page == page_number and block.boxes]
    return [
        (
            round(box.left * scale, 1),
            round(box.top * scale, 1),
            round(box.right * scale, 1),
            round(box.bottom * scale, 1),
        )
        for start, end in spans
        for block in on_page
        if start < block.end and end > block.start
        for box in _parts(block, max(start, block.start) - block.start, min(end, block.end) - block.start)
    ]


def _parts(block: Block, start: int, end: int) -> Iterator[Box]:
    """The parts of the block's lines that its characters `start` to `end` take."""
    lengths = [_length(box) for box in block.boxes]
    each = sum(lengths) / max(1, block.end - block.start)
    before = 0.0
    for box, length in zip(block.boxes, lengths, strict=True):
        first, last = max(0.0, start * each - before), min(length, end * each - before)
        if last - first > 0.5 * each:
            yield _part(box, first, last)
        before += length


def _is_upright(box: Box) -> bool:
    """A column of Japanese, or a line on a page that lies on its side."""
    return box.bottom - box.top > 1.5 * (box.right - box.left)


def _length(box: Box) -> float:
    return box.bottom - box.top if _is_upright(box) else box.right - box.left


def _part(box: Box, first: float, last: float) -> Box:
    if _is_upright(box):
        return Box(box.left, box.top + first, box.right, box.top + last)
    return Box(box.left + first, box.top, box.left + last, box.bottom)
