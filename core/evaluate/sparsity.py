"""What search over sparse codes costs: products, terms a passage, terms in use (Formal, Piwowarski & Clinchant 2021;
Park, Kim, Ko 2025, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sparsity:
    """`flops` are the products that a query and a passage by chance need on average: the sum over the terms of the
    share of queries times the share of passages that hold each. `length` and `asked` are terms a passage and a query,
    `vocabulary` counts the terms that any passage holds."""

    flops: float
    length: float
    asked: float
    vocabulary: int


def sparsity(queries: Shares, passages: Shares) -> Sparsity:
    """From the share of all queries, and of all passages, that hold each term, [T] each."""
    return Sparsity(
        float(queries @ passages), float(passages.sum()), float(queries.sum()), int(np.count_nonzero(passages))
    )
