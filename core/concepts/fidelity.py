"""How much of the vectors, and of the rankings made with them, a sparse autoencoder keeps.

Passages are rebuilt as explanations rebuild them (`x̂ = W z + b`), queries are left as they are: what is measured
is the ground on which shares of a score stand. Source: Park, Kim, Ko (arXiv 2506.00041) section 4.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.concepts.material import Material, even
from core.index.concept_model import ConceptModel

_RANKED_PASSAGES = 5_000  # of a larger library, as many as these are ranked
_CHUNK = 2_048
_DEPTH = 100  # of the dense ranking whose order is compared

Floats = NDArray[np.float32]


def measure(model: ConceptModel, vectors: Floats, material: Material) -> dict[str, float]:
    """Figures of a fitted model on the passages' `vectors` [N, D].

    `nmse` is the squared error over that of the mean vector, on the passages trained on; `nmse_held_out` on those
    not trained on, `nmse_outside` on texts that are of no library. `live` and `dead` are the shares of latents that
    fire in some passage and in none. `l0` is the mean number that fires: in passages, in those not trained on
    (`l0_held_out`), in questions (`l0_questions`), in texts of no library (`l0_outside`). `ndcg_kept`, `mrr_kept` and
    `recall_kept` compare finding a sentence's own passage with rebuilt and with true vectors, `spearman` the order of
    each query's nearest passages. What there are no texts for is left out.
    """
    mean = vectors[material.train_rows].mean(0)
    sample = even(len(vectors), _RANKED_PASSAGES)
    active = model.encode(vectors[sample])
    dead = float((active.max(0) <= 0).mean())
    figures = {
        "nmse": nmse(model, vectors[material.train_rows], mean),
        "nmse_held_out": nmse(model, vectors[material.held_rows], mean),
        "live": 1 - dead,
        "dead": dead,
        "l0": float((active > 0).sum(1).mean()),
    }
    if len(material.outside):
        figures["nmse_outside"] = nmse(model, material.outside, mean)
    others = {"held_out": vectors[material.held_rows], "questions": material.queries, "outside": material.outside}
    figures.update({f"l0_{name}": fired(model, texts) for name, texts in others.items() if len(texts)})
    ranked = np.union1d(sample, material.sources)
    rebuilt = model.decode(model.encode(vectors[ranked]))
    sources = np.searchsorted(ranked, material.sources)
    figures.update(rankings(material.queries, vectors[ranked], rebuilt, sources))
    return {name: round(value, 4) for name, value in figures.items()}


def fired(model: ConceptModel, vectors: Floats) -> float:
    """The mean number of latents that fire: the realised L0."""
    return float(sum(int((model.encode(some) > 0).sum()) for some in _chunks(vectors)) / len(vectors))


def nmse(model: ConceptModel, vectors: Floats, mean: Floats) -> float:
    """Squared error over the squared error of `mean`; 0 is perfect. NaN-free: no vectors give 0."""
    error = sum(float(np.square(some - model.decode(model.encode(some))).sum()) for some in _chunks(vectors))
    return error / max(float(np.square(vectors - mean).sum()), 1e-12)


def _chunks(vectors: Floats) -> Iterator[Floats]:
    """Activations of all passages of a large library at once would fill a gigabyte."""
    return (vectors[start : start + _CHUNK] for start in range(0, len(vectors), _CHUNK))


def rankings(queries: Floats, vectors: Floats, rebuilt: Floats, sources: NDArray[np.int64]) -> dict[str, float]:
    """`ndcg_kept`, `mrr_kept` (both at 10), `recall_kept` (at 100, at a tenth of a small library) and `spearman`."""
    if not len(queries):
        return {}
    dense, again = queries @ vectors.T, queries @ rebuilt.T
    depth = min(_DEPTH, max(1, len(vectors) // 10))
    true_ranks, new_ranks = _ranks(dense, sources), _ranks(again, sources)
    return {
        "ndcg_kept": _kept(_ndcg(new_ranks), _ndcg(true_ranks)),
        "mrr_kept": _kept(_mrr(new_ranks), _mrr(true_ranks)),
        "recall_kept": _kept(float((new_ranks <= depth).mean()), float((true_ranks <= depth).mean())),
        "spearman": order_kept(dense, again),
    }


def order_kept(dense: Floats, again: Floats) -> float:
    """Spearman's correlation of two score matrices [Q, N] over the nearest passages by the first, mean of the rows."""
    near = np.argsort(-dense, axis=1, kind="stable")[:, : min(_DEPTH, dense.shape[1])]
    return spearman(np.take_along_axis(dense, near, 1), np.take_along_axis(again, near, 1))


def _ranks(scores: Floats, sources: NDArray[np.int64]) -> NDArray[np.int64]:
    own = scores[np.arange(len(scores)), sources]
    return 1 + (scores > own[:, None]).sum(1)


def _mrr(ranks: NDArray[np.int64]) -> float:
    return float(np.where(ranks <= 10, 1 / ranks, 0).mean())


def _ndcg(ranks: NDArray[np.int64]) -> float:
    """With one relevant passage a query."""
    return float(np.where(ranks <= 10, 1 / np.log2(1 + ranks), 0).mean())


def _kept(after: float, before: float) -> float:
    return after / before if before else 0.0


def spearman(first: Floats, second: Floats) -> float:
    """Mean over the rows of the rank correlation of two score matrices [Q, K]."""
    a, b = (np.argsort(np.argsort(x, axis=1, kind="stable"), axis=1).astype(float) for x in (first, second))
    a -= a.mean(1, keepdims=True)
    b -= b.mean(1, keepdims=True)
    scale = np.sqrt(np.square(a).sum(1) * np.square(b).sum(1))
    return float((np.where(scale > 0, (a * b).sum(1), 0) / np.maximum(scale, 1e-12)).mean())
