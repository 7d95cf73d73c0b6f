"""What an encoder finds of held-out questions: by its vectors alone, and in the search that it would serve in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.base.events import Control
from core.base.types import DENSE, FUSED
from core.encode.encoder import Encoder
from core.evaluate import metrics
from core.evaluate.datasets import Dataset
from core.evaluate.kept_vectors import KeptVectors
from core.evaluate.run import evaluate_encoder
from core.train.gate import Measured, Values
from core.train.pool import Pool

Vectors = npt.NDArray[np.float32]
_NDCG, _RECALL = "ndcg@10", "recall@100"
_DEPTH = 100


def served(
    pool: Pool, probe: Dataset, encoder: Encoder, kept: KeptVectors, control: Control | None = None, *,
    folder: Path | None = None,
) -> Measured:  # fmt: skip
    """In a library of the pool, with the product's own search. `kept` remembers vectors by the encoder's id; the
    library is made in `folder` (see `core.evaluate.throwaway.room`).

    Raises:
        Cancelled, DiskFull
    """
    found = evaluate_encoder(
        pool.dataset, encoder, (DENSE, FUSED), measures=(_NDCG, _RECALL), control=control, kept=kept, clock=False,
        folder=folder,
    )  # fmt: skip
    general = evaluate_encoder(
        probe, encoder, (DENSE,), measures=(_NDCG,), control=control, kept=kept, clock=False, folder=folder
    )
    dense, fused = (found.values[channel] for channel in (DENSE, FUSED))
    return Measured(
        np.array(dense[_NDCG]), np.array(dense[_RECALL]), np.array(fused[_NDCG]), np.array(general.values[DENSE][_NDCG])
    )


def dense_ndcg(pool: Pool, encode: Callable[[Sequence[str], str], Vectors]) -> Values:
    """nDCG@10 [Q] of vectors alone: `encode` takes texts and their kind ("passage" or "query")."""
    passages = encode(pool.passages, "passage")
    queries = encode([question.text for question in pool.questions], "query")
    names = [document.id for document in pool.dataset.corpus]
    values = []
    for number, query in enumerate(queries):
        scores = passages @ query
        best = np.argsort(-scores, kind="stable")[:_DEPTH]
        values.append(metrics.ndcg([names[i] for i in best[:10]], pool.dataset.qrels[str(number)]))
    return np.array(values)
