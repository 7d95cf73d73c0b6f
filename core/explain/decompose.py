"""The dense score taken apart: s = q·p with p = W z + b + r, so s = Σ z_i (q·W_i) + q·b + q·r.

The numbers are those of the score that was computed, never a weighting made up afterwards.
Source: Park, Kim, Ko (arXiv 2506.00041) section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.index.concept_model import ConceptModel

_MOST_FOR, _MOST_AGAINST = 6, 2
NOTABLE = 0.03  # of what the score holds beyond the common part
_LEAST = 0.003  # of a score: below, nothing is notable

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Part:
    """One latent's part: `contribution` = passage activation · (q·W_i), in units of the score."""

    latent: int
    contribution: float
    query_activation: float
    passage_activation: float


@dataclass(frozen=True, slots=True)
class Decomposition:
    """`listed` contributions, `common` and `residual` add up to `score`.

    `listed` are the named latents that matter, those for the match first, those against it last. `residual` is all
    that they leave: the reconstruction error, and latents too weak or too general to be named.
    """

    score: float
    common: float
    listed: tuple[Part, ...]
    residual: float
    explained_share: float


def decompose(
    model: ConceptModel, named: Mapping[int, object], query: Floats, passage: Floats, score: float
) -> Decomposition:
    """Take `score` = query·passage [D] apart; only latents in `named` are listed."""
    activations = model.encode(np.stack([query, passage]))
    common = float(query.astype(np.float64) @ model.bias.astype(np.float64))
    parts = [
        Part(int(i), float(activations[1, i] * (query.astype(np.float64) @ model.decoder[i].astype(np.float64))),
             float(activations[0, i]), float(activations[1, i]))
        for i in np.flatnonzero(activations[1]) if int(i) in named
    ]  # fmt: skip
    listed = _notable(parts, score - common)
    carried = sum(part.contribution for part in listed)
    return Decomposition(score, common, listed, score - common - carried, _share(carried, score - common))


def _notable(parts: list[Part], beyond: float) -> tuple[Part, ...]:
    least = max(NOTABLE * abs(beyond), _LEAST)
    ordered = sorted((p for p in parts if abs(p.contribution) >= least), key=lambda p: (-p.contribution, p.latent))
    supporting = [p for p in ordered if p.contribution > 0][:_MOST_FOR]
    opposing = [p for p in ordered if p.contribution < 0][-_MOST_AGAINST:]
    return (*supporting, *opposing)


def _share(carried: float, beyond: float) -> float:
    """Part of what is beyond the common score; 0 where there is nothing to explain."""
    return float(np.clip(carried / beyond, 0.0, 1.0)) if beyond > _LEAST else 0.0
