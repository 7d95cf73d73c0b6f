"""Taking documents out of a library, at once in every channel, with a receipt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.errors import NotFound
from core.base.files import path_text
from core.base.types import BM25, DENSE
from core.store import documents, passages
from core.store.database import transaction


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a removal took out, and how many of its passages each channel can still find (zero)."""

    documents: int
    passages: int
    channels: dict[str, int]
    receipt: str


def remove(db: Database, path: Path) -> Receipt:
    """Remove the file, or all files under the folder, at `path`; it need not exist on disk any more.

    What still lies under a root is excluded from later scans until it is added again.

    Raises:
        NotFound: nothing in the library lies there.
    """
    text = path_text(path if path.is_absolute() else path.resolve())
    rows = [row for row in documents.files(db) if documents.is_under(row.path, text)]
    known_roots = [root for root in documents.roots(db) if documents.is_under(root.path, text)]
    if not rows and not known_roots:
        raise NotFound(f"{text} is not in this library.", "List what is in it with `documents`.")
    gone = _passage_ids(db, [row.id for row in rows])
    with transaction(db):
        counts = [documents.delete_file(db, row.id) for row in rows]
        documents.remove_roots(db, text)
        if any(documents.is_under(text, root.path) for root in documents.roots(db)):
            documents.exclude(db, text)
        passages.drop_unused_vectors(db)
    remaining = _findable(db, gone)
    total = sum(d for d, _ in counts)
    left = sum(remaining.values())
    sentence = f"{total} documents with {len(gone)} passages were removed from {text}; {left} can still be found."
    return Receipt(total, len(gone), remaining, sentence)


def _passage_ids(db: Database, file_ids: list[int]) -> set[int]:
    found: set[int] = set()
    for file_id in file_ids:
        rows = db.execute(
            "SELECT p.id FROM passage p JOIN document d ON d.id = p.document_id WHERE d.file_id = ?", (file_id,)
        )
        found.update(r[0] for r in rows.fetchall())
    return found


def _findable(db: Database, gone: set[int]) -> dict[str, int]:
    """How many of the passages a segment lists that is neither stored nor a tombstone: counted, not assumed."""
    dead = {r[0] for r in db.execute("SELECT passage_id FROM tombstone").fetchall()}
    listed: set[int] = set()
    for (blob,) in db.execute("SELECT passage_ids FROM segment").fetchall():
        listed.update(np.frombuffer(blob, "<i8").tolist())
    alive = (listed & gone) - dead
    alive |= set(passages.passages(db, gone))
    return {BM25: len(alive), DENSE: len(alive)}
