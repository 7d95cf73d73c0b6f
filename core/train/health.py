"""Whether vectors still tell texts apart: collapse shows in their mean cosine and in their effective rank."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.train.gate import Health

_MOST = 2_000  # vectors are looked at; more change the figures in the third digit


def health(vectors: npt.NDArray[np.float32], seed: int = 0) -> Health:
    """Figures of unit vectors [N, D], N at least 2.

    The effective rank is exp of the entropy of the covariance's normalised eigenvalues (Roy & Vetterli 2007): D when
    all directions are used alike, 1 when all vectors lie on one line.
    """
    if not np.isfinite(vectors).all():
        return Health(False, 1.0, 0.0)
    drawn = np.random.default_rng(seed).permutation(len(vectors))[:_MOST]
    sample = vectors[np.sort(drawn)].astype(np.float64)
    total, count = sample.sum(axis=0), len(sample)
    cosine = (total @ total - np.square(sample).sum()) / (count * (count - 1))
    values = np.linalg.eigvalsh(np.cov(sample.T)).clip(min=0)
    if values.sum() <= 0:
        return Health(True, float(cosine), 1.0)
    share = values / values.sum()
    share = share[share > 0]
    return Health(True, float(cosine), float(np.exp(-(share * np.log(share)).sum())))
