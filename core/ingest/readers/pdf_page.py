"""Pictures of PDF pages, and where on them a piece of text stands."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from core.base.errors import KnownError
from core.ingest.readers.pdf_chars import CannotOpen, NeedsPassword, load_page, open_pdf
from core.ingest.readers.pdf_layout import PageLayout
from core.ingest.readers.pdf_pages import Pages
from core.ingest.readers.pdf_running import PageEdges

_MOST_PIXELS = 40_000_000  # a page of a hostile size is shown smaller

Rect = tuple[float, float, float, float]


def page_rects(
    path: str | Path, page_number: int, scale: float, spans: Sequence[tuple[int, int]], password: str = ""
) -> list[Rect]:
    """Rectangles (left, top, right, bottom) in pixels of `render` at `scale`, one for each line of each span.

    `spans` count in the page's text as the reader gave it: offsets in the document less the page's start.
    Pages that only the second reader can open have no rectangles.
    """
    try:
        with open_pdf(path, password) as document:
            found = Pages(document, _known_edges(*_version(path)), every_box=True).layout(page_number - 1)
            factor = _factor((found.chars.width, found.chars.height), scale)
    except (CannotOpen, NeedsPassword):
        return []
    return [
        tuple(round(float(value) * factor, 1) for value in box)  # type: ignore[misc]  # always four
        for start, end in spans
        for box in _boxes(found, max(0, start), end)
    ]


def _version(path: str | Path) -> tuple[str, int, int]:
    status = Path(path).stat()
    return str(path), status.st_mtime_ns, status.st_size


@lru_cache(maxsize=4)
def _known_edges(path: str, modified: int, size: int) -> dict[int, PageEdges]:
    """What was seen of the pages of this version of the file, so that the next page needs fewer of its neighbours."""
    return {}


def _boxes(found: PageLayout, start: int, end: int) -> Iterator[np.ndarray]:
    """Boxes of the characters of a span, joined while they stand on one line."""
    chars = found.source()[start:end]
    chars = chars[chars >= 0]
    boxes = found.chars.boxes[chars]
    lines = found.line_of()[chars]
    shown = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1]) & (lines >= 0)
    boxes, lines = boxes[shown], lines[shown]
    for line in dict.fromkeys(lines.tolist()):
        on_line = boxes[lines == line]
        yield np.concatenate([on_line[:, :2].min(axis=0), on_line[:, 2:].max(axis=0)])


def render(path: str | Path, page_number: int, scale: float, password: str = "") -> tuple[bytes, int, int]:
    """The page as PNG with its width and height in pixels; `scale` 1 is 72 dots an inch.

    Raises:
        KnownError: the page cannot be shown.
    """
    try:
        with open_pdf(path, password) as document:
            page = load_page(document, page_number - 1)
            try:
                bitmap = page.render(scale=_factor(page.get_size(), scale), rev_byteorder=True)
            finally:
                page.close()
            return png(bitmap.to_numpy()[..., :3]), bitmap.width, bitmap.height
    except (CannotOpen, NeedsPassword, OSError) as error:
        advice = "Unlock it with its password." if isinstance(error, NeedsPassword) else "Open it in another program."
        raise KnownError(f"Page {page_number} cannot be shown.", advice) from None


def png(pixels: np.ndarray) -> bytes:
    """[height, width, 3] uint8 as a PNG file (W3C Recommendation, sections 5.2 and 11.2)."""
    height, width, _ = pixels.shape
    lines = np.zeros((height, 1 + 3 * width), np.uint8)  # each line begins with its filter: none
    lines[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits, RGB
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def _factor(size: tuple[float, float], scale: float) -> float:
    pixels = size[0] * size[1] * scale * scale
    return scale if pixels <= _MOST_PIXELS else scale * (_MOST_PIXELS / pixels) ** 0.5
