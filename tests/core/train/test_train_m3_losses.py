"""Scores and losses of the three heads against loops in float64, and what a gradient may reach."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from core.base.types import DENSE, LEXICAL, MULTI
from core.train import m3_losses
from core.train.m3_losses import (
    LOSSES,
    NO_TERM,
    PARTS,
    flops,
    following,
    lexical_scores,
    max_sim,
    self_knowledge,
    together,
)

Scored = dict[str, Tensor]


def _weighed(luck: np.random.Generator, texts: int, longest: int) -> tuple[Tensor, Tensor]:
    """Terms [n, T], some of them none, with weights of which some are 0."""
    terms = luck.integers(0, 12, (texts, longest)) * 1000
    terms[luck.random(terms.shape) < 0.3] = NO_TERM
    weights = np.maximum(luck.standard_normal(terms.shape), 0)
    return torch.from_numpy(terms), torch.from_numpy(weights)


def _slow_lexical(terms: Sequence[Sequence[int]], weights: Sequence[Sequence[float]]) -> list[dict[int, float]]:
    bags = []
    for own_terms, own_weights in zip(terms, weights, strict=True):
        bag: dict[int, float] = {}
        for term, weight in zip(own_terms, own_weights, strict=True):
            if term != NO_TERM:
                bag[term] = max(bag.get(term, 0.0), weight)
        bags.append(bag)
    return bags


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_lexical_scores_are_those_of_shared_terms(seed: int) -> None:
    luck = np.random.default_rng(seed)
    (q_terms, q_weights), (p_terms, p_weights) = _weighed(luck, 4, 5), _weighed(luck, 6, 9)
    found = lexical_scores(q_terms, q_weights, p_terms, p_weights)
    asked, said = (
        _slow_lexical(t.tolist(), w.tolist()) for t, w in ((q_terms, q_weights), (p_terms, p_weights))
    )  # fmt: skip
    expected = [[sum(w * bag.get(term, 0.0) for term, w in query.items()) for bag in said] for query in asked]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


def test_only_the_largest_repeat_learns_and_no_term_never_does() -> None:
    q_terms, p_terms = torch.tensor([[7, 9]]), torch.tensor([[7, 7, NO_TERM, 3]])
    q_weights = torch.tensor([[1.0, 1.0]], dtype=torch.double)
    p_weights = torch.tensor([[0.2, 0.9, 5.0, 0.4]], dtype=torch.double, requires_grad=True)
    lexical_scores(q_terms, q_weights, p_terms, p_weights).sum().backward()
    assert p_weights.grad is not None
    assert p_weights.grad.tolist() == [[0.0, 1.0, 0.0, 0.0]]


def test_a_batch_without_a_term_scores_nothing() -> None:
    none = torch.full((2, 3), NO_TERM)
    weights = torch.ones(2, 3, requires_grad=True)
    found = lexical_scores(none, weights, torch.tensor([[1, 2]]), torch.ones(1, 2))
    assert found.tolist() == [[0.0], [0.0]]
    found.sum().backward()


def _ragged(luck: np.random.Generator, texts: int, longest: int, width: int = 5) -> tuple[Tensor, Tensor]:
    vectors = torch.nn.functional.normalize(torch.from_numpy(luck.standard_normal((texts, longest, width))), dim=-1)
    mask = torch.from_numpy(luck.random((texts, longest)) < 0.7)
    return vectors, mask


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("pairs", [1, 1 << 24])
def test_max_sim_is_the_mean_of_the_best(seed: int, pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m3_losses, "_MOST_PAIRS", pairs)
    luck = np.random.default_rng(seed)
    (q, q_mask), (p, p_mask) = _ragged(luck, 3, 4), _ragged(luck, 5, 7)
    q_mask[0], p_mask[1] = False, False  # a text without tokens
    q_mask[1, 0] = True
    found = max_sim(q, q_mask, p, p_mask)
    for row in range(3):
        for column in range(5):
            best = [
                max(float(q[row, i] @ p[column, j]) for j in range(7) if p_mask[column, j])
                for i in range(4)
                if q_mask[row, i] and bool(p_mask[column].any())
            ]
            expected = sum(best) / int(q_mask[row].sum()) if best else 0.0
            assert float(found[row, column]) == pytest.approx(expected, abs=1e-12)


def test_padding_wins_no_maximum_and_gets_no_gradient() -> None:
    """Row 15: an all-negative passage stays below 0 whatever stands in its padding."""
    q = torch.tensor([[[1.0, 0.0]]])
    p = torch.tensor([[[-0.6, 0.8], [0.0, 0.0]]], requires_grad=True)
    mask = torch.tensor([[True, False]])
    found = max_sim(q, torch.tensor([[True]]), p, mask)
    assert float(found.detach()) == pytest.approx(-0.6)
    found.sum().backward()
    assert p.grad is not None
    assert p.grad[0, 1].tolist() == [0.0, 0.0]
    longer = torch.nn.functional.pad(p.detach(), (0, 0, 0, 5), value=9.0)
    padded = max_sim(q, torch.tensor([[True]]), longer, torch.nn.functional.pad(mask, (0, 5)))
    assert torch.equal(found.detach(), padded)


def test_flops_are_the_expected_products() -> None:
    luck = np.random.default_rng(0)
    weights = np.maximum(luck.standard_normal((5, 8)), 0)
    assert float(flops(torch.from_numpy(weights))) == pytest.approx(sum(np.mean(column) ** 2 for column in weights.T))


def _scores(seed: int = 0) -> Scored:
    luck = np.random.default_rng(seed)
    return {
        head: torch.from_numpy(luck.standard_normal((3, 6))).requires_grad_() for head in (DENSE, LEXICAL, MULTI)
    }  # fmt: skip


def _log_softmax(row: np.ndarray) -> np.ndarray:
    top = row.max()
    return row - top - math.log(sum(math.exp(value - top) for value in row))


def _slow(scores: dict[str, np.ndarray], masked: np.ndarray, temperature: float, distil: bool) -> float:
    """Equations 5 to 9, query by query."""
    whole = sum(PARTS[head] * table for head, table in scores.items())
    first = second = 0.0
    for row in range(len(whole)):
        kept = [n for n in range(whole.shape[1]) if n == row or not masked[row, n]]
        for head, table in {**scores, "inter": whole}.items():
            weight = LOSSES.get(head, 1.0)
            logs = dict(zip(kept, _log_softmax(table[row, kept] / temperature), strict=True))
            first -= weight * logs[row] / 4
            if head != "inter":
                share = np.exp(_log_softmax(whole[row, kept] / temperature))
                second -= weight * float(share @ np.array([logs[n] for n in kept])) / 3
    return (first + second) / 2 / len(whole) if distil else first / len(whole)


@pytest.mark.parametrize("distil", [True, False])
def test_the_loss_is_that_of_the_paper(distil: bool) -> None:
    scores = _scores()
    masked = np.random.default_rng(1).random((3, 6)) < 0.3
    loss, told = self_knowledge(
        scores, torch.arange(3), 0.3, distil=distil, mask_BN=torch.from_numpy(masked)
    )  # fmt: skip
    plain = {head: table.detach().numpy() for head, table in scores.items()}
    assert float(loss.detach()) == pytest.approx(_slow(plain, masked, 0.3, distil), abs=1e-10)
    assert ("distilled" in told) is distil
    loss.backward()
    # the teacher is taken as given: finite differences of a loss whose teacher is held agree with the gradient
    for head, table in scores.items():
        assert table.grad is not None
        for place in ((0, 1), (2, 5), (1, 1)):
            assert float(table.grad[place]) == pytest.approx(_slope(plain, head, place, masked, distil), abs=1e-6)


def _slope(plain: dict[str, np.ndarray], head: str, place: tuple[int, int], masked: np.ndarray, distil: bool) -> float:
    values = []
    for step in (1e-5, -1e-5):
        moved = {name: table.copy() for name, table in plain.items()}
        moved[head][place] += step
        values.append(_with_held_teacher(moved, plain, masked, distil))
    return (values[0] - values[1]) / 2e-5


def _with_held_teacher(
    moved: dict[str, np.ndarray], held: dict[str, np.ndarray], masked: np.ndarray, distil: bool
) -> float:
    first = _slow(moved, masked, 0.3, False)
    if not distil:
        return first
    whole = sum(PARTS[head] * table for head, table in held.items())
    second = 0.0
    for head, table in moved.items():
        for row in range(len(table)):
            kept = [n for n in range(table.shape[1]) if n == row or not masked[row, n]]
            share = np.exp(_log_softmax(whole[row, kept] / 0.3))
            second -= LOSSES[head] * float(share @ _log_softmax(table[row, kept] / 0.3)) / 3
    return (first + second / len(whole)) / 2


def test_no_gradient_reaches_the_teacher() -> None:
    """Row 13."""
    student, teacher = (table.requires_grad_() for table in torch.randn(2, 4, 5, dtype=torch.double))
    following(student, teacher, torch.arange(4), 0.1).backward()
    assert teacher.grad is None


def test_who_says_the_same_as_the_teacher_is_left_alone() -> None:
    """Row 22."""
    scores = torch.randn(4, 5, dtype=torch.double)
    student = scores.clone().requires_grad_()
    following(student, scores, torch.arange(4), 0.05).backward()
    assert student.grad is not None
    assert float(student.grad.abs().max()) < 1e-12


def test_a_head_that_is_not_there_takes_no_part() -> None:
    scores = {head: table for head, table in _scores().items() if head != MULTI}
    assert torch.equal(together(scores), scores[DENSE] + 0.3 * scores[LEXICAL])
    loss, told = self_knowledge(scores, torch.arange(3), 0.3)
    assert MULTI not in told
    assert bool(loss.isfinite())
