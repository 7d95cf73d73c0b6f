"""The living passages of a library as training sees them, each with the group of documents that it belongs to."""

from __future__ import annotations

import json

from sqlite_utils import Database

from core.encode.encoder import input_text
from core.train.types import Piece


def read(db: Database) -> tuple[Piece, ...]:
    """All passages by document and place. A copy has none of its own; versions of one another are one group."""
    rows = db.execute(
        "SELECT p.id, p.document_id, coalesce(abs(d.family), d.id), p.text, p.heading_path, p.language, d.title "
        "FROM passage p JOIN document d ON d.id = p.document_id ORDER BY p.document_id, p.ordinal"
    )
    return tuple(_piece(*row) for row in rows)


def _piece(id: int, document: int, group: int, text: str, headings: str, language: str, title: str) -> Piece:
    section = tuple(json.loads(headings))
    return Piece(id, document, group, text, input_text(section, text, title), title, section, language)
