"""Named concepts of a library, one set a sparse autoencoder."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from sqlite_utils import Database

from core.base.types import Concept


def put_concepts(db: Database, model: str, rows: Iterable[Concept]) -> None:
    """Store the concepts of `model`, in place of any it had; call inside a transaction."""
    db.execute("DELETE FROM concept WHERE model = ?", (model,))
    db.conn.executemany(
        "INSERT INTO concept (model, latent, label, terms, passages, examples, idf) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(model, c.id, c.label, json.dumps(c.terms), c.passages, json.dumps(c.examples), c.idf) for c in rows],
    )


def concepts(db: Database, model: str) -> list[Concept]:
    """The concepts of `model`, the most frequent first."""
    rows = db.execute(
        "SELECT latent, label, terms, passages, examples, idf FROM concept WHERE model = ? "
        "ORDER BY passages DESC, latent",
        (model,),
    ).fetchall()
    return [Concept(r[0], r[1], tuple(json.loads(r[2])), r[3], tuple(json.loads(r[4])), r[5]) for r in rows]


def drop_others(db: Database, keep: Iterable[str]) -> None:
    """Delete the concepts of models that are not in `keep`."""
    kept = tuple(keep)
    db.execute(f"DELETE FROM concept WHERE model NOT IN ({', '.join('?' * len(kept))})", kept)


def forget_examples(db: Database, gone: Collection[int]) -> None:
    """Take deleted passages out of the concepts' examples."""
    for model, latent, kept in _exemplified(db, gone):
        values = (json.dumps([i for i in kept if i not in gone]), model, latent)
        db.execute("UPDATE concept SET examples = ? WHERE model = ? AND latent = ?", values)


def exemplifying(db: Database, gone: Collection[int]) -> int:
    """How many concepts still have one of these passages for an example."""
    return len(_exemplified(db, gone))


def _exemplified(db: Database, gone: Collection[int]) -> list[tuple[str, int, list[int]]]:
    rows = db.execute("SELECT model, latent, examples FROM concept").fetchall() if gone else []
    found = [(str(model), int(latent), json.loads(examples)) for model, latent, examples in rows]
    return [row for row in found if not set(row[2]).isdisjoint(gone)]
