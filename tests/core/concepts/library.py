"""A real library about the tiny encoder's topics, for fits and explanations."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from core.base.events import Control, Listener, ignore
from core.concepts.fit import fit
from core.encode.encoder import Encoder
from core.index.snapshot import Snapshot
from tests.shelf import Item, Shelf
from tests.tiny import sentence, topics


def made_items(encoder: Encoder, count: int, *, seed: int = 3) -> list[Item]:
    """Passages of four sentences, each about one topic, the topics in turn."""
    luck = random.Random(seed)
    themes = list(topics().values())
    texts = [
        " ".join(sentence(luck.sample(themes[n % len(themes)], 3), luck).capitalize() + "." for _ in range(4))
        for n in range(count)
    ]
    vectors = encoder.encode(texts)
    return [
        Item(f"/shelf/{n:03d}.txt", text, v, title="") for n, (text, v) in enumerate(zip(texts, vectors, strict=True))
    ]


def topic_of(row: int) -> str:
    return list(topics())[row % len(topics())]


def topic_words(name: str) -> set[str]:
    return {word for thing in topics()[name] for word in thing}


def make_shelf(folder: Path, encoder: Encoder, items: list[Item]) -> Shelf:
    shelf = Shelf(folder, encoder.id, encoder.dimension)
    shelf.add(items)
    return shelf


def fit_shelf(
    shelf: Shelf, encoder: Encoder, control: Control | None = None, listener: Listener = ignore
) -> str | None:
    with Snapshot.open(shelf.folder) as snapshot:
        return fit(shelf.folder, shelf.db, snapshot, encoder, control or Control(), listener)


def labels_of(shelf: Shelf, name: str) -> dict[int, str]:
    rows = shelf.db.execute("SELECT latent, label FROM concept WHERE model = ?", (name,)).fetchall()
    return dict(rows)


def column_auc(column: np.ndarray, positive: np.ndarray) -> float:
    above = column[positive][:, None] - column[~positive][None, :]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())
