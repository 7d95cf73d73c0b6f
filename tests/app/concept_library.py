"""Concepts put into a stored library as a fit would leave them, and read again as the `search` child lists them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.base.types import Concept
from core.library import Library
from core.store import concepts, database

MODEL = "sae-0123456789abcdef"
LEAST = 24
FIGURES = {
    "nmse": 0.21, "nmse_held_out": 0.29, "dead": 0.02, "l0": 15.8, "mrr_kept": 0.94, "recall_kept": 0.991,
    "spearman": 0.83, "k": 16, "latents": 512,
}  # fmt: skip
SAMPLES = (
    Concept(7, "harbour · dues · overnight", ("harbour", "dues", "overnight"), 4, (), 1.1, 0.93),
    Concept(9, "money and payment", ("crowns", "pay"), 3, (), 1.6, 0.55, "model"),
    Concept(11, "ice · winter · storm", ("ice", "winter", "storm"), 2, (), 2.0, 0.81),
    Concept(12, "lamp · keeper · light", ("lamp", "light"), 3, (), 1.7, -1.0),
    Concept(13, "the · of · board", ("board",), 1, (), 2.3, 0.21),
)


def put_concepts(folder: Path, rows: Sequence[Concept] = SAMPLES) -> None:
    db = database.open_writer(folder)
    with database.transaction(db):
        concepts.put_concepts(db, MODEL, rows)
    db.conn.close()


def listed(folder: Path) -> list[Concept]:
    library = Library.open(folder)
    try:
        return library.concepts(MODEL)
    finally:
        library.close()


def listing(folder: Path) -> dict[str, Any]:
    """A `core.worker.concept_list.ConceptList`, written by hand: importing that takes seconds."""
    library, found = Library.open(folder), listed(folder)
    passages = library.passage_count()
    library.close()
    told = {"figures": FIGURES, "fitted": passages, "created": "2026-11-02T10:00:00+00:00"} if found else {}
    return {"model": MODEL if found else "", "concepts": found, "passages": passages, "least": LEAST} | told
