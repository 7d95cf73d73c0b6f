"""A real library kept in this process: its runs, and what a person could see of it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlite_utils import Database

from core.base.events import Control
from core.base.types import BM25, DENSE, Document, Filters, Hit, IngestReport, Query
from core.encode.encoder import Encoder
from core.index.snapshot import Snapshot
from core.ingest.pipeline import Ingest
from core.ingest.removal import Receipt, remove
from core.library import Library
from core.search.searcher import Searcher
from core.store import database

T = TypeVar("T")


class Kept:
    def __init__(self, folder: Path, encoder: Encoder) -> None:
        self.folder = folder
        self.encoder = encoder
        Library.create(folder).close()

    def written(self, change: Callable[[Database], T]) -> T:
        db = database.open_writer(self.folder)
        try:
            return change(db)
        finally:
            db.conn.close()

    def read(self, look: Callable[[Library], T]) -> T:
        library = Library.open(self.folder)
        try:
            return look(library)
        finally:
            library.close()

    def run(self, *paths: Path) -> IngestReport:
        return self.written(lambda db: Ingest(self.folder, db, self.encoder, Control(), lambda event: None).run(paths))

    def remove(self, path: Path) -> Receipt:
        return self.written(lambda db: remove(db, path))

    def documents(self) -> dict[str, Document]:
        """By file name, or by external id where there is one."""
        return {d.external_id or Path(d.path).name: d for d in self.read(lambda library: library.documents())}

    def search(self, text: str, k: int = 10, **filters: Any) -> list[Hit]:
        fold, channels = filters.pop("fold", True), filters.pop("channels", (BM25, DENSE))
        searcher = Searcher(self.folder, self.encoder)
        query = Query(text, k=k, channels=channels, filters=Filters(**filters), fold=fold)
        try:
            return list(searcher.search(query).hits)
        finally:
            searcher.close()

    def passage_ids(self) -> set[int]:
        """Of all that the index can find."""
        with Snapshot.open(self.folder) as snapshot:
            return set(snapshot.ids().tolist())

    def rows(self, sql: str, *values: object) -> list[Any]:
        db = database.open_reader(self.folder)
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.conn.close()

    def seen(self) -> object:
        """All that a person could see, without ids: equal for two libraries of equal folders."""

        def look(library: Library) -> object:
            found = library.documents()
            names = {d.id: (d.path, d.external_id) for d in found}
            families: dict[int, set[tuple[str, str]]] = {}
            for d in found:
                if d.family is not None:
                    families.setdefault(d.family, set()).add(names[d.id])
            rows = [
                (names[d.id], d.title, d.state, d.passages, names.get(d.copy_of or 0), library.document_text(d.id),
                 [(p.ordinal, p.text, p.start) for p in library.document_passages(d.id)]) for d in found
            ]  # fmt: skip
            return rows, sorted(map(sorted, families.values()))

        return self.read(look)
