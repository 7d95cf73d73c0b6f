"""Lines read from a picture made into paragraphs with boxes; and how the reading is told. For PDF pages and images."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.base.types import Box
from core.ingest.limits import Limits, Tick, step
from core.ingest.ocr import OcrLine, Reader
from core.ingest.readers.build import clean
from core.ingest.readers.pdf_text import is_wide
from core.text.quality import scripts

NOT_INSTALLED = "Text in pictures is not read: the part of the program that reads it is not installed."
_HARD = 0.8  # certainty below which a page was hard to make out
_BODY = 0.25  # letters differ from the page's usual height by less: boxes of one size of letters vary that much
_HYPHENATED = re.compile(r"[^\W\d_]-$")
# a letter of each script that only some languages' texts are full of
_LETTERS = {
    "ж": ("Cyrillic", "ru uk bg be sr mk kk ky mn tg"), "ع": ("Arabic", "ar fa ur ps ckb ug"), "ש": ("Hebrew", "he yi"),
    "ก": ("Thai", "th"), "क": ("Devanagari", "hi mr ne sa"), "한": ("Korean", "ko"), "λ": ("Greek", "el"),
    "ა": ("Georgian", "ka"), "ա": ("Armenian", "hy"), "ক": ("Bengali", "bn as"), "த": ("Tamil", "ta"),
    "క": ("Telugu", "te"), "ಕ": ("Kannada", "kn"), "ക": ("Malayalam", "ml"), "ક": ("Gujarati", "gu"),
    "ខ": ("Khmer", "km"), "ລ": ("Lao", "lo"), "က": ("Burmese", "my"), "አ": ("Ethiopic", "am ti"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PictureBlock:
    """A paragraph or a row of a table: a box for each of its lines; `size` is the height of its letters."""

    text: str
    boxes: tuple[Box, ...]
    size: float
    is_row: bool


@dataclass(frozen=True, slots=True)
class PictureText:
    blocks: tuple[PictureBlock, ...] = ()
    certainty: float = 1.0  # 0..1, over its letters

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks)

    @property
    def is_hard(self) -> bool:
        return self.certainty < _HARD


class Pictures:
    """Reads the pages of one document, `Limits.ocr_pages` at most; `skipped` are the pages beyond.

    `later` are the pages left for another reading, once `Limits.ocr_seconds` are spent: what was read until then is
    kept in the cache, so that the next reading goes on from there.
    """

    def __init__(self, limits: Limits, tick: Tick) -> None:
        self._reader = Reader(limits)
        self._tick = tick
        self._left = limits.ocr_pages
        self._seconds = limits.ocr_seconds
        self.skipped: list[int] = []
        self.later: list[int] = []

    def read(self, number: int, pages: int, picture: Callable[[], np.ndarray], points: float) -> PictureText | None:
        """Text of page `number` of `pages`, None beyond the limits; boxes are pixels times `points`."""
        if self._left <= 0:
            self.skipped.append(number)
            return None
        if self._reader.seconds >= self._seconds:
            self.later.append(number)
            return None
        self._left -= 1
        lines = self._reader.read(picture(), self._tick)
        step(self._tick, f"page {number} of {pages} read from its picture")
        return _text(lines, points)

    def unknown_script(self, text: str, language: str = "") -> str:
        """The name of the script of `text`, or of the language named, when the engine does not know it."""
        known = self._reader.characters
        for letter, (name, languages) in _LETTERS.items():
            if letter not in known and language.lower().split("-")[0] in languages.split():
                return name
        found = scripts(text)
        main = found.most_common(1)[0][0] if found else ""
        letters = [c for c in set(text) if c.isalpha() and scripts(c)[main]]
        is_known = not letters or any(c.lower() in known or c.upper() in known for c in letters)
        return "" if is_known else main.capitalize()


def _text(lines: Sequence[OcrLine], points: float) -> PictureText:
    if not lines:
        return PictureText()
    usual = float(np.median([line.size for line in lines]))
    groups = [list(group) for _, group in itertools.groupby(lines, key=lambda line: line.paragraph)]
    letters = sum(len(line.text) for line in lines)
    certainty = sum(line.score * len(line.text) for line in lines) / max(1, letters)
    return PictureText(tuple(_block(group, usual, points) for group in groups), round(certainty, 3))


def _block(lines: Sequence[OcrLine], usual: float, points: float) -> PictureBlock:
    size = float(np.median([line.size for line in lines]))
    size = usual if abs(size - usual) < _BODY * usual else size
    boxes = tuple(
        Box(*(round(value * points, 1) for value in (line.left, line.top, line.right, line.bottom))) for line in lines
    )
    return PictureBlock(joined([line.text for line in lines]), boxes, round(size * points, 1), lines[0].in_row)


def still_to_read(pages: int) -> str:
    """The reason of a document that is unfinished."""
    which = "is still to be read from its picture" if pages == 1 else "are still to be read from their pictures"
    return f"{pages:,} of its pages {which}."


def page_list(numbers: Sequence[int]) -> str:
    """ "Pages 3-5, 9", in twenty parts at most."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    shown = ", ".join("-".join(map(str, run)) for run in runs[:20])
    more = sum(run[-1] - run[0] + 1 for run in runs[20:])
    return f"{'Page' if len(numbers) == 1 else 'Pages'} {shown}" + (f" and {more} more" if more else "")


def sentence(words: str, numbers: Sequence[int]) -> str:
    """`words` with {pages}, {were} and {their} filled in for the pages `numbers`."""
    one = len(numbers) == 1
    return words.format(pages=page_list(numbers), were="was" if one else "were", their="its" if one else "their")


def joined(lines: Iterable[str]) -> str:
    """Lines of a paragraph as one, words that a hyphen broke put together."""
    whole = ""
    for line in map(clean, lines):
        if not whole or not line:
            whole += line
        elif _HYPHENATED.search(whole) and line[0].islower():
            whole = whole[:-1] + line
        elif is_wide(whole[-1]) and is_wide(line[0]):
            whole += line
        else:
            whole += " " + line
    return whole
