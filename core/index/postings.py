"""Impact postings: how they are built, packed for the database, and scored.

A channel is a set of terms, each with the passages that hold it and a weight. BM25 keeps raw term frequencies
and saturates them at query time with the statistics of the whole snapshot, so that scores do not depend on how
the passages are spread over segments. Channels of learned weights use the same code with their own `Scheme`.

Packed, a row says by its lengths how wide its numbers are: most words stand in few passages, once or twice in each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.base.errors import IndexDamaged
from core.base.types import BM25, CONCEPT, LEXICAL

LANGUAGE = "language"  # a channel for statistics: which passages are in which language

Ordinals = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]
_NONE = np.empty(0, np.int64)
_ORDINALS = {2: "<u2", 4: "<u4"}
_WEIGHTS = {1: "<u1", 2: "<f2", 4: "<f4"}


@dataclass(frozen=True, slots=True)
class Postings:
    """The passages of one segment that hold a term: `ordinals` ascending, `weights` beside them."""

    ordinals: npt.NDArray[np.uint32]
    weights: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a channel turns weights into impacts.

    With `k1` the impact is BM25's saturation w (k1 + 1) / (w + k1 (1 - b + b length / average)) and the term
    counts with idf = log(1 + (N - n + 0.5) / (n + 0.5)) (Robertson & Zaragoza 2009, section 3; the +1 keeps it
    positive). Without `k1` the weights are impacts already, and a score is the sum of query weight times passage
    weight (M3-Embedding, section 3.2).

    With `unit` impacts are taken in a passage's own length, which the channel holds (`LENGTHS`): what it holds of many
    terms counts for less in each.
    """

    k1: float | None = None
    b: float = 0.0
    unit: bool = False

    def norms(self, lengths: npt.NDArray[np.float32], average: float) -> Weights:
        """The part of the denominator that depends on the passage only."""
        if self.k1 is None:
            return np.zeros(len(lengths))
        return self.k1 * (1.0 - self.b + self.b * lengths.astype(np.float64) / (average or 1.0))

    def impacts(self, weights: Weights, norms: Weights) -> Weights:
        return weights if self.k1 is None else weights * (self.k1 + 1.0) / (weights + norms)

    def idf(self, passages: int, holding: int) -> float:
        """`holding` of the `passages` hold the term."""
        if self.k1 is None:
            return 1.0
        return float(np.log1p((passages - holding + 0.5) / (holding + 0.5)))


# of concepts: k1 is 0.6 where a latent's direction has length 0.35 (CL-SR, section 4), in units that no length changes
SCHEMES = {BM25: Scheme(k1=0.9, b=0.4), LEXICAL: Scheme(), CONCEPT: Scheme(k1=0.2, unit=True)}
LENGTHS = ""  # the term of the row that holds the passages' lengths in a channel with `unit`


def build(texts: Iterable[Sequence[str]]) -> tuple[dict[str, Postings], npt.NDArray[np.float32]]:
    """Term-frequency postings of passages given as their terms, and the number of terms of each."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # each new term gets the next number
    said = [np.fromiter(map(numbers.__getitem__, terms), np.int64, len(terms)) for terms in texts]
    lengths = np.array([len(terms) for terms in said], np.int64)
    ordinals_T = np.repeat(np.arange(len(said)), lengths)
    # all (term, passage) pairs in order, each once, with how often the passage says the term
    pairs, counts = np.unique(np.concatenate([_NONE, *said]) * (len(said) + 1) + ordinals_T, return_counts=True)
    terms_P, ordinals_P = np.divmod(pairs, len(said) + 1)
    bounds = np.searchsorted(terms_P, np.arange(len(numbers) + 1)).tolist()
    ordinals, weights = ordinals_P.astype("<u4"), counts.astype("<f4")
    packed = {
        t: Postings(ordinals[bounds[n] : bounds[n + 1]], weights[bounds[n] : bounds[n + 1]]) for t, n in numbers.items()
    }
    return packed, lengths.astype("<f4")


def learned(weights: Sequence[Mapping[str, float]]) -> dict[str, Postings]:
    """Postings of passages given as their terms with weights; those of 0 and less are left out.

    Weights are rounded to 16 bits (3 decimal digits), half the room.
    """
    found: defaultdict[str, tuple[list[int], list[float]]] = defaultdict(lambda: ([], []))
    for ordinal, terms in enumerate(weights):
        for term, weight in terms.items():
            if np.float16(weight) > 0:
                ordinals, values = found[term]
                ordinals.append(ordinal)
                values.append(weight)
    return {t: Postings(np.array(o, "<u4"), np.array(w, "<f2").astype("<f4")) for t, (o, w) in found.items()}


def pack(postings: Postings) -> tuple[int, bytes, bytes]:
    """The columns count, ordinals and weights of a row, in the narrowest form that keeps every number.

    Ordinals take 2 or 4 bytes; weights 4 (float), 2 (half float), 1 (whole numbers) or none (all are 1).
    """
    count, last = len(postings.ordinals), int(postings.ordinals[-1]) if len(postings.ordinals) else 0
    ordinals = postings.ordinals.astype("<u2" if last < 1 << 16 else "<u4", copy=False)
    return count, ordinals.tobytes(), _narrow(postings.weights).tobytes()


def _narrow(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.generic]:
    if (weights == 1).all():
        return weights[:0]
    if weights.max() < 256 and (weights == (whole := weights.astype("<u1"))).all():
        return whole
    with np.errstate(over="ignore"):
        half = weights.astype("<f2")
    return half if (half == weights).all() else weights.astype("<f4", copy=False)


def unpack(count: int, ordinals: bytes, weights: bytes) -> Postings:
    """Raises IndexDamaged when the row is not one that `pack` makes."""
    if count < 1 or len(ordinals) % count or len(weights) % count:
        raise _damaged()
    try:
        places = np.frombuffer(ordinals, _ORDINALS[len(ordinals) // count]).astype("<u4", copy=False)
        values = np.frombuffer(weights, _WEIGHTS[len(weights) // count]).astype("<f4") if weights else None
    except KeyError:
        raise _damaged() from None
    return Postings(places, np.ones(count, "<f4") if values is None else values)


def _damaged() -> IndexDamaged:
    return IndexDamaged(
        "A posting of the index is damaged.", "Repair the library: the index is made again from the stored text."
    )


def union(parts: Sequence[tuple[Ordinals, Weights]]) -> tuple[Ordinals, Weights]:
    """The passages that hold any of several terms, with the sum of their weights: the terms as one word."""
    if not parts:
        return np.empty(0, np.int64), np.empty(0)
    if len(parts) == 1:
        return parts[0]
    ordinals, place = np.unique(np.concatenate([o for o, _ in parts]), return_inverse=True)
    weights = np.bincount(place, np.concatenate([w for _, w in parts]), len(ordinals))
    return ordinals.astype(np.int64, copy=False), weights.astype(np.float64, copy=False)
