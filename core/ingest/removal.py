"""Taking documents out of a library, at once in every place, with a receipt that counts what is left.

Needs no lock: it is one transaction, and whoever is at work on the library meets the rows gone.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.errors import NotFound
from core.base.files import path_text
from core.base.types import BM25, DENSE
from core.ingest.reading import cache_of
from core.store import concepts, copies, database, documents, history, judgements, passages
from core.store.database import transaction
from core.store.documents import FileRow
from core.store.history import Replacement

CACHE = "cache"  # folder in the library, with one folder a file


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a removal took out, and what of it is left in each place where it was (zero).

    `channels`: passages that `bm25` and `dense` can find, `concepts` with such an example, rows of `text`, `vectors`
    that nothing else needs, files in the `cache`, citations and judgements in the `history` of questions. `stays`
    lists documents of equal content elsewhere: because of them their text stays.
    """

    documents: int
    passages: int
    channels: dict[str, int]
    receipt: str
    stays: tuple[str, ...] = ()


@dataclass(slots=True)
class Gone:
    """Documents deleted, each with an equal one that is left; passages deleted, and the vectors they had."""

    documents: dict[int, Replacement | None] = field(default_factory=dict)
    passages: set[int] = field(default_factory=set)
    vectors_left: int = 0
    judgements_left: int = 0


def remove(db: Database, *paths: Path) -> Receipt:
    """Remove the files, or all files under the folders, at `paths`; they need not exist on disk any more.

    What still lies under a root is excluded from later scans until it is added again.

    Raises:
        NotFound: nothing in the library lies there.
    """
    texts = [path_text(path if path.is_absolute() else path.resolve()) for path in paths]
    with transaction(db):  # before anything is looked up: a job at work may give an id to another file
        rows = _files_at(db, texts)
        known_roots = [root for root in documents.roots(db) if any(documents.is_under(root.path, t) for t in texts)]
        if not rows and not known_roots:
            raise NotFound(f"{', '.join(texts)} is not in this library.", "List what is in it with `documents`.")
        gone = delete_files(db, [row.id for row in rows])
        for text in texts:
            documents.remove_roots(db, text)
        left = documents.roots(db)
        for text in texts:
            if any(documents.is_under(text, root.path) for root in left):
                documents.exclude(db, text)
        remaining = _remaining(db, gone)
    remaining["cache"] = _clear_caches(database.folder_of(db), [row.path for row in rows])
    return _receipt(texts[0] if len(texts) == 1 else f"{len(texts)} places", gone, remaining)


def _files_at(db: Database, texts: Sequence[str]) -> list[FileRow]:
    """The files that are one of these paths, or lie in a folder that is."""
    known = documents.files(db)
    files = {row.path for row in known}.intersection(texts)
    folders = [text for text in texts if text not in files]
    return [row for row in known if row.path in files or any(documents.is_under(row.path, f) for f in folders)]


def delete_files(db: Database, file_ids: Sequence[int], *, keep_vectors: bool = False) -> Gone:
    """Delete files with their documents; call inside a transaction."""
    gone = delete_documents(db, documents.of_files(db, file_ids), keep_vectors=keep_vectors)
    db.conn.executemany("DELETE FROM file WHERE id = ?", ((f,) for f in file_ids))
    return gone


def delete_documents(db: Database, ids: Sequence[int], *, keep_vectors: bool = False) -> Gone:
    """Delete documents with all that stems from them; call inside a transaction.

    A run may keep their vectors and judgements to its end, for what says the same and is still to be read. It costs
    what they hold, not what the library holds (but for the stored answers, which are looked through).
    """
    gone = Gone()
    hashes: dict[int, str] = {}
    contents = {i: copies.content_of(db, i) for i in ids}
    for document_id in ids:
        hashes.update(passages.hashes_of(db, document_id))
    for document_id in ids:
        documents.delete_document(db, document_id)
    gone.documents = {i: copies.equal_to(db, content) for i, content in contents.items()}
    gone.passages = set(hashes) - set(passages.hashes(db, list(hashes)))
    if not keep_vectors:
        gone.vectors_left = passages.drop_vectors(db, (hashes[i] for i in gone.passages))
        gone.judgements_left = judgements.forget(db, (hashes[i] for i in gone.passages))
    concepts.forget_examples(db, gone.passages)
    history.forget(db, gone.documents)
    return gone


def drop_cache(library: Path, path: str) -> None:
    """Forget what was read from the pictures of a file that is no longer in the library."""
    shutil.rmtree(cache_of(str(library / CACHE), path), ignore_errors=True)


def _clear_caches(library: Path, paths: Sequence[str]) -> int:
    """Returns how many files are left."""
    left = 0
    for path in paths:
        drop_cache(library, path)
        left += sum(1 for _ in Path(cache_of(str(library / CACHE), path)).rglob("*"))
    return left


def _remaining(db: Database, gone: Gone) -> dict[str, int]:
    findable = _findable(db, gone.passages)
    left = {i for i, other in gone.documents.items() if other is None}
    return {
        BM25: findable, DENSE: findable, "concepts": concepts.exemplifying(db, gone.passages),
        "text": documents.stored_texts(db, gone.documents) + len(passages.hashes(db, list(gone.passages))),
        "vectors": gone.vectors_left, "history": history.quoting(db, left) + gone.judgements_left,
    }  # fmt: skip


def _findable(db: Database, gone: set[int]) -> int:
    """Passages a segment lists that are neither stored nor a tombstone: counted, not assumed."""
    listed: set[int] = set()
    for (blob,) in db.execute("SELECT passage_ids FROM segment").fetchall():
        ids = np.frombuffer(blob, "<i8")
        listed.update(ids[np.isin(ids, list(gone))].tolist())
    dead = {i for i in listed if db.execute("SELECT 1 FROM tombstone WHERE passage_id = ?", (i,)).fetchone()}
    return len(listed - dead)


def _receipt(text: str, gone: Gone, remaining: dict[str, int]) -> Receipt:
    stays = tuple(sorted({other[1] for other in gone.documents.values() if other is not None}))
    left = sum(remaining.values())
    sentence = (
        f"{len(gone.documents)} documents with {len(gone.passages)} passages were removed from {text}; "
        f"{left} traces of them are left."
    )
    if stays:
        more = f" and {len(stays) - 1} more" if len(stays) > 1 else ""
        sentence += f" What they said stays, since {stays[0]}{more} says the same."
    return Receipt(len(gone.documents), len(gone.passages), remaining, sentence, stays)
