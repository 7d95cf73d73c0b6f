"""The contrastive loss with passage-passage terms: negatives must be far from the answer, too, not from the question
alone.

Shapes: B queries, N passages, D dimensions.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

_NEVER = float("-inf")


def full_info_nce(
    q_BD: Tensor, p_ND: Tensor, positives_B: Tensor, temperature: float, *, mask_BN: Tensor | None = None,
    weights_B: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Mean of -log(f(q, p*) / (f(q, p*) + sum over p of (f(q, p) + f(p*, p)))) with f(a, b) = exp(a.b / t).

    `positives_B` holds the column of each query's positive p*; p runs over all other passages. Where `mask_BN` is True
    a passage is no negative of that query, nor of its positive. `weights_B` weigh the queries. Of unit vectors a dot
    product is a cosine.

    Source: Wang et al. 2023 (SimLM), section 3.2.
    """
    own_BN = functional.one_hot(positives_B, len(p_ND)).bool()
    by_query_BN = q_BD @ p_ND.T / temperature
    by_positive_BN = (p_ND[positives_B] @ p_ND.T / temperature).masked_fill(own_BN, _NEVER)
    if mask_BN is not None:
        by_query_BN = by_query_BN.masked_fill(mask_BN & ~own_BN, _NEVER)
        by_positive_BN = by_positive_BN.masked_fill(mask_BN, _NEVER)
    # the positive stands in the first half, at its own column
    losses_B = functional.cross_entropy(torch.cat([by_query_BN, by_positive_BN], 1), positives_B, reduction="none")
    if weights_B is None:
        return losses_B.mean()
    return (losses_B * weights_B).sum() / weights_B.sum()
