"""A map of concepts: those whose directions are alike lie together.

Two principal components of the decoder's rows, each as its rank so that points do not pile up, and groups by spherical
k-means (Dhillon & Modha 2001). Pure functions; the same model always makes the same map.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST_GROUPS = 12
_ROUNDS = 25
_ITERATIONS = 60  # of principal directions; closer ones than these tell apart may be mixed

Floats = NDArray[np.float64]
Groups = NDArray[np.int64]


def unit_rows(vectors: NDArray[np.float32]) -> Floats:
    """Unit rows [N, D]; a row of zeros stays one."""
    rows_ND = vectors.astype(np.float64)
    return rows_ND / np.maximum(np.linalg.norm(rows_ND, axis=1, keepdims=True), 1e-12)


def places(rows_ND: Floats) -> Floats:
    """Where each of these unit rows lies, float64 [N, 2] between 0 and 1."""
    if len(rows_ND) < 2:
        return np.full((len(rows_ND), 2), 0.5)
    centred_ND = rows_ND - rows_ND.mean(axis=0)
    plane_N2 = centred_ND @ _principal(centred_ND)
    ranks_N2 = np.argsort(np.argsort(plane_N2, axis=0, kind="stable"), axis=0, kind="stable")
    return ranks_N2 / (len(rows_ND) - 1)


def _principal(centred_ND: Floats) -> Floats:
    """The two directions [D, 2] of the largest variance, by orthogonal iteration, which is quicker than all of them."""
    scatter_DD = centred_ND.T @ centred_ND
    axes_D2 = np.linalg.qr(np.random.default_rng(0).standard_normal((scatter_DD.shape[0], 2)))[0]
    for _ in range(_ITERATIONS):
        axes_D2 = np.linalg.qr(scatter_DD @ axes_D2)[0]
    largest = axes_D2[np.abs(axes_D2).argmax(axis=0), [0, 1]]
    return axes_D2 * np.where(largest < 0, -1.0, 1.0)  # solvers differ in the sign


def groups(rows_ND: Floats) -> Groups:
    """A number from 0 for each of these unit rows, by the direction it is nearest to; the largest group is 0."""
    count = min(_MOST_GROUPS, round((len(rows_ND) / 2) ** 0.5))
    if count < 2:
        return np.zeros(len(rows_ND), np.int64)
    means_GD = rows_ND[_far_apart(rows_ND, count)]
    assigned = np.full(len(rows_ND), -1, np.int64)
    for _ in range(_ROUNDS):
        nearest = (rows_ND @ means_GD.T).argmax(axis=1)
        if np.array_equal(nearest, assigned):
            break
        assigned = nearest
        sums_GD = (assigned == np.arange(count)[:, None]).astype(np.float64) @ rows_ND
        lengths_G = np.linalg.norm(sums_GD, axis=1, keepdims=True)
        means_GD = np.where(lengths_G > 1e-9, sums_GD / np.maximum(lengths_G, 1e-12), means_GD)
    _, numbers = np.unique(assigned, return_inverse=True)
    by_size = np.argsort(-np.bincount(numbers), kind="stable")
    return np.argsort(by_size, kind="stable")[numbers].astype(np.int64)


def _far_apart(rows_ND: Floats, count: int) -> list[int]:
    """Rows to start from: the one nearest to the mean, then always the one least like those there are."""
    chosen = [int((rows_ND @ rows_ND.mean(axis=0)).argmax())]
    likeness_N = rows_ND @ rows_ND[chosen[0]]
    while len(chosen) < count:
        chosen.append(int(likeness_N.argmin()))
        likeness_N = np.maximum(likeness_N, rows_ND @ rows_ND[chosen[-1]])
    return chosen
