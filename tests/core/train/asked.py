"""Pieces made by hand, and libraries made through the store, for the tests of questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlite_utils import Database

from core.base.types import Block, ReadDocument
from core.encode.encoder import input_hash, input_text
from core.store import database, documents
from core.store.passages import NewPassage, replace_passages
from core.train.types import Piece

FILLER = "The keeper walks along the rows in the morning and notes the weight of every box in a small green book."


def piece(id: int, text: str, title: str = "", section: Sequence[str] = (), *, document: int = 0, group: int = 0,
          language: str = "en") -> Piece:  # fmt: skip
    number = document or id
    path = tuple(section)
    return Piece(id, number, group or number, text, input_text(path, text, title), title, path, language)


class Made:
    """A library of documents given as text and blocks; each block range in `cuts` is a passage."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.db: Database = database.create(folder)
        self.root = documents.add_root(self.db, "/shelf", is_folder=True)

    def add(self, path: str, passages: Sequence[str], *, title: str = "", headings: Sequence[Sequence[str]] = (),
            blocks: Sequence[Block] = (), language: str = "en") -> int:  # fmt: skip
        """A document of these passages, one after the other; the same path again is a new content."""
        text, rows, at = "\n".join(passages), list[NewPassage](), 0
        for place, one in enumerate(passages):
            path_of = tuple(headings[place]) if headings else ()
            key = input_hash(input_text(path_of, one, title))
            rows.append(NewPassage(one, at, at + len(one), None, None, path_of, language, key))
            at += len(one) + 1
        with database.transaction(self.db):
            file = documents.put_file(self.db, self.root, path, 1, 1, "")
            read = ReadDocument(text, title=title, blocks=tuple(blocks), media_type="text/plain")
            number = documents.put_document(self.db, file, path, text, read, language=language, size=1)
            replace_passages(self.db, number, rows)
        return number

    def ids(self, document: int) -> list[int]:
        rows = self.db.execute("SELECT id FROM passage WHERE document_id = ? ORDER BY ordinal", (document,)).fetchall()
        return [row[0] for row in rows]
