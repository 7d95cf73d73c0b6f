"""The size and the settings of an autoencoder for a library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class SaeConfig:
    """Settings of one training run.

    `norm` is the fixed length of the decoder's rows: well below 1, because a small start makes latents that
    people can name at equal reconstruction error. `dead_after` counts steps without a kept activation, `decay` is
    of the running threshold.
    """

    latents: int
    k: int
    steps: int
    batch: int = 256
    rate: float = 1e-2
    norm: float = 0.35
    aux_weight: float = 1 / 32
    dead_after: int = 20
    decay: float = 0.97
    clip: float = 1.0
    seed: int = 0


def plan(passages: int, vectors: int, dimension: int) -> SaeConfig:
    """Settings for a library of `passages`, trained on `vectors` (its passages, sentences, titles).

    About 60 activations a latent, half of what `latents <= vectors · k / 30` allows: with fewer latents each is
    about more passages, and easier to name.
    """
    k = 8 if passages < 1_000 else 16 if passages < 10_000 else 32
    latents = int(np.clip(vectors * k // 60, 2 * k, min(8 * dimension, 2_048 if k < 32 else 4_096)))
    return SaeConfig(latents=latents, k=k, steps=int(np.clip(vectors // 12, 120, 350)), batch=min(256, vectors))
