"""What was read: documents, their blocks and passages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

from core.base.files import path_shown
from core.base.types.places import Box, Page


class DocumentState(StrEnum):
    """How reading a document ended. Every document is in exactly one of these."""

    WAITING = "waiting"  # found, not read yet
    READ = "read"  # text and passages are stored
    TRUNCATED = "truncated"  # read up to a limit; the reason says which
    UNFINISHED = "unfinished"  # what could be read quickly is stored; pages are still to be read from their pictures
    EMPTY = "empty"  # opened well, holds no text at all
    SCANNED = "scanned"  # pages are pictures without a text layer
    LOCKED = "locked"  # needs a password
    BROKEN = "broken"  # cannot be parsed
    UNSUPPORTED = "unsupported"  # a kind of file that is not read
    TOO_LARGE = "too-large"  # above the size limit
    TIMED_OUT = "timed-out"  # reading took longer than allowed
    CRASHED = "crashed"  # the reading child died or ran out of memory
    DENIED = "denied"  # no permission
    MISSING = "missing"  # vanished before it could be read
    CHANGING = "changing"  # kept changing while it was read
    QUARANTINED = "quarantined"  # ended the reading process too often; not tried again until it changes or is asked for
    ONLINE_ONLY = "online-only"  # a cloud service's placeholder: its content is not on this disk

    @property
    def has_text(self) -> bool:
        return self in (DocumentState.READ, DocumentState.TRUNCATED, DocumentState.UNFINISHED)


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list-item"
    TABLE_ROW = "table-row"
    CODE = "code"
    CAPTION = "caption"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Block:
    """A reader's unit. `text` equals `document_text[start:end]`.

    `boxes` holds the rectangle(s) of the block on `page`; empty where the format has no layout.
    `heading_path` lists the headings above it, outermost first (a heading block does not list itself).
    `level` is the depth of a heading (1 = top), 0 for other kinds. `place` names where it stands in formats with
    places of their own ("B2:F2" in a sheet, "line 120" in source code).
    """

    kind: BlockKind
    start: int
    end: int
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    level: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What a reader makes of one document: whole text, pages, blocks, and what is known of it.

    A file holds one document, except collections (JSON Lines) and files with files in them (archives, mail with
    attachments): their further documents carry an `external_id`, for a file within a file its path in there.
    `ocr_pages` are the numbers of the pages whose text was read from their picture.
    `state` is READ, TRUNCATED, UNFINISHED, EMPTY, SCANNED, LOCKED or BROKEN; `reason` is a sentence for the person.
    """

    text: str
    pages: tuple[Page, ...] = ()
    blocks: tuple[Block, ...] = ()
    title: str = ""
    author: str = ""
    created: str = ""
    modified: str = ""
    language: str = ""  # declared by the file; detected later when empty
    external_id: str = ""
    reader: str = ""
    media_type: str = ""
    state: DocumentState = DocumentState.READ
    reason: str = ""
    warnings: tuple[str, ...] = ()
    ocr_pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a library, as listed (its text is fetched apart).

    `copy_of` is the id of the document with equal content that holds the passages of both; `family` is shared by
    documents that are versions of one another.
    """

    id: int
    path: str
    external_id: str
    title: str
    author: str
    media_type: str
    language: str
    created: str
    modified: str
    state: DocumentState
    reason: str
    reader: str
    pages: int
    characters: int
    passages: int
    warnings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    size: int = 0
    seconds: float = 0.0
    ocr_pages: tuple[int, ...] = ()
    copy_of: int | None = None
    family: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """What is searched. `text` equals `document_text[start:end]`; pages are None where there are none.

    `place` names where it stands in formats with places of their own ("Q3 · B2:F9", "Slide 4", "line 120").
    """

    id: int
    document_id: int
    ordinal: int  # position in its document, from 0
    text: str
    start: int
    end: int
    first_page: int | None
    last_page: int | None
    heading_path: tuple[str, ...]
    language: str
    # repeated from the document, so that a hit can be shown without a second look-up
    path: str = ""
    title: str = ""
    external_id: str = ""
    media_type: str = ""
    place: str = ""

    @property
    def context_title(self) -> str:
        return context_title(self.title, self.path, self.external_id)


def context_title(title: str, path: str, external_id: str) -> str:
    """The title that gives a passage its context: the document's own, else its file's name.

    The documents of a collection share one file, whose name says nothing of them.
    """
    return title or ("" if external_id else PurePath(path_shown(path)).stem)
