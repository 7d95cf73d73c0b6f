"""The losses of retrieval training as pure functions of representations.

Shapes: B queries, N passages, C candidates a query, D dimensions. Representations come as the encoder gives them; where
they are unit vectors a dot product is a cosine.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

_NEVER = float("-inf")


def info_nce(
    q_BD: Tensor, p_ND: Tensor, positives_B: Tensor, temperature: float, *, mask_BN: Tensor | None = None,
    weights_B: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Contrastive loss over all passages of a batch: mean of -log(exp(s(q, p*)/t) / sum over p of exp(s(q, p)/t)).

    `positives_B` holds the column of each query's positive. Where `mask_BN` is True a passage is no negative of that
    query (a duplicate, another positive); the positive itself is never masked. `weights_B` weigh the queries.

    Source: van den Oord et al. 2018; with hard negatives as in DPR (Karpukhin et al. 2020).
    """
    return contrastive(q_BD @ p_ND.T, positives_B, temperature, mask_BN=mask_BN, weights_B=weights_B)


def contrastive(
    scores_BN: Tensor, positives_B: Tensor, temperature: float, *, mask_BN: Tensor | None = None,
    weights_B: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """`info_nce` of scores, however they were made."""
    logits_BN = scores_BN / temperature
    if mask_BN is not None:
        own_BN = functional.one_hot(positives_B, scores_BN.shape[1]).bool()
        logits_BN = logits_BN.masked_fill(mask_BN & ~own_BN, _NEVER)
    return _weighted(functional.cross_entropy(logits_BN, positives_B, reduction="none"), weights_B)


def listwise_kl(
    student_BC: Tensor, teacher_BC: Tensor, *, temperature: float, teacher_temperature: float,
    mask_BC: Tensor | None = None, weights_B: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """KL(teacher || student) over each query's candidates; the teacher is detached.

    Scores are divided by their temperatures before the softmax. Where `mask_BC` is True there is no candidate. Equal
    distributions have loss and gradient zero.

    Source: SimLM section 3.2, coCondenser's soft labels; Hinton et al. 2015.
    """
    student_BC, teacher_BC = student_BC / temperature, teacher_BC.detach() / teacher_temperature
    if mask_BC is not None:
        student_BC, teacher_BC = (scores.masked_fill(mask_BC, _NEVER) for scores in (student_BC, teacher_BC))
    log_student_BC, log_teacher_BC = student_BC.log_softmax(-1), teacher_BC.log_softmax(-1)
    share_BC = log_teacher_BC.exp()
    # a candidate without any share adds nothing, and 0 times an infinite difference would be no number
    apart_BC = torch.where(share_BC > 0, log_teacher_BC - log_student_BC, torch.zeros_like(share_BC))
    return _weighted((share_BC * apart_BC).sum(-1), weights_B)


def span_contrast(spans_SD: Tensor, partners_S: Tensor, mask_SS: Tensor | None = None) -> Tensor:
    """coCondenser's loss: each span must find the other span of its document among all spans of the batch.

    Plain dot products, no temperature; the span itself is left out. `partners_S` holds the row of each span's partner.
    Where `mask_SS` is True two spans are no negatives of one another (near-duplicates, boilerplate).

    Source: Gao & Callan 2022, equation 5.
    """
    logits_SS = spans_SD @ spans_SD.T
    never_SS = torch.eye(len(spans_SD), dtype=torch.bool, device=spans_SD.device)
    if mask_SS is not None:
        partner_SS = functional.one_hot(partners_S, len(spans_SD)).bool()
        never_SS = never_SS | (mask_SS & ~partner_SS)
    return functional.cross_entropy(logits_SS.masked_fill(never_SS, _NEVER), partners_S)


def anchor(vectors_BD: Tensor, frozen_BD: Tensor) -> Tensor:
    """Mean squared distance to the vectors of the encoder that training began with: what holds it near them.

    For unit vectors this is 2 - 2 cos, so 0 means not moved and 2 at right angles.
    """
    return (vectors_BD - frozen_BD.detach()).square().sum(-1).mean()


def _weighted(losses_B: Tensor, weights_B: Tensor | None) -> Tensor:
    if weights_B is None:
        return losses_B.mean()
    return (losses_B * weights_B).sum() / weights_B.sum()
