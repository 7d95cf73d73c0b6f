"""Making the concept codes of a segment's passages, and telling whether those that are there are right.

Source: CL-SR of Park, Kim, Ko (arXiv 2506.00041) section 4, with the strongest latents that are not active beside those
that are: with them a small library's few latents a passage rank like many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.base.types import CONCEPT
from core.base.types.records import EFFICIENT, MAX
from core.index.concept_model import ConceptModel
from core.index.dense import DenseFile, Floats
from core.index.postings import LENGTHS, SCHEMES, Postings

_CHUNK = 1_024  # passages whose activations [N, M] are in memory at once
_LOOKED_AT = 16  # passages of a segment whose codes the doctor makes again
_ROUNDED = 2e-3  # lengths agree within this: they are rounded to 16 bits
_ALIKE = 0.05  # codes agree within this: on another machine the weakest latents may be others


@dataclass(frozen=True, slots=True)
class Kept:
    """How many latents stand for a passage, and for a query. With `weak` the strongest ones that are not active fill
    up the number, and no active one is left out; without, they are the strongest of those that are active."""

    passage: int
    query: int
    weak: bool


KEPT: Mapping[str, Kept] = {EFFICIENT: Kept(24, 65, weak=False), MAX: Kept(65, 128, weak=True)}


def strengths(model: ConceptModel, vectors: Floats, most: int, *, weak: bool) -> Floats:
    """Lengths of what the latents contribute to each vector [N, D], float32 [N, M]; 0 for those that are left out.

    At most `most` of those that are active; with `weak` all of these, and the strongest others up to that number.
    """
    pre_NM = model.preactivations(vectors)
    held_NM = pre_NM * directions(model)
    active_NM = (pre_NM.astype(np.float64) > model.threshold) & (pre_NM > 0)
    allowed_NM = (pre_NM > 0) if weak else active_NM
    if most < model.latents:
        ranked_NM = np.where(allowed_NM, held_NM, 0)
        places_NK = np.argpartition(-ranked_NM, most - 1, axis=1)[:, :most]
        among_NM = np.zeros_like(active_NM)
        np.put_along_axis(among_NM, places_NK, True, axis=1)
        allowed_NM = (allowed_NM & among_NM) | active_NM if weak else allowed_NM & among_NM
    return np.where(allowed_NM, held_NM, np.float32(0))


def postings_of(model: ConceptModel, vectors: Floats, kept: Kept) -> dict[str, Postings]:
    """The rows of one segment by term, for the vectors [N, D] of its passages, as the index holds them."""
    least_M = (model.threshold * directions(model).astype(np.float64)).astype("<f2")
    below_M = np.nextafter(least_M, np.float16(0))
    ordinals, latents, weights, lengths = [], [], [], []
    for start in range(0, len(vectors), _CHUNK):
        chunk = vectors[start : start + _CHUNK]
        held_NM = strengths(model, chunk, kept.passage, weak=kept.weak)
        rows_E, latents_E = np.nonzero(held_NM)
        active_E = model.encode(chunk)[rows_E, latents_E] > 0
        rounded_E = held_NM[rows_E, latents_E].astype("<f2")
        # rounding must not make a weak one active, nor an active one weak
        rounded_E = np.where(
            active_E, np.maximum(rounded_E, least_M[latents_E]), np.minimum(rounded_E, below_M[latents_E])
        )
        some_E = rounded_E > 0
        lengths.append(lengths_of(len(chunk), rows_E[some_E], rounded_E[some_E]))
        ordinals.append((rows_E[some_E] + start).astype("<u4"))  # small numbers: there are 65 a passage
        latents.append(latents_E[some_E].astype("<u2"))
        weights.append(rounded_E[some_E])
    return _rows(*(np.concatenate(parts) for parts in (ordinals, latents, weights, lengths)))


def _rows(
    ordinals_E: npt.NDArray[np.uint32], latents_E: npt.NDArray[np.uint16], weights_E: npt.NDArray[np.float16],
    lengths_N: npt.NDArray[np.float64],
) -> dict[str, Postings]:  # fmt: skip
    """Entries in the order of passages as rows by latent, and the row of lengths."""
    order = np.argsort(latents_E, kind="stable")
    places_E, sorted_E = ordinals_E[order], weights_E[order].astype("<f4")
    counts_M = np.bincount(latents_E)
    ends_M = np.cumsum(counts_M)
    lengths = lengths_N.astype("<f2").astype("<f4")
    found = {LENGTHS: Postings(np.arange(len(lengths), dtype="<u4"), lengths)}
    for latent in np.flatnonzero(counts_M).tolist():
        own = slice(ends_M[latent] - counts_M[latent], ends_M[latent])
        found[str(latent)] = Postings(places_E[own], sorted_E[own])
    return found


def lengths_of(
    passages: int, ordinals_E: npt.NDArray[np.int64], weights_E: npt.NDArray[np.floating]
) -> npt.NDArray[np.float64]:
    """The lengths [N] of passages given as entries of their saturated weights."""
    scheme = SCHEMES[CONCEPT]
    weights = weights_E.astype(np.float64)
    impacts_E = scheme.impacts(weights, np.full(len(weights), scheme.k1 or 0.0))
    return np.sqrt(np.bincount(ordinals_E, np.square(impacts_E), passages))


def whole(found: Mapping[str, Postings], passages: int) -> bool:
    """Whether the rows of a segment are all there: the passages' lengths are those of what the rows hold."""
    entries = [p for term, p in found.items() if term != LENGTHS]
    ordinals_E = np.concatenate([np.empty(0, np.int64), *(p.ordinals for p in entries)]).astype(np.int64)
    weights_E = np.concatenate([np.empty(0, np.float32), *(p.weights for p in entries)])
    told = found.get(LENGTHS)
    if told is None or len(told.ordinals) != passages or (ordinals_E >= passages).any():
        return False
    lengths = lengths_of(passages, ordinals_E, weights_E)
    return bool(np.allclose(told.weights, lengths, rtol=_ROUNDED, atol=_ROUNDED))


def made_by(model: ConceptModel, found: Mapping[str, Postings], vectors: DenseFile, kept: Kept, passages: int) -> bool:
    """Whether the rows are what `model` makes of some of the segment's vectors, spread over it."""
    places = np.unique(np.linspace(0, passages - 1, min(_LOOKED_AT, passages)).astype(np.int64))
    held_NM = _dense(found, places, model.latents)
    expected_NM = _dense(postings_of(model, vectors.rows(places), kept), np.arange(len(places)), model.latents)
    return bool(np.linalg.norm(held_NM - expected_NM) <= _ALIKE * np.linalg.norm(expected_NM))


def _dense(found: Mapping[str, Postings], places: npt.NDArray[np.int64], latents: int) -> Floats:
    """The weights [len(places), latents] of these passages."""
    weights_NM = np.zeros((len(places), latents), np.float32)
    for term, held in found.items():
        if term != LENGTHS and int(term) < latents:
            at = np.isin(places, held.ordinals)
            weights_NM[at, int(term)] = held.weights[np.searchsorted(held.ordinals, places[at])]
    return weights_NM


def directions(model: ConceptModel) -> Floats:
    """The lengths [M] of the latents' directions, above 0."""
    return np.maximum(np.linalg.norm(model.decoder, axis=1), np.float32(1e-6))
