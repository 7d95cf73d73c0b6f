"""Passages with their vectors as the database holds them: what an index is made of again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from sqlite_utils import Database

from core.base.events import Control
from core.base.types import Passage
from core.index.build import IndexPassage
from core.store import passages
from core.store.database import transaction

_AT_ONCE = 2_000  # passages a batch


class Encodes(Protocol):
    """The part of an encoder that a rebuild needs."""

    @property
    def id(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str], *, kind: str = ..., control: Control | None = ...) -> np.ndarray: ...


InputText = Callable[[Sequence[str], str, str], str]  # heading path, text, title -> what the encoder sees


def stored_passages(
    db: Database, encoder: Encodes, input_text: InputText | None, control: Control
) -> Iterator[tuple[list[IndexPassage], np.ndarray]]:
    """All passages that have a vector, or can be given one, in batches with their vectors [N, D].

    Passages whose vector is not in the table `vector` are encoded when `input_text` tells what the encoder
    sees of them, else left out.
    """
    for batch in _batches(db):
        control.check()
        yield _with_vectors(db, encoder, batch, input_text, control)


def _batches(db: Database) -> Iterator[list[Passage]]:
    ids = [passage_id for passage_id, _ in passages.all_hashes(db)]
    for start in range(0, len(ids), _AT_ONCE):
        yield list(passages.passages(db, ids[start : start + _AT_ONCE]).values())


def _with_vectors(
    db: Database, encoder: Encodes, batch: list[Passage],
    input_text: InputText | None, control: Control,
) -> tuple[list[IndexPassage], np.ndarray]:  # fmt: skip
    """The passages of the batch that can be indexed, with their vectors [N, D]."""
    hashes = passages.hashes(db, [p.id for p in batch])
    known = passages.vectors(db, encoder.id, hashes.values())
    size = 4 * encoder.dimension
    found = {
        p.id: np.frombuffer(known[hashes[p.id]], "<f4") for p in batch if len(known.get(hashes[p.id], b"")) == size
    }
    missing = [p for p in batch if p.id not in found]
    if missing and input_text is not None:
        texts = [input_text(p.heading_path, p.text, p.title) for p in missing]
        fresh = encoder.encode(texts, kind="passage", control=control)
        found |= {p.id: vector for p, vector in zip(missing, fresh, strict=True)}
        kept_ones = ((hashes[p.id], np.ascontiguousarray(found[p.id], "<f4").tobytes()) for p in missing)
        with transaction(db):
            passages.put_vectors(db, encoder.id, kept_ones)
    kept = [p for p in batch if p.id in found]
    vectors = np.array([found[p.id] for p in kept], np.float32).reshape(len(kept), encoder.dimension)
    return [_index_passage(p) for p in kept], vectors


def _index_passage(p: Passage) -> IndexPassage:
    return IndexPassage(p.id, p.text, p.heading_path, p.context_title, p.language)
