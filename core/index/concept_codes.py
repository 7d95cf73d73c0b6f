"""The concepts of each passage in an index: postings of an autoencoder's latents, and what is read from them.

A segment has one row for each latent, with the passages that hold it and how much: the length of what the latent
contributes to the passage's vector (its activation times the length of its direction), so that the units do not depend
on the model. Beside what is active, the strongest others stand there too: they are no concepts of a passage, but they
help to rank (`MAX`). One more row (`LENGTHS`) has each passage's length over all latents, saturated as search does.

The channel is named after the model and the languages' means that were taken out of the vectors: whichever of them
changes, the codes are made anew beside the old ones, which stay as long as a generation names them. Weights are rounded
to 16 bits (3 decimal digits). Source: CL-SR of Park, Kim, Ko (arXiv 2506.00041) section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.base.types import CONCEPT, Generation
from core.index import rows
from core.index.concept_model import ConceptModel
from core.index.members import Ids, Members
from core.index.postings import LENGTHS, SCHEMES, Postings

_CHUNK = 1_024  # passages whose activations [N, M] are in memory at once
_FIRST, _AFTER = f"{CONCEPT}:", f"{CONCEPT};"  # all our channels lie between

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Kept:
    """How many latents stand for a passage, and for a query. With `weak` the strongest ones that are not active fill
    up the number, and no active one is left out; without, they are the strongest of those that are active."""

    passage: int
    query: int
    weak: bool


EFFICIENT, MAX = Kept(24, 65, weak=False), Kept(65, 128, weak=True)
KEPT: Mapping[str, Kept] = {"efficient": EFFICIENT, "max": MAX}  # as the config of a model names them


class Active(NamedTuple):
    """The active latents of N passages, one passage after the other: `bounds` [N + 1] are where each begins."""

    bounds: npt.NDArray[np.int64]
    latents: npt.NDArray[np.int64]  # [E], ascending within a passage
    activations: Floats  # [E]


class ConceptCodes:
    """What of the passages' concepts an index holds. Ids are passage ids; only living passages are told of.

    Methods that take ids raise NotFound for a passage that cannot be found here, all raise IndexDamaged when a row
    cannot be read. Not for two threads at a time.
    """

    def __init__(
        self, db: Database, channel: str, segments: Sequence[int], members: Members, model: ConceptModel
    ) -> None:
        self.model = model
        self._db, self._channel, self._segments, self._members = db, channel, segments, members
        self._directions_M = _directions(model)

    def postings(self, latent: int) -> tuple[Ids, Floats]:
        """The passages in which a latent is active, ids ascending, with its activations."""
        ids, activations, term = [np.empty(0, np.int64)], [np.empty(0, np.float32)], str(latent)
        for number, first, end in self._members.segments():
            found = rows.read_postings(self._db, self._segments[number], self._channel, [term]).get(term)
            if found is not None:
                kept = self._members.alive[first:end][found.ordinals] & self._active(found, latent)
                ids.append(self._members.ids[first + found.ordinals[kept].astype(np.int64)])
                activations.append(found.weights[kept] / self._directions_M[latent])
        all_ids = np.concatenate(ids)
        order = np.argsort(all_ids)
        return all_ids[order], np.concatenate(activations)[order]

    def of(self, ids: Ids | Sequence[int]) -> list[dict[int, float]]:
        """The active latents of each passage with their activations."""
        bounds, latents, activations = self.active(ids)
        pairs = list(zip(latents.tolist(), activations.tolist(), strict=True))
        return [dict(pairs[a:b]) for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]

    def active(self, ids: Ids | Sequence[int]) -> Active:
        """As `of`, in arrays."""
        whole = self._whole
        ordinals = self._members.ordinals(np.asarray(ids, np.int64))
        begins, lengths = whole.bounds[ordinals], np.diff(whole.bounds)[ordinals]
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.repeat(begins - bounds[:-1], lengths) + np.arange(bounds[-1])
        latents = whole.latents[entries].astype(np.int64)
        return Active(bounds, latents, whole.activations[entries] / self._directions_M[latents])

    def counts(self, ids: Ids | Sequence[int] | None = None) -> npt.NDArray[np.int64]:
        """In how many of these passages (None: all) each latent is active, int64 [M]."""
        found = self.active(self._members.in_order if ids is None else ids)
        return np.bincount(found.latents, minlength=self.model.latents)

    def _active(self, found: Postings, latent: int) -> npt.NDArray[np.bool_]:
        return found.weights >= np.float16(self.model.threshold * float(self._directions_M[latent]))

    @cached_property
    def _whole(self) -> Active:
        """All active entries by passage, deleted ones too: read once, 4 bytes each. Activations are as stored."""
        ordinals, latents, weights = [np.empty(0, "<u4")], [np.empty(0, "<u2")], [np.empty(0, "<f2")]
        for number, first, _ in self._members.segments():
            for term, found in rows.read_channel(self._db, self._segments[number], self._channel).items():
                if term != LENGTHS:
                    active = self._active(found, int(term))
                    ordinals.append(found.ordinals[active] + np.uint32(first))
                    latents.append(np.full(int(active.sum()), int(term), "<u2"))
                    weights.append(found.weights[active].astype("<f2"))
        places, named = np.concatenate(ordinals), np.concatenate(latents)
        order = np.lexsort((named, places))
        counts = np.bincount(places, minlength=len(self._members.ids))
        bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Active(bounds, named[order], np.concatenate(weights)[order])


def channel_of(concepts: str, means: str) -> str:
    """The channel of the codes by the model `concepts` of vectors from which `means` (a path, or none) were taken."""
    return f"{_FIRST}{concepts}@{means}" if means else f"{_FIRST}{concepts}"


def channel(made: Generation) -> str:
    """The channel of the codes of a generation; empty when it has no concepts."""
    return channel_of(made.concepts, made.means) if made.concepts else ""


def is_code(channel: str) -> bool:
    return channel.startswith(_FIRST)


def coded(db: Database, channel: str, segments: Sequence[int]) -> bool:
    """Whether every segment has its codes."""
    return bool(channel) and all(rows.has_channel(db, segment, channel) for segment in segments)


def stored_channels(db: Database, segment: int) -> list[str]:
    """The channels of codes that a segment has."""
    return rows.channels_between(db, segment, _FIRST, _AFTER)


def kept_by(model: ConceptModel) -> Kept:
    """How many latents stand for a text, as the model's config says (`codes`); the most where it does not."""
    return KEPT.get(str(model.config.get("codes", "")), MAX)


def strengths(model: ConceptModel, vectors: Floats, most: int, *, weak: bool) -> Floats:
    """Lengths of what the latents contribute to each vector [N, D], float32 [N, M]; 0 for those that are left out.

    At most `most` of those that are active; with `weak` all of these, and the strongest others up to that number.
    """
    pre_NM = model.preactivations(vectors)
    held_NM = pre_NM * _directions(model)
    active_NM = (pre_NM.astype(np.float64) > model.threshold) & (pre_NM > 0)
    allowed_NM = (pre_NM > 0) if weak else active_NM
    if most < model.latents:
        ranked_NM = np.where(allowed_NM, held_NM, 0)
        places_NK = np.argpartition(-ranked_NM, most - 1, axis=1)[:, :most]
        among_NM = np.zeros_like(active_NM)
        np.put_along_axis(among_NM, places_NK, True, axis=1)
        allowed_NM = (allowed_NM & among_NM) | active_NM if weak else allowed_NM & among_NM
    return np.where(allowed_NM, held_NM, np.float32(0))


def postings_of(model: ConceptModel, vectors: Floats) -> dict[str, Postings]:
    """The rows of one segment by term, for the vectors [N, D] of its passages, as the index holds them."""
    kept = kept_by(model)
    least_M = (model.threshold * _directions(model).astype(np.float64)).astype("<f2")
    below_M = np.nextafter(least_M, np.float16(0))
    ordinals, latents, weights = [], [], []
    for start in range(0, len(vectors), _CHUNK):
        chunk = vectors[start : start + _CHUNK]
        held_NM = strengths(model, chunk, kept.passage, weak=kept.weak)
        rows_E, latents_E = np.nonzero(held_NM)
        active_E = model.encode(chunk)[rows_E, latents_E] > 0
        rounded_E = held_NM[rows_E, latents_E].astype("<f2")
        # rounding must not make a weak one active
        rounded_E = np.where(active_E, rounded_E, np.minimum(rounded_E, below_M[latents_E]))
        some_E = rounded_E > 0
        ordinals.append(rows_E[some_E] + start)
        latents.append(latents_E[some_E])
        weights.append(rounded_E[some_E].astype("<f4"))
    return _rows(len(vectors), np.concatenate(ordinals), np.concatenate(latents), np.concatenate(weights))


def _rows(
    passages: int, ordinals_E: npt.NDArray[np.int64], latents_E: npt.NDArray[np.int64], weights_E: Floats
) -> dict[str, Postings]:
    """Entries in the order of passages as rows by latent, and the row of lengths."""
    order = np.argsort(latents_E, kind="stable")
    places_E, sorted_E = ordinals_E[order].astype("<u4"), weights_E[order]
    named, begins = np.unique(latents_E[order], return_index=True)
    ends = [*begins[1:].tolist(), len(order)]
    lengths = lengths_of(passages, ordinals_E, weights_E).astype("<f2").astype("<f4")
    found = {LENGTHS: Postings(np.arange(passages, dtype="<u4"), lengths)}
    for latent, begin, end in zip(named.tolist(), begins.tolist(), ends, strict=True):
        found[str(latent)] = Postings(places_E[begin:end], sorted_E[begin:end])
    return found


def lengths_of(
    passages: int, ordinals_E: npt.NDArray[np.int64], weights_E: npt.NDArray[np.floating]
) -> npt.NDArray[np.float64]:
    """The lengths [N] of passages given as entries of their saturated weights."""
    scheme = SCHEMES[CONCEPT]
    weights = weights_E.astype(np.float64)
    impacts_E = scheme.impacts(weights, np.full(len(weights), scheme.k1 or 0.0))
    return np.sqrt(np.bincount(ordinals_E, np.square(impacts_E), passages))


def _directions(model: ConceptModel) -> Floats:
    """The lengths [M] of the latents' directions, above 0."""
    return np.maximum(np.linalg.norm(model.decoder, axis=1), np.float32(1e-6))
