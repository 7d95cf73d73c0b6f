"""Which pages of a PDF are read from their picture, and their pictures. Reading them is `picture`'s."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from core.ingest import ocr
from core.ingest.limits import Limits, Tick
from core.ingest.readers.pdf_chars import CannotOpen, load_page, open_page
from core.ingest.readers.picture import NOT_INSTALLED, Pictures, PictureText, sentence
from core.text.quality import GOOD, quality

_DOTS = 200 / 72  # pixels a point
_LONGEST_SIDE = 2600  # pixels of a page's picture
_MOST_PIXELS = 120_000_000  # of the pictures on a page: PDFium unpacks them whole, however small they are shown
_FEW_LETTERS = 100  # a stamp or a page number on a scan
_COVERED = 0.5  # of the page by pictures: a scan
_DRAWN = 80  # shapes on a page without text: letters may be drawn
_LOST = 0.2  # of the page's characters cannot be read
_BETTER = 0.15  # how much better than the text layer the text of the picture must read to take its place
_PART = 250  # characters of a page looked at in one place
_LONGEST_LANGUAGE = 100  # bytes
_SURE = 0.85  # certainty below which nothing is believed where the script is one the engine does not know


@dataclass(frozen=True, slots=True)
class Layer:
    """What the text layer of a page gave; `unreadable` are characters whose font does not say what they are."""

    text: str
    unreadable: int
    letters: int
    quality: float

    @classmethod
    def of(cls, text: str, unreadable: int) -> Layer:
        return cls(text, unreadable, sum(map(str.isalnum, text)), quality(_sample(text)))

    @property
    def is_garbage(self) -> bool:
        return self.quality < GOOD or self.unreadable > _LOST * (self.unreadable + self.letters)

    @property
    def goodness(self) -> float:
        """Quality, less what is lost."""
        return self.quality * self.letters / max(1, self.letters + self.unreadable)


def _sample(text: str) -> str:
    """Beginning, middle and end of a long text: a font that tells no letters shows there, in a third of the time."""
    if len(text) <= 3 * _PART:
        return text
    middle = len(text) // 2
    return f"{text[:_PART]} {text[middle : middle + _PART]} {text[-_PART:]}"


@dataclass(frozen=True, slots=True)
class Pictured:
    """`size` is the share of the page that its pictures cover, `pixels` what they unpack to, `shapes` are lines."""

    size: float = 0.0
    pixels: int = 0
    shapes: int = 0

    @property
    def is_any(self) -> bool:
        return self.size > 0 or self.shapes >= _DRAWN


@dataclass(slots=True)
class PageEyes:
    """Reads the pages of `document` that need it from their pictures. Page numbers are from 1.

    `read` were read so; `refused` have pictures too large to unpack; `failed` could not be drawn.
    """

    document: pdfium.PdfDocument
    limits: Limits
    tick: Tick
    read: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    foreign: dict[int, str] = field(default_factory=dict)  # pages in a script that cannot be read
    hard: list[int] = field(default_factory=list)
    wanted: list[int] = field(default_factory=list)  # would have been read, were reading pictures on
    _good: str = ""  # a text of this document that reads well: it tells the script of the others
    _pictures: Pictures | None = None

    def look(self, index: int, layer: Layer) -> PictureText | None:
        """The text of page `index` (from 0) from its picture, when that is better than `layer`."""
        if not self._needs(index, layer):
            self._good = self._good or (layer.text if layer.letters > _FEW_LETTERS else "")
            return None
        self.wanted.append(index + 1)
        if not self._can_read:
            return None
        found = self._look(index)
        if found is None or not self._is_better(found, layer, index):
            return None
        self.read.append(index + 1)
        if found.is_hard:
            self.hard.append(index + 1)
        return found

    def _needs(self, index: int, layer: Layer) -> bool:
        if layer.unreadable or layer.is_garbage:
            return layer.is_garbage
        if layer.letters >= _FEW_LETTERS:
            return False
        pictured = _pictured(self.document, index)
        return pictured.is_any if not layer.letters else pictured.size > _COVERED

    def _look(self, index: int) -> PictureText | None:
        if _pictured(self.document, index).pixels > _MOST_PIXELS:
            self.refused.append(index + 1)
            return None
        if self._pictures is None:
            self._pictures = Pictures(self.limits, self.tick)
        scale = _scale(self.document.get_page_size(index))
        try:
            number, pages = index + 1, len(self.document)
            return self._pictures.read(number, pages, lambda: draw(self.document, index, scale), 1 / scale)
        except (CannotOpen, pdfium.PdfiumError, ocr.EngineFailed):
            self.failed.append(index + 1)
            return None

    def _is_better(self, found: PictureText, layer: Layer, index: int) -> bool:
        letters = sum(map(str.isalnum, found.text))
        if not letters:
            return False
        assert self._pictures is not None
        script = self._pictures.unknown_script(self._good or layer.text, "" if self._good else language(self.document))
        if script and found.certainty < _SURE:
            self.foreign[index + 1] = script
            return False
        if not layer.letters:
            return True
        if layer.is_garbage:
            return quality(found.text) >= layer.goodness + _BETTER
        return letters > 1.5 * layer.letters

    @property
    def unread(self) -> Sequence[int]:
        """Pages whose pictures would be read if that were possible here."""
        return () if self._can_read else self.wanted

    @property
    def reason(self) -> str:
        """Why a document without any text may hold text that was not read; empty when nothing speaks for it."""
        if not self.wanted:
            return ""
        if not self.limits.ocr:
            return "Its pages are pictures (a scan) without a text layer, and reading text in pictures is switched off."
        if not ocr.available():
            return f"Its pages are pictures (a scan) without a text layer. {NOT_INSTALLED}"
        if self.foreign:
            return f"Its pages are pictures of text in {next(iter(self.foreign.values()))} letters, which is not read."
        if self.refused or self.failed or self.skipped:
            return "Its pages are pictures (a scan) without a text layer, and they could not be read."
        return ""

    @property
    def cut(self) -> str:
        """Why text of a document is missing that this program could read elsewhere; empty when nothing is."""
        if self.skipped:
            return (
                f"{len(self.skipped):,} pictures of pages were not read: up to {self.limits.ocr_pages:,} of a file are."
            )
        if self.unread:
            why = "switched off" if not self.limits.ocr else "not installed"
            return f"{len(self.unread):,} of its pages need their pictures read, which is {why}."
        return ""

    @property
    def _can_read(self) -> bool:
        return self.limits.ocr and ocr.available()

    @property
    def later(self) -> Sequence[int]:
        """Pages left for another reading."""
        return self._pictures.later if self._pictures else ()

    @property
    def skipped(self) -> Sequence[int]:
        """Pages beyond the number that may be read."""
        return self._pictures.skipped if self._pictures else ()

    def warnings(self) -> tuple[str, ...]:
        """One sentence for each way in which pages were read or not."""
        told = [
            (self.read, "{pages} {were} read from {their} picture (OCR)."),
            (self.hard, "{pages} {were} hard to make out: words may be wrong."),
            (self.refused, "{pages} {were} not read from {their} picture: it is too large."),
            (self.failed, "{pages} {were} not read from {their} picture: it could not be drawn or made out."),
            (self.skipped, f"{{pages}} {{were}} not read: up to {self.limits.ocr_pages:,} pictures of a file are."),
        ]
        for script in dict.fromkeys(self.foreign.values()):
            pages = [number for number, name in self.foreign.items() if name == script]
            told.append((pages, f"{{pages}} {{were}} not read from {{their}} picture: {script} letters are not known."))
        sentences = [sentence(words, numbers) for numbers, words in told if numbers]
        if self.wanted and self.limits.ocr and not ocr.available():
            sentences.append(NOT_INSTALLED)
        return tuple(sentences)


def language(document: pdfium.PdfDocument) -> str:
    """As the file declares it (BCP 47); empty when it does not."""
    size = int(raw.FPDFCatalog_GetLanguage(document, None, 0))
    if not 2 < size <= _LONGEST_LANGUAGE:
        return ""
    buffer = (ctypes.c_ushort * size)()
    raw.FPDFCatalog_GetLanguage(document, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace").strip()


def draw(document: pdfium.PdfDocument, index: int, scale: float) -> np.ndarray:
    """The page as it is shown, [height, width, 3] uint8, with what was filled into its forms. Raises CannotOpen."""
    with open_page(document, index) as page:
        bitmap = page.render(scale=scale, rev_byteorder=True)
        return np.ascontiguousarray(bitmap.to_numpy()[..., :3])


def _scale(size: tuple[float, float]) -> float:
    return min(_DOTS, _LONGEST_SIDE / max(1.0, *size))


def _pictured(document: pdfium.PdfDocument, index: int) -> Pictured:
    try:
        page = load_page(document, index)
    except CannotOpen:
        return Pictured()
    try:
        width, height = page.get_size()
        covered = pixels = shapes = 0.0
        for item in page.get_objects([raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH], max_depth=4):
            if item.type == raw.FPDF_PAGEOBJ_PATH:
                shapes += 1
                continue
            left, bottom, right, top = item.get_bounds()
            covered += max(0.0, min(right - left, width)) * max(0.0, min(top - bottom, height))
            wide, high = item.get_px_size()
            pixels += wide * high
        return Pictured(
            min(1.0, max(1e-6 if pixels else 0.0, covered / max(1.0, width * height))), int(pixels), int(shapes)
        )
    finally:
        page.close()
