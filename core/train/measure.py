"""What an encoder finds of held-out questions: by its vectors alone, and in the search that it would serve in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.base.events import Control
from core.base.types import DENSE, FUSED
from core.encode.encoder import Encoder, input_text
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
    return ndcg_of(pool.dataset, encode)


def ndcg_of(dataset: Dataset, encode: Callable[[Sequence[str], str], Vectors]) -> Values:
    """nDCG@10 [Q] on the dataset's queries, in their order; see `dense_ndcg`."""
    passages = encode([input_text((), document.text, document.title) for document in dataset.corpus], "passage")
    queries = encode(list(dataset.queries.values()), "query")
    names = [document.id for document in dataset.corpus]
    values = []
    for name, query in zip(dataset.queries, queries, strict=True):
        best = np.argsort(-(passages @ query), kind="stable")[:_DEPTH]
        values.append(metrics.ndcg([names[i] for i in best[:10]], dataset.qrels[name]))
    return np.array(values)
