"""Steering: concepts that count more, less or not at all in a query, that must be there, or that more is wanted of.

The dense score is a sum over the passage's latents, s = Σ z_i (q·W_i) + q·b + q·r (`core.explain.decompose`). A factor
f for a concept changes the concept's own part and no other: it adds (f - 1) z_i (q·W_i), so that 0 mutes it, 1 changes
nothing and 2 counts it twice. What the query does not hold at all cannot be multiplied: such a concept counts as if the
query held it as much as the one it holds most. What the factors add is a part of the score of its own (`STEER`): all
other parts stay what they are, and their sum is the score as before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.base.errors import BadQuery
from core.index.concept_codes import ConceptCodes
from core.index.concept_model import ConceptModel
from core.index.dense import Floats
from core.index.snapshot import Ids, Scores, Snapshot
from core.store import concepts as marked
from core.text.analyze import QueryTerm

Families = Mapping[int, tuple[int, ...]]  # concept -> latents that count as it, itself among them


@dataclass(frozen=True, slots=True)
class Change:
    """What one concept's factor adds to the dense scores of `ids` (ascending): `values` beside them."""

    ids: Ids
    values: Scores

    def of(self, ids: Ids) -> Scores:
        """For any passages; 0 where the concept is not."""
        if len(self.ids) == 0:
            return np.zeros(len(ids))
        place = self.ids.searchsorted(ids)
        place[place == len(self.ids)] = 0
        return np.where(self.ids[place] == ids, self.values[place], 0.0)


@dataclass(frozen=True, slots=True)
class Steered:
    """What the factors of a query change, by concept, and in all (`total`)."""

    concepts: Mapping[int, Change]
    total: Change

    def of(self, ids: Ids) -> Scores:
        return self.total.of(ids)

    def by_concept(self, passage_id: int) -> dict[int, float]:
        """What each concept changes for a passage; they add up to `of` of it."""
        ids = np.array([passage_id])
        return {concept: float(change.of(ids)[0]) for concept, change in self.concepts.items()}


def codes_of(snapshot: Snapshot) -> ConceptCodes:
    """Raises BadQuery when the library has no concepts."""
    if snapshot.codes is None:
        raise BadQuery("This library has no concepts to steer by.", "Fit them: whymatch concepts --fit.")
    return snapshot.codes


def families(snapshot: Snapshot, wanted: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """The latents that count as each of these concepts: itself, and what the person merged into it.

    Raises BadQuery for what is no concept of this library.
    """
    latents = codes_of(snapshot).model.latents
    strange = [str(c) for c in wanted if not 0 <= c < latents]
    if strange:
        raise BadQuery(
            f"There is no concept {', '.join(strange)} here.", "Concepts may have been fitted anew: choose again."
        )
    into = {
        latent: mark.merged_into
        for latent, mark in marked.marks(snapshot.db, snapshot.generation.concepts).items()
        if mark.merged_into is not None
    }
    return {concept: (concept, *(latent for latent in into if _leads(into, latent, concept))) for concept in wanted}


def _leads(into: Mapping[int, int], latent: int, concept: int) -> bool:
    """Whether merges lead from `latent` to another one, `concept`."""
    for _ in range(len(into)):
        if latent not in into:
            return False
        latent = into[latent]
        if latent == concept:
            return True
    return False


def required(codes: ConceptCodes, groups: Families, wanted: Sequence[int]) -> Ids:
    """The passages, ascending, in which every one of the concepts is active."""
    found: Ids | None = None
    for concept in wanted:
        holding = np.unique(np.concatenate([codes.postings(latent)[0] for latent in groups[concept]]))
        found = holding if found is None else np.intersect1d(found, holding, assume_unique=True)
    return np.empty(0, np.int64) if found is None else found


def of_query(snapshot: Snapshot, factors: Mapping[int, float], vector: Floats) -> Steered:
    """`steered` by the snapshot's concepts. Raises BadQuery for what is none of them."""
    return steered(codes_of(snapshot), families(snapshot, list(factors)), factors, vector)


def reweighed(
    snapshot: Snapshot, factors: Mapping[int, float], vector: Floats, terms: tuple[QueryTerm, ...]
) -> tuple[QueryTerm, ...]:  # fmt: skip
    """The terms that the channel `concept` makes of the query `vector` [D], their weights times the factors (0 at
    least); a boosted concept that the query does not hold counts like its weightiest. Raises BadQuery."""
    if not terms:
        return ()
    groups = families(snapshot, list(factors))
    by_latent = {str(latent): factors[concept] for latent, concept in _each_once(groups).items()}
    held_M = codes_of(snapshot).model.encode(vector[None, :])[0] > 0
    weights, most = {t.text: t.weight for t in terms}, max(t.weight for t in terms)
    for latent, factor in by_latent.items():
        weight = weights.get(latent, 0.0)
        added = most if factor > 1.0 and not held_M[int(latent)] else weight
        weights[latent] = weight + (max(factor, 0.0) - 1.0) * added
    return tuple(QueryTerm(latent, (latent,), weight) for latent, weight in weights.items() if weight > 0)


def steered(codes: ConceptCodes, groups: Families, factors: Mapping[int, float], vector: Floats) -> Steered:
    """What `factors` (concept -> factor) add to the dense scores of the query `vector` [D], over all passages."""
    pulls_M, held_M = _pulls(codes.model, vector)
    counted, changes = _each_once(groups), {}
    for concept, factor in factors.items():
        parts = []
        for latent in (one for one in groups[concept] if counted[one] == concept):
            ids, activations = codes.postings(latent)
            lift = _lift(codes.model, latent, factor, pulls_M, held_M)
            parts.append(Change(ids, lift * activations.astype(np.float64)))
        changes[concept] = _together(parts)
    return Steered(changes, _together(list(changes.values())))


def _each_once(groups: Families) -> dict[int, int]:
    """The concept as which each latent counts. Where one and another that was merged into it are both named, the
    merged one counts for itself: twice would take away more than there is."""
    larger_first = sorted(groups, key=lambda concept: -len(groups[concept]))
    return {latent: concept for concept in larger_first for latent in groups[concept]}


def _pulls(model: ConceptModel, vector: Floats) -> tuple[Scores, npt.NDArray[np.bool_]]:
    """q·W_i of every latent, and which of them the query holds."""
    pulls_M = model.decoder.astype(np.float64) @ vector.astype(np.float64)
    return pulls_M, model.encode(vector[None, :])[0] > 0


def _lift(model: ConceptModel, latent: int, factor: float, pulls_M: Scores, held_M: npt.NDArray[np.bool_]) -> float:
    """What a unit of the latent's activation in a passage adds to its score.

    Between 0 and 1 only what the concept adds by itself is taken away; above, and below 0 where it counts against a
    passage, a concept that the query does not hold counts like the one it holds most.
    """
    own = max(float(pulls_M[latent]), 0.0)
    if held_M[latent]:
        return (factor - 1.0) * own
    strongest = _strongest(model, pulls_M, held_M) * float(np.linalg.norm(model.decoder[latent]))
    if factor >= 1.0:
        return (factor - 1.0) * max(own, strongest)
    return (max(factor, 0.0) - 1.0) * own + min(factor, 0.0) * max(own, strongest)


def _strongest(model: ConceptModel, pulls_M: Scores, held_M: npt.NDArray[np.bool_]) -> float:
    """The largest cosine of the query with a latent that it holds (with any, when it holds none)."""
    cosines_M = pulls_M / np.maximum(np.linalg.norm(model.decoder.astype(np.float64), axis=1), 1e-12)
    among = cosines_M[held_M] if held_M.any() else cosines_M
    return max(float(among.max(initial=0.0)), 0.0)


def _together(parts: Sequence[Change]) -> Change:
    if len(parts) == 1:
        return parts[0]
    every = np.concatenate([np.empty(0, np.int64), *(part.ids for part in parts)])
    ids, place = np.unique(every, return_inverse=True)
    values = np.concatenate([np.empty(0), *(part.values for part in parts)])
    sums = np.bincount(place, values, len(ids)).astype(np.float64, copy=False)  # whole numbers when there are none
    return Change(ids, sums)


def rebuilt(snapshot: Snapshot, passage_id: int, because: Sequence[int]) -> Floats:
    """The unit vector [D] to search with for more like a passage: what its concepts in `because` make of it.

    The passage's own vector when there are none. What all passages share (the bias) is left out of a rebuilt one.

    Raises:
        NotFound: the passage is not in the index. BadQuery: it holds none of these concepts.
    """
    if not because:
        return snapshot.vector(passage_id)
    codes, groups = codes_of(snapshot), families(snapshot, because)
    held = codes.of(np.array([passage_id]))[0]
    latents = list(dict.fromkeys(i for group in groups.values() for i in group if i in held))
    if not latents:
        raise BadQuery("The passage holds none of these concepts.", "Choose among those that it holds.")
    strength = np.array([held[i] for i in latents], np.float64)
    vector = strength @ codes.model.decoder[latents].astype(np.float64)
    return (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32)
