"""Text in pictures: which way up the page is, its lines in reading order, kept by content when asked to.

A page may lie on its side or stand on its head. The longest lines are read both ways, and the page is taken to
stand as they read best. Vertical Japanese and Chinese is read like a page that lies on its left side: column after
column from the right.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.ingest import ocr_cache
from core.ingest.limits import Limits, Tick
from core.ingest.ocr_engine import Engine, EngineFailed, available, engine, version
from core.ingest.ocr_order import in_order

__all__ = ["EngineFailed", "OcrLine", "Reader", "available", "read_picture", "version"]

_CERTAIN = 0.5  # lines read with less certainty are no text
_CERTAIN_SHORT = 0.75  # the same for one or two characters: spots and ornaments
_SAMPLE = 6  # lines that are read both ways
_TALL = 1.5  # times as high as wide: a line that lies on its side
_SMALLEST = 12  # pixels: a picture with a shorter side holds no text
_MOST_LINES = 3000


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of text in a picture: its box in pixels of that picture, and the certainty of its text (0..1).

    `paragraph` counts paragraphs in reading order; lines of one row of a table have `in_row` set. `size` is the
    height of the line's letters, across the way it is read.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    score: float
    paragraph: int = 0
    in_row: bool = False
    size: float = 0.0


class Reader:
    """Reads pictures one after the other. The engine is loaded for the first that is not known yet.

    `seconds` were spent on pictures that were not known.
    """

    def __init__(self, limits: Limits) -> None:
        self.seconds = 0.0
        self._cache = ocr_cache.Cache(limits.cache, version()) if limits.cache else None

    def read(self, pixels: np.ndarray, tick: Tick) -> list[OcrLine]:
        """Lines in reading order of `pixels` ([H, W, 3] uint8, RGB)."""
        known = self._cache.get(pixels) if self._cache else None
        if known is not None:
            return [OcrLine(*line) for line in known]
        begun = time.monotonic()
        lines = self._read(pixels, tick)
        self.seconds += time.monotonic() - begun
        if self._cache:
            self._cache.put(pixels, [_plain(line) for line in lines])
        return lines

    @property
    def characters(self) -> frozenset[str]:
        """All characters the engine knows."""
        return engine().characters

    def _read(self, pixels: np.ndarray, tick: Tick) -> list[OcrLine]:
        if min(pixels.shape[:2]) < _SMALLEST:
            return []
        tick()
        quads = engine().find(pixels)[:_MOST_LINES]
        tick()
        if not len(quads):
            return []
        turns = _turns(engine(), pixels, quads, tick)
        quads = _turned(quads, turns, pixels.shape[1], pixels.shape[0])
        lines = _lines(engine(), np.rot90(pixels, turns), quads, tick)
        return [_back(line, turns, pixels.shape[1], pixels.shape[0]) for line in lines]


def read_picture(pixels: np.ndarray, limits: Limits, tick: Tick) -> list[OcrLine]:
    """Lines of one picture in reading order (see `Reader`). Raises ImportError when the engine is not installed."""
    return Reader(limits).read(pixels, tick)


def _lines(eye: Engine, pixels: np.ndarray, quads: np.ndarray, tick: Tick) -> list[OcrLine]:
    """The lines of a picture that is the right way up."""
    crops = eye.cut(pixels, quads)
    texts = eye.read(crops, tick)
    aside = [i for i, quad in enumerate(quads) if _is_tall(quad) and len(texts[i][0]) > 1]
    for index, other in zip(aside, eye.read([_around(crops[i]) for i in aside], tick), strict=True):
        texts[index] = max(texts[index], other, key=lambda found: found[1])
    found = [_line(quad, text.strip(), score) for quad, (text, score) in zip(quads, texts, strict=True)]
    found = [line for line in found if line.text and line.score >= _needed(line.text)]
    boxes = np.array([(x.left, x.top, x.right, x.bottom) for x in found], np.float32).reshape(-1, 4)
    return [
        replace(found[i], paragraph=p, in_row=is_row, size=found[i].bottom - found[i].top)
        for i, p, is_row in in_order(boxes, [line.text for line in found])
    ]


def _line(quad: np.ndarray, text: str, score: float) -> OcrLine:
    low, high = quad.min(axis=0), quad.max(axis=0)
    return OcrLine(text, float(low[0]), float(low[1]), float(high[0]), float(high[1]), round(score, 3))


def _needed(text: str) -> float:
    return _CERTAIN if len(text) > 2 else _CERTAIN_SHORT


# --- which way up


def _turns(eye: Engine, pixels: np.ndarray, quads: np.ndarray, tick: Tick) -> int:
    """Quarter turns to the left that bring the page upright."""
    sides = np.stack([_width(quads), _height(quads)])
    lies = sides[1] > _TALL * sides[0]
    aside = float(sides.max(axis=0)[lies].sum()) > float(sides.max(axis=0)[~lies].sum())
    group = np.flatnonzero(lies if aside else ~lies)
    longest = group[np.argsort(-sides.max(axis=0)[group])][:_SAMPLE]
    crops = eye.cut(pixels, quads[longest])
    if not aside and 2 * sum(eye.upside_down(crops)) < len(crops):
        return 0
    here = _certainty(eye.read(crops, tick))
    there = _certainty(eye.read([_around(crop) for crop in crops], tick))
    return int(aside) + (2 if there > here else 0)


def _around(crop: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.rot90(crop, 2))


def _certainty(texts: Sequence[tuple[str, float]]) -> float:
    return sum(score**2 * len(text) for text, score in texts)


def _width(quads: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1))


def _height(quads: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(quads[:, 3] - quads[:, 0], axis=1))


def _is_tall(quad: np.ndarray) -> bool:
    return bool(_height(quad[None])[0] > _TALL * _width(quad[None])[0])


def _turned(quads: np.ndarray, turns: int, width: int, height: int) -> np.ndarray:
    """Corners in the picture turned left `turns` times, each line's top left corner first again."""
    for _ in range(turns):
        quads = np.stack([quads[..., 1], width - quads[..., 0]], axis=-1)
        quads = np.roll(quads, -1, axis=1)
        width, height = height, width
    return quads


def _back(line: OcrLine, turns: int, width: int, height: int) -> OcrLine:
    """The line with its box in the picture as it was; `width` and `height` are that picture's."""
    left, top, right, bottom = line.left, line.top, line.right, line.bottom
    if turns == 1:
        left, top, right, bottom = width - bottom, left, width - top, right
    elif turns == 2:
        left, top, right, bottom = width - right, height - bottom, width - left, height - top
    elif turns == 3:
        left, top, right, bottom = top, height - right, bottom, height - left
    return replace(line, left=left, top=top, right=right, bottom=bottom)


def _plain(line: OcrLine) -> list[object]:
    box = [round(value, 1) for value in (line.left, line.top, line.right, line.bottom)]
    return [line.text, *box, line.score, line.paragraph, line.in_row, round(line.size, 1)]
