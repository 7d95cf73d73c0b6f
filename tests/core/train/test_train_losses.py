"""The losses against loops in float64."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from core.train.losses import anchor, info_nce, listwise_kl, span_contrast


def _unit(*shape: int, seed: int = 0) -> Tensor:
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return made / made.norm(dim=-1, keepdim=True)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_infonce_is_the_sum_written_out(masked: bool, weighted: bool) -> None:
    q_BD, p_ND, temperature = _unit(3, 5), _unit(6, 5, seed=1), 0.2
    positives = torch.tensor([0, 2, 5])
    mask = torch.zeros(3, 6, dtype=torch.bool)
    if masked:
        mask[0, 1] = mask[1, 2] = mask[2, 0] = True  # (1, 2) is a positive: it stays
    weights = torch.tensor([1.0, 3.0, 0.5], dtype=torch.float64) if weighted else None
    losses = []
    for i in range(3):
        own = int(positives[i])
        kept = [j for j in range(6) if j == own or not mask[i, j]]
        sums = [math.exp(float(q_BD[i] @ p_ND[j]) / temperature) for j in kept]
        losses.append(-math.log(sums[kept.index(own)] / sum(sums)))
    shares = [1.0, 3.0, 0.5] if weighted else [1.0] * 3
    expected = sum(loss * share for loss, share in zip(losses, shares, strict=True)) / sum(shares)
    found = info_nce(q_BD, p_ND, positives, temperature, mask_BN=mask, weights_B=weights)
    assert float(found) == pytest.approx(expected, rel=1e-12)


def test_listwise_kl_is_the_sum_written_out() -> None:
    student, teacher = torch.randn(2, 4, dtype=torch.float64), torch.randn(2, 4, dtype=torch.float64)
    mask = torch.tensor([[False, False, False, True], [False] * 4])
    total = 0.0
    for i in range(2):
        kept = [j for j in range(4) if not mask[i, j]]
        p = torch.softmax(teacher[i, kept] / 0.3, 0)
        q = torch.softmax(student[i, kept] / 0.05, 0)
        total += sum(float(p[j] * (p[j].log() - q[j].log())) for j in range(len(kept)))
    found = listwise_kl(student, teacher, temperature=0.05, teacher_temperature=0.3, mask_BC=mask)
    assert float(found) == pytest.approx(total / 2, rel=1e-9)


def test_a_student_like_its_teacher_is_not_moved() -> None:
    scores = _unit(4, 6).requires_grad_()
    loss = listwise_kl(scores, scores, temperature=0.1, teacher_temperature=0.1)
    loss.backward()
    assert float(loss.detach()) == pytest.approx(0, abs=1e-12)
    assert scores.grad is not None
    assert float(scores.grad.abs().max()) < 1e-12  # the teacher's side is detached: it gets nothing either


def test_a_teacher_without_doubt_leaves_no_infinite_numbers() -> None:
    student = torch.zeros(1, 3, requires_grad=True)
    loss = listwise_kl(student, torch.tensor([[1e4, 0.0, -1e4]]), temperature=1, teacher_temperature=0.01)
    loss.backward()
    assert float(loss.detach()) == pytest.approx(math.log(3), rel=1e-6)
    assert student.grad is not None
    assert bool(student.grad.isfinite().all())


def test_span_contrast_leaves_the_span_itself_out_and_masks_its_doubles() -> None:
    spans = torch.randn(6, 4, dtype=torch.float64)
    partners = torch.tensor([1, 0, 3, 2, 5, 4])
    mask = torch.zeros(6, 6, dtype=torch.bool)
    mask[0, 4] = mask[4, 0] = mask[0, 1] = True  # 1 is the partner of 0: it stays
    expected = 0.0
    for i in range(6):
        kept = [j for j in range(6) if j != i and (j == int(partners[i]) or not mask[i, j])]
        sums = {j: math.exp(float(spans[i] @ spans[j])) for j in kept}
        expected -= math.log(sums[int(partners[i])] / sum(sums.values())) / 6
    assert float(span_contrast(spans, partners, mask)) == pytest.approx(expected, rel=1e-12)
    assert float(span_contrast(spans, partners)) != pytest.approx(expected, rel=1e-6)


def test_the_anchor_pulls_back_and_never_the_frozen_side() -> None:
    moved, frozen = _unit(3, 4).requires_grad_(), _unit(3, 4, seed=1).requires_grad_()
    loss = anchor(moved, frozen)
    cosines = (moved * frozen).sum(-1)
    assert float(loss.detach()) == pytest.approx(float((2 - 2 * cosines).mean().detach()), rel=1e-12)
    loss.backward()
    assert frozen.grad is None
    assert moved.grad is not None
    assert float(moved.grad.abs().sum()) > 0
    assert float(anchor(frozen.detach(), frozen)) == 0
