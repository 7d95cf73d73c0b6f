"""Which latents of a new autoencoder mean what latents of the one before it meant.

Two trainings on much the same vectors find much the same directions, in another order. The one-to-one matching with
the largest summed similarity (Kuhn 1955, the Hungarian method) pairs them; a pair below a least similarity is none.
Within one vector space decoder rows are compared; across encoders, in which passages two latents are active.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.index.concept_model import ConceptModel

# Of decoder rows; random directions of 384 dimensions have 0.0 ± 0.05. When a library grew by a quarter, pairs from
# 0.5 on were active in much the same passages (mean cosine of the activations 0.7).
LEAST_COSINE = 0.5
LEAST_AGREEMENT = 0.5  # cosine of the activations over the same passages

Floats = NDArray[np.float32]


def carry(
    old: ConceptModel, new: ConceptModel, *, alive: NDArray[np.bool_] | None = None, least: float = LEAST_COSINE
) -> dict[int, int]:
    """Old latent to new latent, for models of one vector space; only new latents that are `alive` [M] are taken.

    Raises:
        ValueError: the models have different dimensions.
    """
    if old.decoder.shape[1] != new.decoder.shape[1]:
        raise ValueError(f"decoders of dimension {old.decoder.shape[1]} and {new.decoder.shape[1]}")
    similar_OM = _unit(old.decoder) @ _unit(new.decoder).T
    if alive is not None:
        similar_OM[:, ~alive] = 0
    return matched(similar_OM, least)


def carry_by_use(old_NO: Floats, new_NM: Floats, least: float = LEAST_AGREEMENT) -> dict[int, int]:
    """Old latent to new latent by their activations on the same N passages, whatever the vector spaces."""
    return matched(_unit(old_NO.T) @ _unit(new_NM.T).T, least)


def matched(similar_OM: Floats, least: float) -> dict[int, int]:
    """The one-to-one pairs with the largest summed similarity among those of at least `least`."""
    from scipy.optimize import linear_sum_assignment

    worth_OM = np.where(similar_OM >= least, similar_OM, 0)  # no good pair is given up for two poor ones
    pairs = zip(*linear_sum_assignment(worth_OM, maximize=True), strict=True)
    return {int(o): int(m) for o, m in pairs if worth_OM[o, m] > 0}


def match_share(one: ConceptModel, other: ConceptModel, vectors: Floats, least: float = LEAST_COSINE) -> float:
    """Share of the latents of `one` that fire on `vectors` and have a partner in `other` that fires, too."""
    fires, answers = (np.any(model.encode(vectors) > 0, axis=0) for model in (one, other))
    pairs = carry(one, other, alive=answers, least=least)
    return float(np.isin(np.flatnonzero(fires), list(pairs)).mean()) if fires.any() else 0.0


def _unit(rows: Floats) -> Floats:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
