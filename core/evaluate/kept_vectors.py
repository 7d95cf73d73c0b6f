"""Vectors of data sets, kept between evaluations, so that the second one of an encoder need not encode again.

They lie in one SQLite file in the app's cache folder, by the name of what made them (`made_by`) and a hash of what it
saw. Above the limit those go first that were not used for longest.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
from sqlite_utils import Database

from core.base import paths
from core.base.events import Control
from core.encode.encoder import PASSAGE, QUERY, Encoded, Encoder, FloatArray, TokenStates
from core.store.database import known_errors

MOST_BYTES = 1 << 30  # about 700,000 vectors of 384 dimensions
_BATCH = 500
_BLOCK = 1000  # texts after which their vectors are kept: a stop loses no more
_BUSY_SECONDS = 30
_PROBE = "The ferry leaves the harbour at 7:45; die Fähre legt um 7.45 Uhr ab."

_TABLE = (
    "CREATE TABLE IF NOT EXISTS vector (encoder TEXT, hash BLOB, used REAL, data BLOB, PRIMARY KEY (encoder, hash)) "
    "WITHOUT ROWID"
)


class KeptVectors:
    """A context: leaving it brings the file below its limit."""

    def __init__(self, path: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        path = path or paths.cache() / "evaluation-vectors.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._most_bytes, self._folder = most_bytes, path.parent
        self._db = Database(sqlite3.connect(path, timeout=_BUSY_SECONDS))
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(_TABLE)

    def __enter__(self) -> KeptVectors:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.trim()
        self._db.conn.close()

    def get(self, encoder: str, hashes: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for at in range(0, len(hashes), _BATCH):
            part = hashes[at : at + _BATCH]
            where = f"encoder = ? AND hash IN ({', '.join('?' * len(part))})"
            found.update(self._db.execute(f"SELECT hash, data FROM vector WHERE {where}", (encoder, *part)).fetchall())
            with self._db.conn:
                self._db.execute(f"UPDATE vector SET used = ? WHERE {where}", (time.time(), encoder, *part))
        return found

    def put(self, encoder: str, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Raises DiskFull."""
        now = time.time()
        with known_errors(self._folder), self._db.conn:
            self._db.conn.executemany(
                "INSERT OR REPLACE INTO vector VALUES (?, ?, ?, ?)", ((encoder, key, now, data) for key, data in rows)
            )

    def trim(self) -> None:
        """Drop what was not used for longest until the vectors take no more than the limit."""
        total = self._db.execute("SELECT coalesce(sum(length(data)), 0) FROM vector").fetchone()[0]
        if total <= self._most_bytes:
            return
        gone = []
        for encoder, key, size in self._db.execute("SELECT encoder, hash, length(data) FROM vector ORDER BY used"):
            if total <= self._most_bytes:
                break
            gone.append((encoder, key))
            total -= size
        with self._db.conn:
            self._db.conn.executemany("DELETE FROM vector WHERE encoder = ? AND hash = ?", gone)
        self._db.execute("VACUUM")


class Remembering:
    """An encoder that does not encode again what was kept. Only dense vectors are kept, a block at a time."""

    def __init__(self, encoder: Encoder, kept: KeptVectors) -> None:
        self._encoder, self._kept = encoder, kept
        # by kind: an encoder may have a model of its own for queries
        self._made_by = {kind: made_by(encoder, kind) for kind in (PASSAGE, QUERY)}

    @property
    def id(self) -> str:
        return self._encoder.id

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    @property
    def max_tokens(self) -> int:
        return self._encoder.max_tokens

    @property
    def heads(self) -> frozenset[str]:
        return self._encoder.heads

    def encode(
        self, texts: Sequence[str], *, kind: str = PASSAGE, control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:  # fmt: skip
        keys = [vector_key(kind, text) for text in texts]
        made = self._made_by[kind]
        known = self._kept.get(made, list(dict.fromkeys(keys)))
        missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.items())
        done = len(texts) - len(missing)
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            rows = self._fresh(block, kind, control, on_batch, done + start)
            self._kept.put(made, rows.items())
            known.update(rows)
        return np.frombuffer(b"".join(known[key] for key in keys), "<f4").reshape(-1, self.dimension)

    def _fresh(
        self, block: Sequence[tuple[bytes, str]], kind: str, control: Control | None,
        on_batch: Callable[[int], None] | None, done: int,
    ) -> dict[bytes, bytes]:  # fmt: skip
        """The block's vectors by key; `done` texts are known already."""
        vectors = self._encoder.encode(
            [text for _, text in block], kind=kind, control=control,
            on_batch=None if on_batch is None else lambda n: on_batch(done + n),
        )  # fmt: skip
        return {key: vector.astype("<f4").tobytes() for (key, _), vector in zip(block, vectors, strict=True)}

    def encode_heads(
        self, texts: Sequence[str], heads: Collection[str], *, kind: str = PASSAGE, control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> Encoded:  # fmt: skip
        return self._encoder.encode_heads(texts, heads, kind=kind, control=control, on_batch=on_batch)

    def encode_long(
        self, texts: Sequence[str], *, kind: str = PASSAGE, control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:  # fmt: skip
        return self._encoder.encode_long(texts, kind=kind, control=control, on_batch=on_batch)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._encoder.count_tokens(texts)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return self._encoder.token_spans(text)

    def token_states(self, text: str, kind: str = PASSAGE) -> TokenStates:
        return self._encoder.token_states(text, kind)


def made_by(encoder: Encoder, kind: str = PASSAGE) -> str:
    """The encoder's id and a hash of what it makes of one text of this kind.

    Whatever changes its vectors (the graph in 8 bits or exact, one exported anew, other heads) changes the name.
    """
    vector = encoder.encode([_PROBE], kind=kind)[0].astype("<f4")
    return f"{encoder.id}@{hashlib.sha256(vector.tobytes()).hexdigest()[:16]}"


def vector_key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind}\n{text}".encode("utf-8", "surrogatepass")).digest()[:16]
