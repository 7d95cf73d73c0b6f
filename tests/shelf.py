"""A small real library made directly through the store: documents of one passage each, with given vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.types import ReadDocument
from core.index.writer import IndexPassage, IndexWriter
from core.store import database, documents
from core.store.passages import NewPassage, put_vectors, replace_passages

ENCODER, DIMENSION = "test-vectors", 16
_WORDS = "amber birch cedar delta ember fjord grove heath islet juniper kelp lagoon marsh nectar oasis prairie"


def unit_vectors(count: int, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def random_texts(count: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(_WORDS.split(), rng.integers(3, 12))) for _ in range(count)]


@dataclass(frozen=True)
class Item:
    name: str
    text: str
    vector: np.ndarray
    title: str = "note"
    language: str = "en"
    media_type: str = "text/plain"
    modified: str = ""


def items(count: int, seed: int = 0) -> list[Item]:
    texts, vectors = random_texts(count, seed), unit_vectors(count, seed)
    return [Item(f"/shelf/{i:03d}.txt", text, v) for i, (text, v) in enumerate(zip(texts, vectors, strict=True))]


class Shelf:
    """`add` stores and indexes items as one segment, `remove` deletes a document as the store does."""

    def __init__(self, folder: Path, encoder: str = ENCODER, dimension: int = DIMENSION) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.encoder = encoder
        self.dimension = dimension
        self.db: Database = database.create(folder)
        self.root = documents.add_root(self.db, "/shelf", is_folder=True)

    def store(self, wanted: Sequence[Item]) -> list[IndexPassage]:
        found = []
        with database.transaction(self.db):
            for item in wanted:
                found.append(self._store(item))
        return found

    def _store(self, item: Item) -> IndexPassage:
        file = documents.put_file(self.db, self.root, item.name, 1, 1, "")
        read = ReadDocument(item.text, title=item.title, media_type=item.media_type, modified=item.modified)
        row = documents.put_document(self.db, file, item.name, "", read, language=item.language, size=1)
        key = f"{item.name}:{item.text}"
        new = NewPassage(item.text, 0, len(item.text), None, None, (), item.language, key)
        replace_passages(self.db, row, [new])
        put_vectors(self.db, self.encoder, [(key, item.vector.astype("<f4").tobytes())])
        passage = self.db.execute("SELECT id FROM passage WHERE document_id = ?", (row,)).fetchone()[0]
        return IndexPassage(passage, item.text, (), item.title, item.language)

    def writer(self) -> IndexWriter:
        return IndexWriter(self.folder, self.db, self.encoder, self.dimension)

    def add(self, wanted: Sequence[Item], writer: IndexWriter | None = None) -> list[int]:
        """Store, index and commit; returns the passage ids."""
        writer = writer or self.writer()
        stored = self.store(wanted)
        writer.add(stored, np.stack([item.vector for item in wanted]))
        writer.commit()
        return [passage.id for passage in stored]

    def remove(self, name: str) -> None:
        with database.transaction(self.db):
            row = self.db.execute("SELECT id FROM document WHERE path = ?", (name,)).fetchone()
            documents.delete_document(self.db, row[0])

    def close(self) -> None:
        self.db.conn.close()
