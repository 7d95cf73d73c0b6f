"""PDFium's characters and words of one page with their boxes, as arrays. Owns the calls into PDFium.

A call for each character is what reading a page costs most beside PDFium's own work, so that the box of every
character is asked for only where it is needed: to mark a citation, and for scripts that run from right to left.

Boxes are in points from the top left corner of the page as it is shown (rotation and crop box applied).
"""

from __future__ import annotations

import ctypes
import logging
import re
import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import IO, Any

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from core.ingest.readers.pdf_bidi import reading_order, runs_to_the_left
from core.ingest.readers.pdf_words import Words, ranges, words

HYPHEN = "\x02"  # PDFium's mark for a hyphen at the end of a line
_WITH_TEXT = frozenset([raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP])
_LINE_START = re.compile(r"(?:\A|[\r\n])\s*\S")
_BOLD = 600
_CONTROL = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f](?<!{HYPHEN})")
_UTF32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
ANNOTATIONS = 5000  # a page with more is not flattened


@dataclass(frozen=True, slots=True)
class PageChars:
    """`boxes` is [n, 4] float32 (left, top, right, bottom), one row for each character of `text`, or [0, 4] when only
    those of `words` were asked for.

    `bold` holds the indices of characters that begin a line in a bold font. `unreadable` counts characters of
    which the font does not say what they are; where they are many they are white space in `text`.
    """

    text: str
    words: Words
    boxes: np.ndarray
    width: float
    height: float
    bold: frozenset[int] = frozenset()
    unreadable: int = 0


class NeedsPassword(Exception):
    """The file does not open with the password given, nor with an empty one."""


class CannotOpen(Exception):
    """PDFium cannot make sense of the file or the page."""


@contextmanager
def open_pdf(path: str | Path, password: str = "") -> Iterator[pdfium.PdfDocument]:
    """Raises NeedsPassword, CannotOpen or OSError."""
    with open(path, "rb") as file:  # by a stream: PDFium takes no path that is not UTF-8
        document = _open(file, password)
        try:
            if document.get_formtype() != raw.FORMTYPE_NONE:
                logging.getLogger("pypdfium2").setLevel(logging.ERROR)  # it warns that forms made of XML are not drawn
                document.init_forms()
            yield document
        finally:
            document.close()


def is_locked(path: str | Path) -> bool:
    """Whether the file needs a password. Raises OSError."""
    try:
        with open_pdf(path):
            return False
    except NeedsPassword:
        return True
    except CannotOpen:
        return False


def _open(file: IO[bytes], password: str) -> pdfium.PdfDocument:
    """PDFium tries the one password it is given; many files open without one."""
    try:
        return pdfium.PdfDocument(file)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) != raw.FPDF_ERR_PASSWORD:
            raise CannotOpen(str(error)) from error
        if not password:
            raise NeedsPassword(str(error)) from error
        file.seek(0)
        return _open_with(file, password)


def _open_with(file: IO[bytes], password: str) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(file, password=password)
    except pdfium.PdfiumError as error:
        wrong = getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD
        raise (NeedsPassword if wrong else CannotOpen)(str(error)) from None  # the cause's frames know the password


@contextmanager
def open_page(
    document: pdfium.PdfDocument, index: int, look: Callable[[int, pdfium.PdfPage], None] | None = None
) -> Iterator[pdfium.PdfPage]:
    """The page with what was filled into forms and written over it as part of its content.

    `look` sees the page before that. Raises CannotOpen.
    """
    page = load_page(document, index)
    try:
        if look is not None:
            look(index, page)
        if _has_written_annotations(page):
            raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
            page.close()
            page = load_page(document, index)
        yield page
    finally:
        page.close()


def load_page(document: pdfium.PdfDocument, index: int) -> pdfium.PdfPage:
    """The page; without its form where that has so many fields that PDFium would take minutes. Raises CannotOpen."""
    handle = raw.FPDF_LoadPage(document, index)
    if not handle:
        raise CannotOpen("no page")
    form = document.formenv if raw.FPDFPage_GetAnnotCount(handle) <= ANNOTATIONS else None
    page = pdfium.PdfPage(handle, document, form)
    document._add_kid(page)
    if form is not None:
        raw.FORM_OnAfterLoadPage(page, form)
    return page


def _has_written_annotations(page: pdfium.PdfPage) -> bool:
    count = raw.FPDFPage_GetAnnotCount(page)
    if not 0 < count <= ANNOTATIONS:
        return False
    for index in range(count):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        if kind in _WITH_TEXT:
            return True
    return False


def page_chars(page: pdfium.PdfPage, every_box: bool = False) -> PageChars:
    """All characters of a page in PDFium's order, with the spaces and line ends that it puts in."""
    width, height = page.get_size()
    text_page = raw.FPDFText_LoadPage(page)
    if not text_page:
        raise CannotOpen("no text page")
    try:
        handle = ctypes.cast(text_page, ctypes.c_void_p).value or 0
        count = max(0, raw.FPDFText_CountChars(text_page))
        text, unreadable = _without_unreadable(handle, _text(handle, count))
        bold = frozenset(m.end() - 1 for m in _LINE_START.finditer(text) if _GET_WEIGHT(handle, m.end() - 1) >= _BOLD)
        if every_box or runs_to_the_left(text):
            text, found, boxes = _in_reading_order(text, _boxes(handle, range(count), page))
        else:
            found, boxes = _words(handle, text, page), np.zeros((0, 4), np.float32)
    finally:
        raw.FPDFText_ClosePage(text_page)
    return PageChars(text, found, boxes, float(width), float(height), bold, unreadable)


def _in_reading_order(text: str, boxes: np.ndarray) -> tuple[str, Words, np.ndarray]:
    order = reading_order(text, boxes)
    if order is not None:
        text, boxes = "".join(text[index] for index in order.tolist()), boxes[order]
    first, last = ranges(text)
    return text, words(first, last, boxes[first], boxes[last]), boxes


def _words(handle: int, text: str, page: pdfium.PdfPage) -> Words:
    first, last = ranges(text)
    ends = _boxes(handle, np.stack([first, last], axis=1).ravel().tolist(), page)
    return words(first, last, ends[::2], ends[1::2])


def _call(function: Any, *arguments: Any, result: Any = ctypes.c_int) -> Any:
    """A prototype for calls by the million: it checks nothing and keeps the interpreter, which saves a third."""
    return ctypes.PYFUNCTYPE(result, ctypes.c_void_p, *arguments)(ctypes.cast(function, ctypes.c_void_p).value or 0)


_GET_TEXT = _call(raw.FPDFText_GetText, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
_GET_UNICODE = _call(raw.FPDFText_GetUnicode, ctypes.c_int, result=ctypes.c_uint)
_GET_BOX = _call(raw.FPDFText_GetLooseCharBox, ctypes.c_int, ctypes.c_void_p)
_GET_WEIGHT = _call(raw.FPDFText_GetFontWeight, ctypes.c_int)
_HAS_MAP_ERROR = _call(raw.FPDFText_HasUnicodeMapError, ctypes.c_int)


def _text(handle: int, count: int) -> str:
    """One character for each of PDFium's: in one call, where that call leaves nothing out."""
    buffer = (ctypes.c_ushort * (count + 1))()
    if _GET_TEXT(handle, 0, count, ctypes.addressof(buffer)) == count + 1:
        text = bytes(buffer)[: 2 * count].decode("utf-16-le", "surrogatepass")
        if len(text) == count:
            return text.replace("\ufffe", HYPHEN)
    get = _GET_UNICODE
    codes = array("I", [get(handle, index) for index in range(count)])
    if any(0xD800 <= code < 0xDC00 for code in codes):  # PDFium counts both halves of letters beyond U+FFFF
        codes = array("I", _whole_letters(codes))
    return codes.tobytes().decode(_UTF32, "replace").replace("\ufffe", HYPHEN)


def _whole_letters(codes: Sequence[int]) -> Iterator[int]:
    """Surrogate pairs as one letter and a space of no width, so that positions stay."""
    rest = iter(zip(codes, [*codes[1:], 0], strict=True))
    for code, following in rest:
        if 0xD800 <= code < 0xDC00 <= following < 0xE000:
            next(rest)
            yield from (0x10000 + ((code - 0xD800) << 10) + (following - 0xDC00), 0xFEFF)
        else:
            yield code


def _boxes(handle: int, indices: Sequence[int], page: pdfium.PdfPage) -> np.ndarray:
    """[n, 4] left, top, right, bottom of the characters asked for, on the page as it is shown."""
    boxes = np.zeros((len(indices), 4), np.float32)
    address = boxes.ctypes.data
    deque(map(_GET_BOX, repeat(handle), indices, range(address, address + boxes.nbytes, 16)), maxlen=0)
    return _as_shown(boxes, page)


def _without_unreadable(handle: int, text: str) -> tuple[str, int]:
    """Fonts without a map to Unicode may give nonsense. Control characters in it tell it from a good guess."""
    if len(_CONTROL.findall(text)) * 100 < len(text) or not text:
        return text, 0
    bad = [_HAS_MAP_ERROR(handle, index) == 1 for index in range(len(text))]
    if sum(bad) * 5 < len(text):
        return text, 0
    readable = (" " if wrong and char not in "\r\n" else char for char, wrong in zip(text, bad, strict=True))
    return "".join(readable), sum(bad)


def _as_shown(boxes: np.ndarray, page: pdfium.PdfPage) -> np.ndarray:
    left, bottom, right, top = page.get_bbox()
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    x0, y0, x1, y1 = low[:, 0], low[:, 1], high[:, 0], high[:, 1]
    rotation = page.get_rotation()
    if rotation == 90:
        columns = (y0 - bottom, x0 - left, y1 - bottom, x1 - left)
    elif rotation == 180:
        columns = (right - x1, y0 - bottom, right - x0, y1 - bottom)
    elif rotation == 270:
        columns = (top - y1, right - x1, top - y0, right - x0)
    else:
        columns = (x0 - left, top - y1, x1 - left, top - y0)
    return np.stack(columns, axis=1)
