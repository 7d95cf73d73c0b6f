"""Passages with their vectors as the database holds them: what an index is made of again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from sqlite_utils import Database

from core.base.events import Control
from core.base.types import DENSE, LEXICAL, Passage
from core.index.build import IndexPassage
from core.store import passages, representations
from core.store.database import transaction

_AT_ONCE = 2_000  # passages a batch


class Made(Protocol):
    """What an encoder makes of N texts: vectors [N, D], and the weights of each one's terms."""

    @property
    def dense(self) -> np.ndarray | None: ...

    @property
    def lexical(self) -> Sequence[Mapping[str, float]] | None: ...


class Encodes(Protocol):
    """The part of an encoder that a rebuild needs."""

    @property
    def id(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def heads(self) -> frozenset[str]: ...

    def encode_heads(
        self, texts: Sequence[str], heads: Collection[str], *, kind: str = ..., control: Control | None = ...
    ) -> Made: ...


InputText = Callable[[Sequence[str], str, str], str]  # heading path, text, title -> what the encoder sees


def stored_passages(
    db: Database, encoder: Encodes, input_text: InputText | None, control: Control
) -> Iterator[tuple[list[IndexPassage], np.ndarray]]:
    """All passages that have a vector, or can be given one, in batches with their vectors [N, D].

    Passages whose vector is not in the table `vector` are encoded when `input_text` tells what the encoder
    sees of them, else left out. Learned weights that are lost are made and stored then, too.
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
    if input_text is not None:
        lost = _without_weights(db, encoder, batch, hashes)
        wanted = [p for p in batch if p.id not in found or p.id in lost]
        fresh = _encoded(
            db, encoder, {hashes[p.id]: input_text(p.heading_path, p.text, p.title) for p in wanted}, control
        )
        found |= {p.id: fresh[hashes[p.id]] for p in wanted if p.id not in found}
    kept = [p for p in batch if p.id in found]
    vectors = np.array([found[p.id] for p in kept], np.float32).reshape(len(kept), encoder.dimension)
    return [_index_passage(p) for p in kept], vectors


def _without_weights(db: Database, encoder: Encodes, batch: list[Passage], hashes: dict[int, str]) -> set[int]:
    """The passages whose learned weights are not stored; none for an encoder that makes none."""
    if LEXICAL not in encoder.heads:
        return set()
    known = representations.lexical(db, encoder.id, hashes.values())
    return {p.id for p in batch if hashes[p.id] not in known}


def _encoded(db: Database, encoder: Encodes, texts: dict[str, str], control: Control) -> dict[str, np.ndarray]:
    """Encode the texts, by hash; vectors and weights are stored where there are none. Returns the vectors."""
    if not texts:
        return {}
    made = encoder.encode_heads(
        list(texts.values()), {DENSE} | ({LEXICAL} & encoder.heads), kind="passage", control=control
    )
    assert made.dense is not None
    vectors = dict(zip(texts, np.ascontiguousarray(made.dense, "<f4"), strict=True))
    with transaction(db):
        passages.put_vectors(db, encoder.id, ((key, vector.tobytes()) for key, vector in vectors.items()))
        if made.lexical is not None:
            representations.put_lexical(db, encoder.id, zip(texts, made.lexical, strict=True))
    return vectors


def _index_passage(p: Passage) -> IndexPassage:
    return IndexPassage(p.id, p.text, p.heading_path, p.context_title, p.language)
