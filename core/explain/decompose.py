"""The dense score taken apart: s = q·p with p = W z + b + r, so s = Σ z_i (q·W_i) + q·b + q·r.

The numbers are those of the score that was computed, never a weighting made up afterwards. With q = Σ z_j W_j + b + r'
a concept's part is split further, into pairs z_i z_j (W_i·W_j) and a rest, z_i (b + r')·W_i and what is small.
Source: Park, Kim, Ko (arXiv 2506.00041) section 3.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from core.index.concept_model import ConceptModel

_MOST_FOR, _MOST_AGAINST = 6, 2
NOTABLE = 0.03  # of what the score holds beyond the common part
_LEAST = 0.003  # of a score: below, nothing is notable
_MOST_PAIRS, _NOTABLE_PAIR = 4, 0.1  # of a concept's contribution
NOTHING: Mapping[int, int] = MappingProxyType({})

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Part:
    """One concept's part: `contribution` = passage activation · (q·W_i), in units of the score.

    Where the person merged latents into the concept, `latents` are those that are active in the passage, the largest
    contribution first, and the numbers are their sums. `pairs` are the query's concepts j with z_i z_j (W_i·W_j), the
    largest first; they and `rest` add up to `contribution`.
    """

    latent: int
    contribution: float
    query_activation: float
    passage_activation: float
    latents: tuple[int, ...] = ()
    pairs: tuple[tuple[int, float], ...] = ()
    rest: float = 0.0


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
    model: ConceptModel, named: Container[int], query: Floats, passage: Floats, score: float,
    merged: Mapping[int, int] = NOTHING,
) -> Decomposition:  # fmt: skip
    """Take `score` = query·passage [D] apart; only latents in `named` are listed.

    `merged` says of a latent as which other one it counts.
    """
    asked_M, held_M = model.encode(np.stack([query, passage]))
    common = float(query.astype(np.float64) @ model.bias.astype(np.float64))
    groups: dict[int, list[int]] = {}
    for latent in np.flatnonzero(held_M).tolist():
        if latent in named:
            groups.setdefault(merged.get(latent, latent), []).append(latent)
    parts = [_part(model, query, asked_M, held_M, concept, latents) for concept, latents in groups.items()]
    listed = tuple(_paired(model, named, asked_M, held_M, part, merged) for part in _notable(parts, score - common))
    carried = sum(part.contribution for part in listed)
    return Decomposition(score, common, listed, score - common - carried, _share(carried, score - common))


def _part(
    model: ConceptModel, query: Floats, asked_M: Floats, held_M: Floats, concept: int, latents: list[int]
) -> Part:
    adds = model.decoder[latents].astype(np.float64) @ query.astype(np.float64) * held_M[latents]
    order = np.argsort(-adds, kind="stable")
    asked, held = float(asked_M[latents].sum()), float(held_M[latents].sum())
    return Part(concept, float(adds.sum()), asked, held, tuple(latents[i] for i in order))


def _paired(
    model: ConceptModel, named: Container[int], asked_M: Floats, held_M: Floats, part: Part, merged: Mapping[int, int]
) -> Part:
    """With the query's concepts that the part comes of; those that add little stay in its rest."""
    asked = [latent for latent in np.flatnonzero(asked_M).tolist() if latent in named]
    latents = list(part.latents)
    cosines_LQ = model.decoder[latents].astype(np.float64) @ model.decoder[asked].astype(np.float64).T
    adds_Q = held_M[latents] @ cosines_LQ * asked_M[asked]
    found: dict[int, float] = {}
    for latent, adds in zip(asked, adds_Q.tolist(), strict=True):
        concept = merged.get(latent, latent)
        found[concept] = found.get(concept, 0.0) + adds
    ordered = sorted(found.items(), key=lambda pair: (-abs(pair[1]), pair[0]))
    pairs = tuple(pair for pair in ordered[:_MOST_PAIRS] if abs(pair[1]) >= _NOTABLE_PAIR * abs(part.contribution))
    return replace(part, pairs=pairs, rest=part.contribution - sum(adds for _, adds in pairs))


def _notable(parts: list[Part], beyond: float) -> tuple[Part, ...]:
    least = max(NOTABLE * abs(beyond), _LEAST)
    ordered = sorted((p for p in parts if abs(p.contribution) >= least), key=lambda p: (-p.contribution, p.latent))
    supporting = [p for p in ordered if p.contribution > 0][:_MOST_FOR]
    opposing = [p for p in ordered if p.contribution < 0][-_MOST_AGAINST:]
    return (*supporting, *opposing)


def _share(carried: float, beyond: float) -> float:
    """Part of what is beyond the common score; 0 where there is nothing to explain."""
    return float(np.clip(carried / beyond, 0.0, 1.0)) if beyond > _LEAST else 0.0
