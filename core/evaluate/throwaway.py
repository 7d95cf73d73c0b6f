"""A library of a test collection, each document one passage, made with the parts that make any library."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.errors import from_os_error
from core.base.events import Control, Listener, Progress
from core.base.types import DENSE, DocumentState, ReadDocument
from core.encode.encoder import Encoded, Encoder, input_hash, input_text
from core.evaluate.datasets import CorpusDocument, Dataset
from core.index.writer import IndexPassage, IndexWriter
from core.store import database, documents
from core.store.database import transaction
from core.store.passages import NewPassage, put_vectors, replace_passages
from core.text.language import detect

_PREFIX = "whymatch-measured-"
_AT_ONCE = 512  # documents a transaction and a call of the encoder


@contextmanager
def room(folder: Path | None = None) -> Iterator[Path]:
    """A new folder for a throw-away library, deleted afterwards: in `folder`, or among the system's temporary ones.

    Whoever measures texts that are not public gives a `folder` of its own: what a killed process leaves there goes with
    it, or when the next library is made there.

    Raises:
        KnownError: the disk is full, or there is no permission.
    """
    if folder is not None:
        for left in folder.glob(f"{_PREFIX}*"):
            shutil.rmtree(left, ignore_errors=True)
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=folder)
    except OSError as error:
        raise from_os_error(error, folder or tempfile.gettempdir()) from error
    with made as name:
        yield Path(name)


def build(
    folder: Path, dataset: Dataset, encoder: Encoder, control: Control, listener: Listener,
    heads: Collection[str] = (DENSE,), expansion: Mapping[str, Sequence[str]] | None = None,
) -> None:  # fmt: skip
    """Make the library in `folder`, with what these `heads` of the encoder make of each document.

    `expansion` are texts by document id whose words find the document, too; nothing else sees them.

    Raises:
        Cancelled, DiskFull
    """
    db = database.create(folder)
    try:
        path = str(dataset.folder / "corpus.jsonl")
        with transaction(db):
            root = documents.add_root(db, path, is_folder=False)
            file = documents.put_file(db, root, path, 0, 0, "")
        writer = IndexWriter(folder, db, encoder.id, encoder.dimension)
        for start in range(0, len(dataset.corpus), _AT_ONCE):
            control.check()
            part = dataset.corpus[start : start + _AT_ONCE]
            indexed = _store(db, file, path, part, expansion or {})
            made = _encode(encoder, heads, part, start, len(dataset.corpus), control, listener)
            vectors = made.dense
            assert vectors is not None
            keys = [input_hash(_input(d)) for d in part]
            with transaction(db):
                kept = zip(keys, (v.tobytes() for v in np.ascontiguousarray(vectors, "<f4")), strict=True)
                put_vectors(db, encoder.id, kept)
            writer.add(indexed, vectors, made.lexical, made.multi)
        writer.merge(control)
        writer.neutralise(control)
        writer.commit()
        writer.collect_garbage(keep=1)
    finally:
        db.conn.close()


def _encode(
    encoder: Encoder, heads: Collection[str], part: Sequence[CorpusDocument], start: int, total: int,
    control: Control, listener: Listener,
) -> Encoded:  # fmt: skip
    began = time.monotonic()

    def on_batch(done: int) -> None:
        left = (time.monotonic() - began) / max(done, 1) * (total - start - done)
        listener(Progress("encoding", start + done, total, seconds_left=left))

    texts = [_input(d) for d in part]
    if set(heads) == {DENSE}:
        return Encoded(encoder.encode(texts, kind="passage", control=control, on_batch=on_batch))
    return encoder.encode_heads(texts, heads, kind="passage", control=control, on_batch=on_batch)


def _input(document: CorpusDocument) -> str:
    return input_text((), document.text, document.title)


def _store(
    db: Database, file: int, path: str, part: Sequence[CorpusDocument], expansion: Mapping[str, Sequence[str]]
) -> list[IndexPassage]:
    found = []
    with transaction(db):
        for document in part:
            text = document.text
            language = detect(text or document.title)
            read = ReadDocument(text, title=document.title, external_id=document.id, state=DocumentState.READ)
            row = documents.put_document(db, file, path, "", read, language=language, size=len(text))
            new = NewPassage(text, 0, len(text), None, None, (), language, input_hash(_input(document)))
            replace_passages(db, row, [new])
            passage = db.execute("SELECT id FROM passage WHERE document_id = ?", (row,)).fetchone()[0]
            words = "\n".join((text, *expansion.get(document.id, ())))
            found.append(IndexPassage(passage, words, (), document.title, language))
    return found
