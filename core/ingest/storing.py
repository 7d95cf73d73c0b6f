"""From what a reader gives to rows of the library: language, passages, and one transaction a document."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlite_utils import Database

from core.base.types import ReadDocument
from core.encode.encoder import Encoder, input_hash, input_text
from core.ingest.chunk import cut
from core.ingest.scan import FoundFile
from core.store import copies, documents, living, passages
from core.store.database import transaction
from core.store.passages import NewPassage
from core.text import language

_LANGUAGE_SAMPLE = 20_000


@dataclass(frozen=True, slots=True)
class Stored:
    """`replaced` when an older form of the document was there; `fresh` counts passages that are new."""

    document_id: int
    fresh: int
    replaced: bool


def store_document(db: Database, encoder: Encoder, file_id: int, file: FoundFile, read: ReadDocument) -> Stored | None:
    """Store `read` with its passages in one transaction; an equal document stays untouched.

    Where another document holds passages of equal content, it becomes a copy of that. None when the file was removed
    from the library meanwhile: nothing is stored then.
    """
    code = read.language or language.detect(read.text[:_LANGUAGE_SAMPLE])
    rows = _new_passages(encoder, read, code)
    content = _content_hash(read, code, rows)
    with transaction(db):
        if not living.has_file(db, file_id, file.text):
            return None
        known = documents.find_document(db, file.text, read.external_id)
        if known is not None and known[1] == content:
            return Stored(known[0], 0, False)
        if known is not None:
            copies.detach(db, known[0])
        owner = copies.owner(db, content, but=known[0] if known else 0) if rows else None
        document_id = documents.put_document(db, file_id, file.text, content, read, language=code, size=file.size)
        if owner is not None:
            copies.share(db, document_id, owner)
        fresh = passages.replace_passages(db, document_id, rows) if owner is None else 0
    return Stored(document_id, fresh, known is not None)


def _new_passages(encoder: Encoder, read: ReadDocument, code: str) -> list[NewPassage]:
    if not read.state.has_text:
        return []
    rows = []
    for piece in cut(read, encoder.count_tokens):
        text = read.text[piece.start : piece.end]
        seen = input_text(piece.heading_path, text, read.title)
        rows.append(
            NewPassage(
                text,
                piece.start,
                piece.end,
                piece.first_page,
                piece.last_page,
                piece.heading_path,
                code,
                input_hash(seen),
                piece.place,
            )
        )
    return rows


def _content_hash(read: ReadDocument, code: str, rows: list[NewPassage]) -> str:
    """Names all of a document that search and the viewer depend on, but for the name of its file."""
    digest = hashlib.sha256()
    known = (read.state, read.reason, read.media_type, read.title, code, read.author, read.created, read.modified)
    for part in (*known, read.warnings, read.ocr_pages, read.pages, read.text):
        digest.update(str(part).encode() + b"\0")
    for row in rows:
        digest.update(f"{row.start} {row.end} {row.language} {row.hash} {row.place}\n".encode())
    return digest.hexdigest()
