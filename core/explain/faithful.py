"""Whether reasons are the reasons: the score of a passage without its top concept, against without another one.

A concept's part of the score is exact by arithmetic. What is tried here is the counterfactual: the concept's direction
is taken out of the passage's vector, which is then made a unit vector again, as an index would hold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.types import ConceptShare
from core.index.concept_model import ConceptModel

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Trial:
    """Dense scores of one pair: as it is, without its top concept, and without another one."""

    score: float
    without_top: float
    without_other: float

    @property
    def faithful(self) -> bool:
        """Whether to lose the top concept costs something, and more than to lose the other."""
        return self.without_top < min(self.score, self.without_other)


def without(model: ConceptModel, passage: Floats, latent: int) -> Floats:
    """The unit vector [D] of a passage that has nothing of a latent."""
    activation = float(model.encode(passage[None])[0, latent])
    left = passage.astype(np.float64) - activation * model.decoder[latent].astype(np.float64)
    return np.asarray(left / max(float(np.linalg.norm(left)), 1e-12), np.float32)


def tried(
    model: ConceptModel, query: Floats, passage: Floats, shares: Sequence[ConceptShare], luck: np.random.Generator,
    among: Sequence[int] = (),
) -> Trial | None:  # fmt: skip
    """One trial for unit vectors [D] and the concepts of their explanation; the other concept is chosen at random
    `among` these, without any among those active in the passage, which is harder to beat.

    None where nothing speaks for the match, or there is no other concept.
    """
    active = np.flatnonzero(model.encode(passage[None])[0]).tolist()
    helping = [share for share in shares if share.contribution > 0 and share.id in active]
    if not helping:
        return None
    top = max(helping, key=lambda share: share.contribution).id
    others = [latent for latent in (among or active) if latent != top]
    if not others:
        return None
    other = int(luck.choice(others))
    scores = [float(query @ vector) for vector in (passage, *(without(model, passage, i) for i in (top, other)))]
    return Trial(*scores)
