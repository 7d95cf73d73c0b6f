"""What an encoder made of a text beside its dense vector: learned lexical weights, kept by encoder and text.

They are the truth from which postings are made again without encoding. Their rows go when the text's vector goes
(`passages.drop_vectors`). Token vectors are not kept here: they are the largest part of an index, and kept once only.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping

import numpy as np
from sqlite_utils import Database

LEXICAL = "lexical"
_TOKENS_KEY = "token_vectors"
_COUNT = struct.Struct("<I")
_BATCH = 500  # what SQLite takes as parameters of one statement, with room to spare


def put_lexical(db: Database, encoder: str, rows: Iterable[tuple[str, Mapping[str, float]]]) -> None:
    """Store (hash, weights by token); those already there stay. Call inside a transaction."""
    db.conn.executemany(
        "INSERT OR IGNORE INTO representation (encoder, hash, kind, data) VALUES (?, ?, ?, ?)",
        [(encoder, h, LEXICAL, pack(weights)) for h, weights in rows],
    )


def lexical(db: Database, encoder: str, wanted: Iterable[str]) -> dict[str, dict[str, float]]:
    """The stored weights of the texts with these hashes."""
    keys = list(dict.fromkeys(wanted))
    found: dict[str, dict[str, float]] = {}
    for at in range(0, len(keys), _BATCH):
        part = keys[at : at + _BATCH]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT hash, data FROM representation WHERE encoder = ? AND kind = ? AND hash IN ({marks})"
        found.update((h, unpack(data)) for h, data in db.execute(sql, (encoder, LEXICAL, *part)))
    return found


def pack(weights: Mapping[str, float]) -> bytes:
    """The number of tokens, their weights as 16-bit floats, the tokens compressed."""
    values = np.fromiter(weights.values(), "<f2", len(weights))
    names = zlib.compress("\0".join(weights).encode("utf-8", "surrogatepass"))
    return _COUNT.pack(len(weights)) + values.tobytes() + names


def unpack(data: bytes) -> dict[str, float]:
    (count,) = _COUNT.unpack_from(data)
    values = np.frombuffer(data, "<f2", count, _COUNT.size)
    names = zlib.decompress(data[_COUNT.size + values.nbytes :]).decode("utf-8", "surrogatepass").split("\0")
    return dict(zip(names, values.astype(np.float64).tolist(), strict=True)) if count else {}


def keeps_tokens(db: Database) -> bool | None:
    """Whether the library is to keep token vectors; None: as the encoder suggests."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (_TOKENS_KEY,)).fetchone()
    return None if row is None else row[0] == "on"


def set_keeps_tokens(db: Database, keep: bool) -> None:
    """Call inside a transaction."""
    value = "on" if keep else "off"
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (_TOKENS_KEY, value))
