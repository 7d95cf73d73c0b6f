"""Made-up passages with more topics than their vectors have dimensions: only a sparse code can tell them apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TOPICS, WORDS_EACH, FILLERS = 72, 8, 60
DIMENSION = 24


@dataclass(frozen=True)
class Crowd:
    """`vectors` [N, D] are unit; `topics` [N, T] are what each row and its text are made of."""

    vectors: np.ndarray
    topics: np.ndarray
    texts: list[str]


def crowd(rows: int, *, seed: int, noise: float = 0.2) -> Crowd:
    luck = np.random.default_rng(seed)
    directions = luck.normal(size=(TOPICS, DIMENSION))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    topics = np.zeros((rows, TOPICS), bool)
    for row in topics:
        row[luck.choice(TOPICS, luck.integers(1, 3), replace=False)] = True
    vectors = (topics * luck.uniform(0.7, 1.3, topics.shape)) @ directions
    vectors += noise * luck.normal(size=vectors.shape) / np.sqrt(DIMENSION)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    words = _words(luck)
    return Crowd(vectors.astype(np.float32), topics, [_text(row, words, luck) for row in topics])


def _words(luck: np.random.Generator) -> list[str]:
    letters = luck.integers(26, size=(TOPICS * WORDS_EACH + FILLERS, 9))
    return ["".join(chr(97 + n) for n in row) for row in letters]


def _text(topics: np.ndarray, words: list[str], luck: np.random.Generator) -> str:
    said = list(luck.choice(words[-FILLERS:], 8))
    for topic in np.flatnonzero(topics):
        said += list(luck.choice(words[topic * WORDS_EACH : (topic + 1) * WORDS_EACH], 5, replace=False))
    luck.shuffle(said)
    return " ".join(str(word) for word in said)
