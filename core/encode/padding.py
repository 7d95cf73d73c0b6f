"""Texts of different lengths as even batches: which go together, padding, means under a mask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]


def batches(lengths: Sequence[int], budget: int) -> Iterator[NDArray[np.int64]]:
    """Row numbers of texts of like length, so many at a time that texts x longest stays within `budget`.

    Longest first: the largest need of memory shows at once, and a time estimate only gets better.
    """
    order = np.argsort(-np.asarray(lengths, np.int64), kind="stable")
    first = 0
    while first < len(order):
        count = max(1, budget // max(1, lengths[order[first]]))
        yield order[first : first + count]
        first += count


def pad(ids: Sequence[Sequence[int]], fill: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Right-padded ids [B, T] and their mask."""
    width = max(len(row) for row in ids)
    padded = np.full((len(ids), width), fill, np.int64)
    mask = np.zeros_like(padded)
    for i, row in enumerate(ids):
        padded[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return padded, mask


def weighted_mean(states_BTD: FloatArray, weights_BT: FloatArray) -> FloatArray:
    """Mean [B, D] of each text's states under its weights.

    Summed token by token, so that padding does not change the last bit as it does in a matrix product.
    """
    sums = (states_BTD * weights_BT[:, :, None]).sum(axis=1)
    return np.asarray(sums / weights_BT.sum(axis=1, keepdims=True), np.float32)
