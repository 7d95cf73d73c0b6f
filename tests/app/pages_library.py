"""A small library for the tests of the pages, stored with the real store: a PDF, a long text, a web page."""

from __future__ import annotations

import hashlib
from pathlib import Path

from core.base.types import Block, BlockKind, Page, ReadDocument
from core.library import Library
from core.store import database, documents, passages
from core.store.database import transaction
from core.store.passages import NewPassage

PDF = "application/pdf"
HANDBOOK = (
    "Harbour dues\nEvery boat that stays overnight pays harbour dues of 12 crowns. Members pay half. "
    "The keeper collects them before eight in the evening.",
    "Winter moorings\nFrom November to March boats lie at the inner quay. Each owner checks the lines after a storm. "
    "Ice may close the harbour for several weeks.",
    "Lamp and signals\nThe lamp keeper lights the lamp at dusk. Three short blasts call the rescue boat.",
)
LETTER = (
    "Dear members,\n\nthe new lamp shines farther than the old one. 🚤 Boats report it from nine miles out."
    "\n\nThe board"
)
WEB = (
    "Questions of visitors\n\nMay I moor overnight? Yes, against harbour dues."
    "\n\nWhere is the lamp? On the eastern pier."
)


def make_library(folder: Path, files: Path) -> Library:
    """A library in `folder` over three files written to `files`."""
    Library.create(folder).close()
    files.mkdir(parents=True, exist_ok=True)
    with_pages = _handbook()
    add_document(folder, files / "handbook.pdf", with_pages, PDF, b"%PDF-1.4 not read here")
    add_document(folder, files / "letter.txt", _plain(LETTER, "Letter about the lamp"), "text/plain")
    add_document(folder, files / "visitors.html", _plain(WEB, "Visitors ask <b>us</b> & others"), "text/html")
    return Library.open(folder)


def add_document(folder: Path, path: Path, read: ReadDocument, media_type: str, content: bytes | None = None) -> int:
    """Write a file and store it as read; one passage a block. Returns the document's id."""
    data = read.text.encode() if content is None else content
    path.write_bytes(data)
    db = database.open_writer(folder)
    with transaction(db):
        root = documents.add_root(db, str(path.parent), True)
        digest = hashlib.sha256(data).hexdigest()
        file = documents.put_file(db, root, str(path), len(data), 0, digest)
        number = documents.put_document(db, file, str(path), digest, read, language="en", size=len(data))
        db.execute("UPDATE document SET media_type = ? WHERE id = ?", (media_type, number))
        passages.replace_passages(db, number, [_passage(read, b) for b in read.blocks if b.kind is BlockKind.PARAGRAPH])
        documents.finish_file(db, file, read.state, "", 0.1)
    db.conn.close()
    return number


def _passage(read: ReadDocument, block: Block) -> NewPassage:
    text = read.text[block.start : block.end]
    content = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return NewPassage(text, block.start, block.end, block.page, block.page, block.heading_path, "en", content)


def _handbook() -> ReadDocument:
    text, pages, blocks = "", [], []
    for number, page in enumerate(HANDBOOK, start=1):
        heading, body = page.split("\n")
        start = len(text)
        blocks.append(Block(BlockKind.HEADING, start, start + len(heading), number, level=1))
        first = start + len(heading) + 1
        blocks.append(Block(BlockKind.PARAGRAPH, first, first + len(body), number, (heading,)))
        text += page + "\n"
        pages.append(Page(number, start, len(text), 595.0, 842.0))
    return ReadDocument(text, tuple(pages), tuple(blocks), title="Member handbook of the harbour", media_type=PDF)


def _plain(text: str, title: str) -> ReadDocument:
    blocks, start = [], 0
    for number, part in enumerate(text.split("\n\n")):
        kind = BlockKind.HEADING if number == 0 and len(part) < 30 and not part.endswith(",") else BlockKind.PARAGRAPH
        level = 1 if kind is BlockKind.HEADING else 0
        blocks.append(Block(kind, start, start + len(part), level=level))
        start += len(part) + 2
    return ReadDocument(text, (), tuple(blocks), title=title)
