"""Made-up vectors and texts with planted topics, for tests of the autoencoder and its labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WORDS = {
    "roof": "roof repair tiles gutter", "solar": "solar heating panel collector", "choir": "choir concert singers hymn",
    "bees": "honey bees hive swarm", "bread": "bread oven flour dough", "ships": "harbour ship anchor cargo",
    "tax": "tax invoice payment budget", "trains": "railway station platform ticket",
    "roses": "rose pruning garden soil", "law": "contract court tenant lease",
}  # fmt: skip
FILLER = (
    "morning", "letter", "village", "paper", "table", "corner", "window", "colour", "river", "stone", "cloud", "pencil",
    "basket", "ladder",
)  # fmt: skip


@dataclass(frozen=True)
class Planted:
    """`vectors` [N, D] are unit; each row is made of one or two `topics` [N, T] and noise."""

    vectors: np.ndarray
    topics: np.ndarray
    texts: list[str]


def plant(rows: int, *, seed: int, dimension: int = 48, noise: float = 0.25) -> Planted:
    fixed = np.random.default_rng(99)  # topics have the same directions in every corpus
    directions = np.linalg.qr(fixed.normal(size=(dimension, len(WORDS))))[0].T
    shared = fixed.normal(size=dimension) / np.sqrt(dimension)
    luck = np.random.default_rng(seed)
    topics = np.zeros((rows, len(WORDS)), bool)
    for row in topics:
        row[luck.choice(len(WORDS), luck.integers(1, 3), replace=False)] = True
    strength = topics * luck.uniform(0.7, 1.3, topics.shape)
    vectors = strength @ directions + 0.6 * shared + noise * luck.normal(size=(rows, dimension)) / np.sqrt(dimension)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Planted(vectors.astype(np.float32), topics, [_text(row, luck) for row in topics])


def sparse_mixtures(rows: int = 800, dimension: int = 48, features: int = 100) -> np.ndarray:
    """Unit vectors made of a few of many directions: more features than dimensions, as in real vectors."""
    luck = np.random.default_rng(0)
    directions = luck.normal(size=(features, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    strength = (luck.random((rows, features)) < 0.04) * luck.uniform(0.6, 1.4, (rows, features))
    vectors = strength @ directions + 0.01 * luck.normal(size=(rows, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _text(topics: np.ndarray, luck: np.random.Generator) -> str:
    words = list(luck.choice(FILLER, 8))
    for topic in np.flatnonzero(topics):
        own = list(WORDS.values())[topic].split()
        words += [own[0] + " " + own[1], *luck.choice(own[2:], 2)]
    luck.shuffle(words)
    return "The " + " of the ".join(str(w) for w in words) + "."


def auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Chance that a positive row scores above a negative one."""
    above = scores[positive][:, None] - scores[~positive][None, :]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())
