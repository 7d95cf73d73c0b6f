"""The concepts that are active in each passage: postings of an autoencoder's latents, and what is read from them.

A segment has one row for each latent that is active in it, with the passages and their activations, and one row under
`LENGTHS` that lists every passage with the number of its active latents: it tells that the segment was coded even
where nothing is active, and the doctor counts by it. The channel is named after the model and the languages' means
that were taken out of the vectors: whichever of them changes, the codes are made anew beside the old ones, which stay
as long as a generation names them. Activations are rounded to 16 bits (3 decimal digits).

Source: CL-SR of Park, Kim, Ko (arXiv 2506.00041) section 4, latents as the terms of an inverted index.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.base.types import CONCEPT, Generation
from core.index import rows
from core.index.concept_model import ConceptModel
from core.index.members import Ids, Members
from core.index.postings import Postings

LENGTHS = ""  # the term of the row that holds the number of active latents by passage
_CHUNK = 1_024  # passages whose activations [N, M] are in memory at once
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
        self, db: Database, channel: str, segments: Sequence[int], members: Members, model: ConceptModel
    ) -> None:
        self.model = model
        self._db, self._channel, self._segments, self._members = db, channel, segments, members

    def postings(self, latent: int) -> tuple[Ids, Floats]:
        """The passages in which a latent is active, ids ascending, with its activations."""
        ids, activations = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
        for number, first, end in self._members.segments():
            found = rows.read_postings(self._db, self._segments[number], self._channel, [str(latent)]).get(str(latent))
            if found is not None:
                alive = self._members.alive[first:end][found.ordinals]
                ids.append(self._members.ids[first + found.ordinals[alive].astype(np.int64)])
                activations.append(found.weights[alive])
        all_ids = np.concatenate(ids)
        order = np.argsort(all_ids)
        return all_ids[order], np.concatenate(activations)[order]

    def of(self, ids: Ids) -> list[dict[int, float]]:
        """The active latents of each passage with their activations."""
        bounds, latents, activations = self.active(ids)
        pairs = list(zip(latents.tolist(), activations.tolist(), strict=True))
        return [dict(pairs[a:b]) for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]

    def active(self, ids: Ids) -> Active:
        """As `of`, in arrays."""
        whole = self._whole
        ordinals = self._members.ordinals(ids)
        begins, lengths = whole.bounds[ordinals], np.diff(whole.bounds)[ordinals]
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.repeat(begins - bounds[:-1], lengths) + np.arange(bounds[-1])
        return Active(bounds, whole.latents[entries].astype(np.int64), whole.activations[entries].astype(np.float32))

    def counts(self, ids: Ids | None = None) -> npt.NDArray[np.int64]:
        """In how many of these passages (None: all) each latent is active, int64 [M]."""
        found = self.active(self._members.in_order if ids is None else ids)
        return np.bincount(found.latents, minlength=self.model.latents)

    @cached_property
    def _whole(self) -> Active:
        """All entries by passage, deleted ones too: read once, 4 bytes each."""
        ordinals, latents, activations = [np.empty(0, "<u4")], [np.empty(0, "<u2")], [np.empty(0, "<f2")]
        for number, first, _ in self._members.segments():
            for term, found in rows.read_channel(self._db, self._segments[number], self._channel).items():
                if term != LENGTHS:
                    ordinals.append(found.ordinals + np.uint32(first))
                    latents.append(np.full(len(found.ordinals), int(term), "<u2"))
                    activations.append(found.weights.astype("<f2"))
        places, named = np.concatenate(ordinals), np.concatenate(latents)
        order = np.lexsort((named, places))
        counts = np.bincount(places, minlength=len(self._members.ids))
        bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Active(bounds, named[order], np.concatenate(activations)[order])


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


def postings_of(model: ConceptModel, vectors: Floats) -> dict[str, Postings]:
    """The rows of one segment by term, for the vectors [N, D] of its passages, as the index holds them."""
    ordinals, latents, values = [], [], []
    for start in range(0, len(vectors), _CHUNK):
        active = model.encode(vectors[start : start + _CHUNK]).astype("<f2")
        rows_E, latents_E = np.nonzero(active > 0)
        ordinals.append(rows_E + start)
        latents.append(latents_E)
        values.append(active[rows_E, latents_E])
    ordinals_E, latents_E = np.concatenate(ordinals), np.concatenate(latents)
    order = np.argsort(latents_E, kind="stable")
    places, weights = ordinals_E[order].astype("<u4"), np.concatenate(values)[order].astype("<f4")
    named, begins = np.unique(latents_E[order], return_index=True)
    ends = [*begins[1:].tolist(), len(order)]
    lengths = np.bincount(ordinals_E, minlength=len(vectors)).astype("<f4")
    found = {LENGTHS: Postings(np.arange(len(vectors), dtype="<u4"), lengths)}
    for latent, begin, end in zip(named.tolist(), begins.tolist(), ends, strict=True):
        found[str(latent)] = Postings(places[begin:end], weights[begin:end])
    return found
