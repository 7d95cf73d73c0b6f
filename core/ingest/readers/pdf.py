"""PDF: pages with text and boxes by PDFium; by pypdf what PDFium cannot open."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from core.base.types import BlockKind, Box, DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers import pdf_attachments, pdf_fallback
from core.ingest.readers.build import TextBuilder, failure
from core.ingest.readers.pdf_annotations import Notes
from core.ingest.readers.pdf_chars import CannotOpen, NeedsPassword, open_page, open_pdf
from core.ingest.readers.pdf_headings import Candidate, OutlineEntry, levels, with_title
from core.ingest.readers.pdf_layout import LIST_MARK, SEPARATOR, PageLayout
from core.ingest.readers.pdf_pages import Pages

_OUTLINE_ENTRIES = 5000
_DATE = re.compile(r"D?:?\s*(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?")
_GARBAGE_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class _Block:
    text: str
    boxes: tuple[Box, ...]
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class _Page:
    blocks: tuple[_Block, ...]
    width: float = 0.0
    height: float = 0.0
    has_pictures: bool = False
    is_garbage: bool = False
    failed: bool = False


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    """The PDF itself, then the files attached to it."""
    try:
        with open_pdf(path, limits.password) as document:
            notes = Notes(document, limits.output_characters)
            own = _read(document, path, limits, tick, notes)
            names = pdf_attachments.names(document, limits)
        yield own
    except NeedsPassword:
        yield pdf_fallback.locked(limits.password)
        return
    except CannotOpen:
        yield pdf_fallback.read(path, limits, tick)
        return
    if names or notes.pinned:
        yield from pdf_attachments.read(path, names, notes.pinned, limits, tick)


def _read(document: pdfium.PdfDocument, path: Path, limits: Limits, tick: Tick, notes: Notes) -> ReadDocument:
    pages = _read_pages(document, path, limits, tick, notes)
    if not pages:
        return failure(DocumentState.BROKEN, "The PDF is damaged: no page of it can be found.")
    candidates = [block.candidate for page in pages for block in page.blocks]
    metadata = document.get_metadata_dict()
    depths = iter(with_title(levels(candidates, _outline(document)), candidates, metadata.get("Title", "")))
    builder = TextBuilder(limits.output_characters)
    for number, page in enumerate(pages, 1):
        builder.open_page(number, page.width, page.height)
        for block in page.blocks:
            _add(builder, block, next(depths))
        for text in _beside(notes, number - 1, page):
            builder.add(text, separator="\n")
    result = builder.build(
        title=metadata.get("Title", ""),
        author=metadata.get("Author", ""),
        created=_iso_date(metadata.get("CreationDate", "")),
        modified=_iso_date(metadata.get("ModDate", "")),
        warnings=(*_warnings(pages), *notes.warnings),
    )
    return result if result.text else _without_text(result, pages)


def _beside(notes: Notes, index: int, page: _Page) -> list[str]:
    """Comments and fields that the page's text does not show; a form made of XML stands on the first page."""
    text = "\n".join(block.text for block in page.blocks)
    return [*notes.of(index, text), *([] if index else notes.form())]


def _read_pages(document: pdfium.PdfDocument, path: Path, limits: Limits, tick: Tick, notes: Notes) -> list[_Page]:
    """Pages until the text limit is passed."""
    pages: list[_Page] = []
    texts = Pages(document, tick=tick, look=notes.look)
    characters = 0
    for index in range(len(document)):
        tick()
        try:
            pages.append(_read_page(document, texts.layout(index), index))
        except CannotOpen:
            pages.append(_fallback_page(path, index, limits.password))
        characters += sum(len(block.text) for block in pages[-1].blocks)
        if characters > limits.output_characters:
            break
    return pages


def _read_page(document: pdfium.PdfDocument, found: PageLayout, index: int) -> _Page:
    blocks = tuple(
        _Block(
            found.text[p.start : p.end],
            p.boxes,
            Candidate(index, found.text[p.start : p.end], p.size, p.is_row, p.first_char in found.chars.bold),
        )
        for p in found.paragraphs
    )
    has_pictures = not blocks and _has_pictures(document, index)
    return _Page(blocks, found.chars.width, found.chars.height, has_pictures, _is_garbage(found))


def _has_pictures(document: pdfium.PdfDocument, index: int) -> bool:
    with open_page(document, index) as page:
        return any(True for _ in page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))


def _fallback_page(path: Path, index: int, password: str) -> _Page:
    text = pdf_fallback.page_text(path, index, password)
    paragraphs = [p for p in text.split(SEPARATOR) if p.strip()]
    blocks = tuple(_Block(p, (), Candidate(index, p, 0.0, False, False)) for p in paragraphs)
    return _Page(blocks, failed=not blocks)


def _add(builder: TextBuilder, block: _Block, depth: int) -> None:
    if depth:
        builder.heading(block.text, depth, boxes=block.boxes, separator=SEPARATOR)
        return
    kind = BlockKind.PARAGRAPH
    if block.candidate.is_row:
        kind = BlockKind.TABLE_ROW
    elif LIST_MARK.match(block.text):
        kind = BlockKind.LIST_ITEM
    builder.add(block.text, kind, boxes=block.boxes, separator=SEPARATOR)


def _outline(document: pdfium.PdfDocument) -> list[OutlineEntry]:
    entries: list[OutlineEntry] = []
    for bookmark in document.get_toc(max_depth=6):
        target = bookmark.get_dest()
        page = target.get_index() if target is not None else None
        if page is not None:
            entries.append(OutlineEntry(bookmark.get_title(), bookmark.level + 1, page))
        if len(entries) >= _OUTLINE_ENTRIES:
            break
    return entries


def _iso_date(value: str) -> str:
    found = _DATE.match(value)
    if not found or not 1 <= int(found.group(2) or 1) <= 12 or not 1 <= int(found.group(3) or 1) <= 31:
        return ""
    year, month, day, hour, minute, second = found.groups()
    date = f"{year}-{month or '01'}-{day or '01'}"
    return f"{date}T{hour}:{minute}:{second or '00'}" if hour and minute else date


def _is_garbage(found: PageLayout) -> bool:
    """Fonts that do not say their letters, and private-use, unassigned and replacement characters."""
    text = found.text
    if text.isascii():
        return found.chars.unreadable > 0
    odd = {c for c in set(text) if c == "\ufffd" or unicodedata.category(c) in ("Co", "Cn")}
    bad = sum(map(text.count, odd))
    return found.chars.unreadable > 0 or bad > _GARBAGE_SHARE * sum(map(str.isprintable, text))


def _warnings(pages: Sequence[_Page]) -> tuple[str, ...]:
    some_text = any(page.blocks for page in pages)
    scanned = [number for number, page in enumerate(pages, 1) if page.has_pictures] if some_text else []
    garbage = [number for number, page in enumerate(pages, 1) if page.is_garbage]
    failed = [number for number, page in enumerate(pages, 1) if page.failed]
    told = (
        (scanned, "{} without text: only a picture of it (a scan), which was not read."),
        (garbage, "{} with text that cannot be read: the fonts do not say which letters they show."),
        (failed, "{} damaged, nothing of it was read."),
    )
    return tuple(sentence.format(_page_list(numbers)) for numbers, sentence in told if numbers)


def _page_list(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:20])) + (f" and {len(numbers) - 20} more" if len(numbers) > 20 else "")
    return f"{'Page' if len(numbers) == 1 else 'Pages'} {shown}"


def _without_text(result: ReadDocument, pages: Sequence[_Page]) -> ReadDocument:
    if any(page.has_pictures for page in pages):
        reason = "Its pages are pictures (a scan) without a text layer. Text in pictures is not read."
        return replace(result, state=DocumentState.SCANNED, reason=reason)
    if any(page.is_garbage for page in pages):
        reason = (
            "Its text cannot be read: the fonts do not say which letters they show. It would take reading the pictures."
        )
        return replace(result, state=DocumentState.SCANNED, reason=reason)
    if all(page.failed for page in pages):
        return replace(result, state=DocumentState.BROKEN, reason="The PDF is damaged: none of its pages can be read.")
    return replace(result, state=DocumentState.EMPTY, reason="Its pages hold no text.")
