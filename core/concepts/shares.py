"""How often concepts are active in a set of passages, beside how often they are elsewhere. Pure functions of counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.types import Concept, ConceptWeight, Difference
from core.index.concept_codes import Active

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Shown:
    """The concepts that are shown, and as which of them each latent [M] counts (-1: as none)."""

    concepts: Mapping[int, Concept]
    as_M: Counts

    @classmethod
    def of(cls, concepts: Sequence[Concept], latents: int) -> Shown:
        """Those merged into another count as that one."""
        as_M = np.full(latents, -1, np.int64)
        for concept in concepts:
            as_M[[i for i in (concept.id, *concept.merged) if 0 <= i < latents]] = concept.id
        return cls({c.id: c for c in concepts}, as_M)

    def label(self, concept: int) -> str:
        return self.concepts[concept].label

    def counts(self, active: Active) -> Counts:
        """In how many of these passages each concept is, int64 [M]; one with several of its latents counts once."""
        concepts_E = self.as_M[active.latents]
        counts_M = np.bincount(concepts_E[concepts_E >= 0], minlength=len(self.as_M)).astype(np.int64)
        several = [concept.id for concept in self.concepts.values() if concept.merged]
        places = np.flatnonzero(np.isin(concepts_E, several)) if several else np.empty(0, np.int64)
        passages = np.searchsorted(active.bounds, places, "right") - 1
        once = np.unique(passages * len(self.as_M) + concepts_E[places]) % len(self.as_M)
        counts_M[several] = np.bincount(once, minlength=len(self.as_M))[several]
        return counts_M


def apart(shown: Shown, here: Counts, texts: int, everywhere: Counts, passages: int) -> list[ConceptWeight]:
    """The concepts of `texts` passages that set them apart from all `passages`, the most telling first.

    `weight` is the share of the texts, `lift` how many times that of the library. The order is by how surprising the
    count would be for texts drawn by chance: n log(lift), the largest term of the log-likelihood ratio (Dunning 1993).
    """
    found = []
    for concept in np.flatnonzero(here).tolist():
        n, share = int(here[concept]), here[concept] / texts
        lift = share / (everywhere[concept] / passages)
        found.append((n * math.log(lift), ConceptWeight(concept, shown.label(concept), float(share), n, float(lift))))
    found.sort(key=lambda one: (-one[0], one[1].id))
    return [weight for _, weight in found]


def differences(
    shown: Shown, first: Counts, first_texts: int, second: Counts, second_texts: int
) -> list[Difference]:  # fmt: skip
    """The concepts of two sets of passages, those whose shares differ most beyond chance first.

    z is that of two proportions with the pooled share (0 where a set is empty).
    """
    found = []
    for concept in np.flatnonzero(first + second).tolist():
        shares = first[concept] / max(first_texts, 1), second[concept] / max(second_texts, 1)
        z = _z(int(first[concept]), first_texts, int(second[concept]), second_texts)
        found.append(Difference(concept, shown.label(concept), float(shares[0]), float(shares[1]), z))
    return sorted(found, key=lambda one: (-abs(one.z), one.id))


def _z(first: int, first_texts: int, second: int, second_texts: int) -> float:
    if not first_texts or not second_texts:
        return 0.0
    pooled = (first + second) / (first_texts + second_texts)
    spread = math.sqrt(pooled * (1.0 - pooled) * (1.0 / first_texts + 1.0 / second_texts))
    return (first / first_texts - second / second_texts) / spread if spread > 0 else 0.0
