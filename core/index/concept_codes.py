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

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.base.types import CONCEPT, Generation
from core.base.types.records import MAX
from core.index import rows
from core.index.concept_coding import Kept, directions
from core.index.concept_model import ConceptModel
from core.index.members import Ids, Members
from core.index.postings import LENGTHS, Postings

_FIRST, _AFTER = f"{CONCEPT}:", f"{CONCEPT};"  # all our channels lie between

Floats = npt.NDArray[np.float32]


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
        self, db: Database, channel: str, segments: Sequence[int], members: Members, model: ConceptModel,
        kept: Kept,
    ) -> None:  # fmt: skip
        self.model, self.kept = model, kept
        self._db, self._channel, self._segments, self._members = db, channel, segments, members
        self._directions_M = directions(model)

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


def channel_of(concepts: str, means: str, codes: str) -> str:
    """The channel of the codes by the model `concepts` of vectors from which `means` (a path, or none) were taken.
    `codes` names how many latents are kept."""
    return _FIRST + concepts + (f"@{means}" if means else "") + (f" {codes}" if codes != MAX else "")


def channel(made: Generation) -> str:
    """The channel of the codes of a generation; empty when it has no concepts."""
    return channel_of(made.concepts, made.means, made.codes) if made.concepts else ""


def is_code(channel: str) -> bool:
    return channel.startswith(_FIRST)


def coded(db: Database, channel: str, segments: Sequence[int]) -> bool:
    """Whether every segment has its codes."""
    return bool(channel) and all(rows.has_channel(db, segment, channel) for segment in segments)


def stored_channels(db: Database, segment: int) -> list[str]:
    """The channels of codes that a segment has."""
    return rows.channels_between(db, segment, _FIRST, _AFTER)
