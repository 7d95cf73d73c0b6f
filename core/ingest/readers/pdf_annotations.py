"""What stands on PDF pages beside their text: comments, notes written over a page, and filled form fields.

It is read before a page is flattened, and told only where the page's own text does not show it already.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw
from lxml import etree

from core.ingest.readers.build import collapse
from core.ingest.readers.pdf_chars import ANNOTATIONS
from core.ingest.readers.pdf_forms import field_text, wide_string
from core.ingest.readers.pdf_xfa import TooLarge, form_lines

_A_DOCUMENT = 50_000
_SHORT = 4  # characters; a shorter text may be part of another word
_UNSPOKEN = frozenset([raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_XFAWIDGET])


@dataclass(frozen=True, slots=True)
class Note:
    """`label` is a field's label or the author of a comment; may be empty."""

    label: str
    text: str
    is_field: bool = False


class Notes:
    """Notes and fields by page; what one document may have of them is bounded, and the rest is told in `warnings`."""

    def __init__(self, document: pdfium.PdfDocument, characters: int) -> None:
        self._document = document
        self._characters = characters
        self._left = _A_DOCUMENT
        self._pages: dict[int, list[Note]] = {}
        self._cut: list[int] = []
        self._told: list[str] = []
        self._has_widgets = False
        self.pinned: list[int] = []  # pages (from 0) with files pinned to them

    def look(self, index: int, page: pdfium.PdfPage) -> None:
        """Take the notes of page `index` (from 0), which must not be flattened yet. The first look counts."""
        if index in self._pages:
            return
        count = raw.FPDFPage_GetAnnotCount(page)
        allowed = min(count, ANNOTATIONS, self._left) if self._characters > 0 else 0
        if count > allowed:
            self._cut.append(index + 1)
        self._left -= max(0, allowed)
        found = (note for number in range(allowed) for note in self._read(page, number, index))
        self._pages[index] = list(dict.fromkeys(found))
        self._characters -= sum(len(note.text) for note in self._pages[index])

    def _read(self, page: pdfium.PdfPage, number: int, index: int) -> Iterator[Note]:
        annotation = raw.FPDFPage_GetAnnot(page, number)
        if not annotation:
            return
        try:
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            if kind == raw.FPDF_ANNOT_FILEATTACHMENT and index not in self.pinned:
                self.pinned.append(index)
            if kind == raw.FPDF_ANNOT_WIDGET:
                self._has_widgets = True
                label, value = field_text(page.formenv, annotation)
                if value:
                    yield Note(collapse(label), value.strip(), is_field=True)
            elif kind not in _UNSPOKEN and not raw.FPDFAnnot_HasKey(annotation, b"StateModel"):
                text = _value(annotation, b"Contents") or _plain(_value(annotation, b"RC"))
                if text.strip():
                    yield Note(collapse(_value(annotation, b"T")), text.strip())
        finally:
            raw.FPDFPage_CloseAnnot(annotation)

    def of(self, index: int, page_text: str) -> list[str]:
        """What page `index` has beside `page_text`."""
        notes = self._pages.get(index, [])
        if not notes:
            return []
        shown, words = _bare(page_text), frozenset(re.findall(r"\w+", page_text.casefold()))
        return [
            f"{note.label}: {note.text}" if note.label else note.text
            for note in notes
            if not _is_in(note, shown, words)
        ]

    def form(self) -> list[str]:
        """A form made of XML, where the pages do not show it: they are to be made anew, or have no fields."""
        kind = self._document.get_formtype()
        if kind != raw.FORMTYPE_XFA_FULL and (kind != raw.FORMTYPE_XFA_FOREGROUND or self._has_widgets):
            return []
        try:
            return form_lines(self._document)
        except TooLarge:
            self._told.append("Its form was not read: it is too large.")
            return []

    @property
    def warnings(self) -> tuple[str, ...]:
        if not self._cut:
            return tuple(self._told)
        pages = ", ".join(map(str, self._cut[:20])) + (" and more" if len(self._cut) > 20 else "")
        return (*self._told, f"Not all notes and form fields were read, there are too many: page {pages}.")


def _is_in(note: Note, shown: str, words: frozenset[str]) -> bool:
    """Whether the page's text tells the note, as far as that can be known of a short one."""
    bare = _bare(note.text)
    if not any(map(str.isalnum, bare)):
        return True
    return bare in shown if len(bare) >= _SHORT else len(bare) > 1 and bare.isalpha() and bare in words


def _bare(text: str) -> str:
    """For comparison: without forms, case and white space."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _value(annotation: Any, key: bytes) -> str:
    return wide_string(lambda b, n: raw.FPDFAnnot_GetStringValue(annotation, key, b, n)).replace("\r", "\n")


def _plain(rich: str) -> str:
    """The text of a rich-text string, which is XHTML (ISO 32000-1, 12.7.3.4)."""
    if not rich.strip():
        return ""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    root = etree.fromstring(rich.encode(), parser)
    return "" if root is None else " ".join(str(part) for part in root.itertext())
