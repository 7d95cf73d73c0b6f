"""Which texts go into a batch together: of like length, so that little is padded, and otherwise by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_BATCHES_SORTED = 32  # so many batches' texts are drawn at random, then sorted: batches stay random enough


def length_grouped(lengths: Sequence[int], size: int, rng: np.random.Generator) -> list[list[int]]:
    """Every place of `lengths` once, in batches of `size` (the last one of each epoch may be smaller), shuffled.

    Raises:
        ValueError: `size` is below 1.
    """
    if size < 1:
        raise ValueError(f"batches of {size}")
    tokens, order = np.asarray(lengths, np.int64), rng.permutation(len(lengths))
    made: list[list[int]] = []
    for first in range(0, len(order), size * _BATCHES_SORTED):
        drawn = order[first : first + size * _BATCHES_SORTED]
        drawn = drawn[np.argsort(-tokens[drawn], kind="stable")]
        made += [drawn[start : start + size].tolist() for start in range(0, len(drawn), size)]
    return [made[place] for place in rng.permutation(len(made))]
