"""Scores of the three heads of M3-Embedding and their losses: contrastive, and by what they know together.

Shapes: B queries, N passages, T tokens, U distinct terms, V terms of a vocabulary, M dimensions of a token vector.
Source: Chen et al. 2024, "BGE M3-Embedding", sections 3.2 and 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from core.base.types import DENSE, LEXICAL, MULTI
from core.train.losses import contrastive

TOGETHER = "together"
PARTS: Mapping[str, float] = {DENSE: 1.0, LEXICAL: 0.3, MULTI: 1.0}  # of each score in the integrated one
LOSSES: Mapping[str, float] = {DENSE: 1.0, LEXICAL: 0.1, MULTI: 1.0}  # of each head's loss
NO_TERM = -1
_NEVER = float("-inf")
_MOST_PAIRS = 1 << 24  # of a query's token and a passage's token that are compared at once: 64 MB


def lexical_scores(q_terms_BT: Tensor, q_weights_BT: Tensor, p_terms_NT: Tensor, p_weights_NT: Tensor) -> Tensor:
    """Sum over shared terms of the product of their weights [B, N]; a term counts with its largest weight in a text.

    Weights are not negative. A token of term `NO_TERM` (special, unknown, padding) takes no part. Terms that no query
    has add nothing to any score, so none of the vocabulary but the queries' own is laid out.
    """
    known_U = q_terms_BT[q_terms_BT != NO_TERM].unique()
    if len(known_U) == 0:
        return q_weights_BT.sum() * 0 + p_weights_NT.new_zeros(len(q_terms_BT), len(p_terms_NT))
    return _largest(q_terms_BT, q_weights_BT, known_U) @ _largest(p_terms_NT, p_weights_NT, known_U).T


def _largest(terms_BT: Tensor, weights_BT: Tensor, known_U: Tensor) -> Tensor:
    """The largest weight of each known term (ascending) in each text [B, U], 0 where it does not stand."""
    places_BT = torch.searchsorted(known_U, terms_BT.contiguous()).clamp(max=len(known_U) - 1)
    own_BT = torch.where(known_U[places_BT] == terms_BT, weights_BT, torch.zeros_like(weights_BT))
    none_BU = weights_BT.new_zeros(len(terms_BT), len(known_U))
    return none_BU.scatter_reduce(1, places_BT, own_BT, "amax")


def max_sim(q_BTM: Tensor, q_mask_BT: Tensor, p_NTM: Tensor, p_mask_NT: Tensor) -> Tensor:
    """Mean over a query's tokens of the largest product with any token of the passage [B, N].

    Padding wins no maximum and counts in no mean. A text without tokens scores 0.

    Source: ColBERT (Khattab & Zaharia 2020), divided by the number of query tokens as in M3, equation 4.
    """
    q_KM, passages, longest = q_BTM[q_mask_BT], len(p_NTM), p_NTM.shape[1]
    best = []
    for part_KM in q_KM.split(max(1, _MOST_PAIRS // max(1, passages * longest))):
        pairs_KNT = (part_KM @ p_NTM.flatten(0, 1).T).unflatten(1, (passages, longest))
        best.append(pairs_KNT.masked_fill(~p_mask_NT, _NEVER).max(-1).values)
    best_KN = torch.cat(best).masked_fill(~p_mask_NT.any(1), 0.0)
    rows_K = torch.arange(len(q_BTM), device=q_BTM.device).repeat_interleave(q_mask_BT.sum(1))
    sums_BN = best_KN.new_zeros(len(q_BTM), passages).index_add(0, rows_K, best_KN)
    return sums_BN / q_mask_BT.sum(1, keepdim=True).clamp(min=1)


def flops(weights_NV: Tensor) -> Tensor:
    """How many products a score takes, as something that has a gradient: the squared mean weight of every term.

    Source: Paria et al. 2020, as in SPLADE (Formal et al. 2021), equation 4.
    """
    return weights_NV.mean(0).square().sum()


def together(scores: Mapping[str, Tensor]) -> Tensor:
    """The integrated score [B, N] of the heads that are there (M3, equation 5)."""
    return torch.stack([PARTS[head] * own_BN for head, own_BN in scores.items()]).sum(0)


def self_knowledge(
    scores: Mapping[str, Tensor], positives_B: Tensor, temperature: float, *, distil: bool = True,
    mask_BN: Tensor | None = None, weights_B: Tensor | None = None,
) -> tuple[Tensor, dict[str, float]]:  # fmt: skip
    """The loss of all heads, and its parts by name.

    Each head and the integrated score are trained contrastively; with `distil` each head also follows the integrated
    score, which is taken as given. Where `mask_BN` is True a passage is no negative of that query.

    Source: M3, equations 6 to 9. Their divisors of 4 and 3 are those of three heads.
    """
    whole_BN = together(scores)
    own = {
        head: contrastive(one_BN, positives_B, temperature, mask_BN=mask_BN, weights_B=weights_B)
        for head, one_BN in {**scores, TOGETHER: whole_BN}.items()
    }
    told = {head: float(loss.detach()) for head, loss in own.items()}
    loss = torch.stack([LOSSES.get(head, 1.0) * one for head, one in own.items()]).sum() / len(own)
    if not distil:
        return loss, told
    followed = {
        head: LOSSES[head] * following(one_BN, whole_BN, positives_B, temperature, mask_BN=mask_BN, weights_B=weights_B)
        for head, one_BN in scores.items()
    }
    taught = torch.stack(list(followed.values())).sum() / len(followed)
    return (loss + taught) / 2, {**told, "distilled": float(taught.detach())}


def following(
    student_BN: Tensor, teacher_BN: Tensor, positives_B: Tensor, temperature: float, *, mask_BN: Tensor | None = None,
    weights_B: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Cross entropy from the teacher's distribution over the passages to the student's; the teacher is detached."""
    if mask_BN is not None:
        own_BN = torch.nn.functional.one_hot(positives_B, student_BN.shape[1]).bool()
        never_BN = mask_BN & ~own_BN
        student_BN, teacher_BN = student_BN.masked_fill(never_BN, _NEVER), teacher_BN.masked_fill(never_BN, _NEVER)
    share_BN = (teacher_BN.detach() / temperature).softmax(-1)
    log_BN = (student_BN / temperature).log_softmax(-1)
    # 0 times an infinite logarithm would be no number
    losses_B = -(share_BN * log_BN.masked_fill(share_BN == 0, 0.0)).sum(-1)
    return losses_B.mean() if weights_B is None else (losses_B * weights_B).sum() / weights_B.sum()
