"""Puts a document together block by block, so that `block.text == text[start:end]` always holds."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from core.base.types import Block, BlockKind, Box, DocumentState, Page, ReadDocument

_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
# control characters, noncharacters, lone surrogates, soft hyphen, byte-order mark, direction marks
_UNWANTED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb"
    "\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
_SPACES = re.compile(r"\s+")
_LONGEST_HEADING = 200


def clean(text: str) -> str:
    """NFC, line ends as \\n, without control and formatting characters. Cleaning twice changes nothing."""
    return unicodedata.normalize("NFC", _UNWANTED.sub("", _LINE_ENDS.sub("\n", text)))


def collapse(text: str) -> str:
    """`clean` on one line, with single spaces."""
    return _SPACES.sub(" ", clean(text)).strip()


class TextBuilder:
    """Collects blocks and pages of one document.

    `full` turns true when the limit is reached; what is added from then on is dropped and the document is
    marked as truncated. `place` is that of all blocks added without one of their own.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._pages: list[Page] = []
        self._page: Page | None = None
        self._headings: list[tuple[int, str]] = []
        self._truncated = False
        self.place = ""

    @property
    def full(self) -> bool:
        return self._truncated

    @property
    def length(self) -> int:
        return self._length

    def open_page(self, number: int, width: float = 0.0, height: float = 0.0, label: str = "") -> None:
        self.close_page()
        if self._length:
            self._append("\n\n")
        self._page = Page(number, self._length, self._length, width, height, label)

    def leave_headings(self) -> None:
        """What follows stands under no heading yet: a new slide or sheet."""
        self._headings.clear()

    def close_page(self) -> None:
        if self._page is not None:
            self._pages.append(replace(self._page, end=self._length))
            self._page = None

    def heading(self, text: str, level: int, *, boxes: tuple[Box, ...] = (), separator: str = "\n\n") -> None:
        """A heading of depth `level` (1 = top); one that is too long for a heading becomes a paragraph."""
        text = collapse(text)
        if len(text) > _LONGEST_HEADING:
            self.add(text, boxes=boxes, separator=separator)
            return
        if not text:
            return
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._add(text, BlockKind.HEADING, boxes, separator, level)
        self._headings.append((level, text))

    def add(
        self,
        text: str,
        kind: BlockKind = BlockKind.PARAGRAPH,
        *,
        boxes: tuple[Box, ...] = (),
        separator: str = "\n\n",
        place: str = "",
    ) -> None:
        """A block of text; nothing when it holds only white space. Line breaks inside are kept."""
        text = clean(text).strip()
        if text:
            self._add(text, kind, boxes, separator, 0, place)

    def _add(
        self, text: str, kind: BlockKind, boxes: tuple[Box, ...], separator: str, level: int, place: str = ""
    ) -> None:
        at_page_start = self._page is not None and self._page.start == self._length
        if self._length and not at_page_start:
            self._append(separator)
        start = self._length
        self._append(text)
        if self._length > start:
            path = tuple(heading for _, heading in self._headings)
            page = self._page.number if self._page else None
            self._blocks.append(Block(kind, start, self._length, page, path, boxes, level, place or self.place))

    def _append(self, text: str) -> None:
        room = self._limit - self._length
        if len(text) > room:
            text, self._truncated = text[: max(0, room)], True
        self._parts.append(text)
        self._length += len(text)

    def build(
        self,
        *,
        title: str = "",
        author: str = "",
        created: str = "",
        modified: str = "",
        language: str = "",
        external_id: str = "",
        warnings: tuple[str, ...] = (),
        ocr_pages: tuple[int, ...] = (),
    ) -> ReadDocument:
        """The document: READ, TRUNCATED at the limit, or EMPTY."""
        self.close_page()
        text = "".join(self._parts)
        state, reason = DocumentState.READ, ""
        if self._truncated:
            state, reason = DocumentState.TRUNCATED, f"Only the first {self._limit:,} characters were read."
        elif not text.strip():
            state, reason = DocumentState.EMPTY, "The file holds no text."
        return ReadDocument(
            text=text,
            pages=tuple(self._pages),
            blocks=tuple(self._blocks),
            title=collapse(title)[:500],
            author=collapse(author)[:500],
            created=created,
            modified=modified,
            language=language,
            external_id=external_id,
            state=state,
            reason=reason,
            warnings=warnings,
            ocr_pages=ocr_pages,
        )


def failure(state: DocumentState, reason: str, warnings: tuple[str, ...] = ()) -> ReadDocument:
    """A document that could not be read: its state and the sentence for the person."""
    return ReadDocument(text="", state=state, reason=reason, warnings=warnings)
