"""PDF: pages with text and boxes by PDFium; by pypdf what PDFium cannot open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pypdfium2 as pdfium

from core.base.types import BlockKind, Box, DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers import pdf_attachments, pdf_fallback
from core.ingest.readers.build import TextBuilder, failure
from core.ingest.readers.pdf_annotations import Notes
from core.ingest.readers.pdf_chars import CannotOpen, NeedsPassword, open_pdf
from core.ingest.readers.pdf_headings import Candidate, OutlineEntry, levels, with_title
from core.ingest.readers.pdf_layout import LIST_MARK, SEPARATOR, PageLayout
from core.ingest.readers.pdf_ocr import Layer, PageEyes
from core.ingest.readers.pdf_pages import Pages
from core.ingest.readers.picture import PictureText, page_list, still_to_read

_OUTLINE_ENTRIES = 5000
_DATE = re.compile(r"D?:?\s*(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?")


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
    eyes = PageEyes(document, limits, tick)
    pages = _read_pages(document, path, limits, tick, notes, eyes)
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
        warnings=(*eyes.warnings(), *_warnings(pages, eyes), *notes.warnings),
        ocr_pages=tuple(eyes.read),
    )
    if eyes.later and result.state in (DocumentState.READ, DocumentState.EMPTY):
        return replace(result, state=DocumentState.UNFINISHED, reason=still_to_read(len(eyes.later)))
    if not result.text:
        return _without_text(result, pages, eyes)
    if eyes.cut and result.state is DocumentState.READ:
        return replace(result, state=DocumentState.TRUNCATED, reason=eyes.cut)
    return result


def _beside(notes: Notes, index: int, page: _Page) -> list[str]:
    """Comments and fields that the page's text does not show; a form made of XML stands on the first page."""
    text = "\n".join(block.text for block in page.blocks)
    return [*notes.of(index, text), *([] if index else notes.form())]


def _read_pages(
    document: pdfium.PdfDocument, path: Path, limits: Limits, tick: Tick, notes: Notes, eyes: PageEyes
) -> list[_Page]:
    """Pages until the text limit is passed."""
    pages: list[_Page] = []
    texts = Pages(document, tick=tick, look=notes.look)
    characters = 0
    for index in range(len(document)):
        tick()
        try:
            pages.append(_read_page(texts.layout(index), index, eyes))
        except CannotOpen:
            pages.append(_fallback_page(path, index, limits.password))
        characters += sum(len(block.text) for block in pages[-1].blocks)
        if characters > limits.output_characters:
            break
    return pages


def _read_page(found: PageLayout, index: int, eyes: PageEyes) -> _Page:
    layer = Layer.of(found.text, found.chars.unreadable)
    seen = eyes.look(index, layer)
    if seen is not None:
        return _Page(_seen_blocks(seen, index), found.chars.width, found.chars.height)
    if layer.is_garbage and index + 1 in eyes.later:
        return _Page((), found.chars.width, found.chars.height)  # better nothing than what no one can read
    texts = [found.text[p.start : p.end] for p in found.paragraphs]
    blocks = tuple(
        _Block(text, p.boxes, Candidate(index, text, p.size, p.is_row, p.first_char in found.chars.bold))
        for text, p in zip(texts, found.paragraphs, strict=True)
    )
    return _Page(blocks, found.chars.width, found.chars.height, layer.is_garbage)


def _seen_blocks(seen: PictureText, index: int) -> tuple[_Block, ...]:
    return tuple(_Block(b.text, b.boxes, Candidate(index, b.text, b.size, b.is_row, False)) for b in seen.blocks)


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


def _warnings(pages: Sequence[_Page], eyes: PageEyes) -> tuple[str, ...]:
    some_text = any(page.blocks for page in pages)
    scanned = [n for n in eyes.unread if not pages[n - 1].blocks] if some_text else []
    garbage = [number for number, page in enumerate(pages, 1) if page.is_garbage]
    failed = [number for number, page in enumerate(pages, 1) if page.failed]
    told = (
        (scanned, "{} without text: only a picture of it (a scan), which was not read."),
        (garbage, "{} with text that cannot be read: the fonts do not say which letters they show."),
        (failed, "{} damaged, nothing of it was read."),
    )
    return tuple(sentence.format(page_list(numbers)) for numbers, sentence in told if numbers)


def _without_text(result: ReadDocument, pages: Sequence[_Page], eyes: PageEyes) -> ReadDocument:
    reason = eyes.reason
    if not reason and any(page.is_garbage for page in pages):
        reason = "Its text cannot be read: the fonts do not say which letters they show."
    if reason:
        return replace(result, state=DocumentState.SCANNED, reason=reason)
    if all(page.failed for page in pages):
        return replace(result, state=DocumentState.BROKEN, reason="The PDF is damaged: none of its pages can be read.")
    seen = ", and no text was found in their pictures" if eyes.wanted else ""
    return replace(result, state=DocumentState.EMPTY, reason=f"Its pages hold no text{seen}.")
