"""Held-out questions whose passages moved most, for a person to look at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.base.events import Control
from core.encode.encoder import Encoder
from core.evaluate.kept_vectors import KeptVectors, Remembering
from core.train.outcome import TEXTS, Moved
from core.train.pool import Pool
from core.train.types import Piece


def examples(
    pool: Pool, pieces: Sequence[Piece], present: Encoder, candidate: Encoder, kept: KeptVectors,
    control: Control | None = None,
) -> tuple[tuple[Moved, ...], tuple[Moved, ...]]:  # fmt: skip
    """The questions that moved up most, and down most, by meaning alone."""
    document = {piece.id: piece.document for piece in pieces}
    before, after = (ranks(pool, Remembering(encoder, kept), control) for encoder in (present, candidate))
    moved = [
        Moved(question.text, int(b), int(a), question.positive, document[question.positive])
        for question, b, a in zip(pool.questions, before, after, strict=True)
        if a != b
    ]
    by_gain = sorted(moved, key=lambda one: np.log(one.before) - np.log(one.after), reverse=True)
    up = [one for one in by_gain if one.after < one.before][:TEXTS]
    down = [one for one in reversed(by_gain) if one.after > one.before][:TEXTS]
    return tuple(up), tuple(down)


def ranks(pool: Pool, encoder: Encoder, control: Control | None = None) -> list[int]:
    """The rank of each question's passage by inner product, from 1."""
    passages = encoder.encode(pool.passages, kind="passage", control=control)
    queries = encoder.encode([question.text for question in pool.questions], kind="query", control=control)
    place = {document.id: at for at, document in enumerate(pool.dataset.corpus)}
    own = [place[str(question.positive)] for question in pool.questions]
    scores = queries @ passages.T
    return [int((row > row[at]).sum()) + 1 for row, at in zip(scores, own, strict=True)]
