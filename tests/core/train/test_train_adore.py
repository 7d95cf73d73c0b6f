"""ADORE: each step searches with the weights of the moment, and only the question side moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.models.bundles import Bundle
from core.train.adore import Adore, AdoreSettings
from core.train.alike import alike, shingles
from core.train.backbone import Backbone
from core.train.bundle import weights_hash
from core.train.finetune import Frozen
from core.train.loop import Callback, Settings, train, trained
from core.train.types import Piece, Question
from tests.core.train.asking import questions
from tests.core.train.made import documents

SEEDS = (0, 1, 2)
SMALL = AdoreSettings(questions=8, chunk=3, retrieved=5, query_tokens=24)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def frozen_by(backbone: Backbone, asked: list[Question], pieces: list[Piece]) -> Frozen:
    return Frozen(
        backbone.vectors([q.text for q in asked], "query"), backbone.vectors([piece.input for piece in pieces])
    )


def made(bundle: Bundle, seed: int = 0, count: int = 60, teacher: Any = None, **changed: Any) -> Adore:
    backbone = Backbone.open(bundle, "cpu")
    pieces = documents(count, sentences=3, seed=seed)
    copy = f"{pieces[3].text} Indeed."  # not known as one
    pieces += [replace(pieces[3], id=count + 1, group=count + 1, document=count + 1, text=copy, input=copy)]
    pieces += [replace(pieces[4], id=count + 2, text="Only a neighbour.", input="Only a neighbour.")]  # same section
    asked = questions(pieces[:count], seed=seed + 100)
    settings = replace(SMALL, **changed)
    return Adore(backbone, asked, pieces, settings, frozen_by(backbone, asked, pieces), teacher=teacher)


def expected(task: Adore, number: int, query: Any) -> list[int]:
    """What should be retrieved, by loops in double precision."""
    question, settings = task.questions[number], task.settings
    passages, first = task.frozen.pieces.astype(np.float64), task.frozen.questions[number].astype(np.float64)
    own = next(place for place, piece in enumerate(task.pieces) if piece.id == question.positive)
    positive, highest = task.pieces[own], float(first @ passages[own])
    floor = float(np.mean([first @ passage for passage in passages]))
    scored = []
    for place, piece in enumerate(task.pieces):
        answer = float(first @ passages[place]) > highest - (1 - settings.ceiling) * abs(highest - floor)
        answer |= (piece.group, piece.section) == (positive.group, positive.section)
        answer |= alike(shingles(piece.text), shingles(positive.text))
        if place != own and not (answer and settings.denoise):
            scored.append((-float(query.astype(np.float64) @ passages[place]), place))
    return [place for _, place in sorted(scored)[: settings.retrieved]]


@pytest.mark.parametrize("denoise", [True, False])
def test_it_retrieves_by_the_question_of_the_moment_without_probable_answers(
    tiny_bundle: Bundle, denoise: bool
) -> None:
    task = made(tiny_bundle, denoise=denoise)
    numbers = list(range(12))
    moved = task.frozen.questions[numbers] + np.random.default_rng(0).normal(0, 0.05, (12, 64)).astype(np.float32)
    found = task.retrieved(numbers, torch.from_numpy(moved))
    assert found == [expected(task, number, query) for number, query in zip(numbers, moved, strict=True)]
    assert found != task.retrieved(numbers, torch.from_numpy(task.frozen.questions[numbers]))
    assert (60 in found[3]) != denoise  # the copy


def test_cosines_that_are_all_high_leave_negatives(tiny_bundle: Bundle) -> None:
    """With a part that all vectors share hardly a passage falls below 95 % of the positive's cosine as such."""
    task = made(tiny_bundle)
    common = np.zeros((1, 64), np.float32)
    common[0, 0] = 4.0
    unit = [own + common for own in (task.frozen.questions, task.frozen.pieces)]
    questions_QD, pieces_PD = (own / np.linalg.norm(own, axis=1, keepdims=True) for own in unit)
    assert (questions_QD @ pieces_PD.T).min() > 0.85
    narrow = Adore(task.backbone, task.questions, task.pieces, task.settings, Frozen(questions_QD, pieces_PD))
    numbers = list(range(12))
    assert any(narrow.retrieved(numbers, torch.from_numpy(questions_QD[numbers])))
    never = narrow._never(numbers).float().mean(1).numpy()
    same = task._never(numbers).float().mean(1).numpy()
    np.testing.assert_allclose(never, same, atol=0.2)  # moving all vectors alike changes little


@pytest.mark.parametrize("loss", ["infonce", "kl"])
def test_loss_and_gradient_are_those_of_a_slow_reference(tiny_bundle: Bundle, loss: str) -> None:
    """Over lists of one's own, in double precision, with weights of questions, anchor and teacher."""
    luck = np.random.default_rng(1)
    teacher = {number: {int(id): float(luck.random()) for id in luck.integers(1, 61, 30)} for number in range(0, 12, 2)}
    task = made(tiny_bundle, teacher=teacher, loss=loss, anchor=0.3, questions=12)
    task.questions = [replace(q, weight=1.0 + number % 3) for number, q in enumerate(task.questions)]
    moved = Backbone.open(tiny_bundle, "cpu")
    with torch.no_grad():
        for weight in moved.parameters():
            weight += 0.01 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(2))
    task.backbone.load_weights(moved.weights())
    told = task.step(range(12))
    weights = trained(task.modules)
    gradients = {name: w.grad.double().clone() for name, w in weights.items() if w.grad is not None}
    for weight in weights.values():
        weight.grad = None
    query = task.backbone.embed(task.backbone.ids([q.text for q in task.questions[:12]], "query", 24)).double()
    total, first = reference(task, query)
    assert told["loss"] == pytest.approx(float(total.detach()), rel=1e-4)
    assert told["infonce"] == pytest.approx(float(first.detach()), rel=1e-4)
    total.backward()
    for name, weight in trained(task.modules).items():
        assert weight.grad is not None
        assert torch.allclose(gradients[name], weight.grad.double(), rtol=1e-3, atol=1e-5), name


def reference(task: Adore, query: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    passages = torch.from_numpy(task.frozen.pieces).double()
    place = {piece.id: at for at, piece in enumerate(task.pieces)}
    settings, sums, weight_sums = task.settings, [0.0, 0.0, 0.0], [0.0, 0.0]
    for number in range(12):
        question, own = task.questions[number], place[task.questions[number].positive]
        places = [own, *expected(task, number, query[number].detach().numpy().astype(np.float32))]
        logits = torch.stack([query[number] @ passages[one] for one in places]) / settings.temperature
        sums[0] = sums[0] - question.weight * (logits[0] - logits.logsumexp(0))
        weight_sums[0] += question.weight
        sums[2] = sums[2] + (query[number] - torch.from_numpy(task.frozen.questions[number]).double()).square().sum()
        if number in task._teacher:
            known = task._teacher[number]
            low, high = min(known.values()), max(known.values())
            scores = [(known.get(task.pieces[one].id, low) - low) / (high - low) for one in places]
            shares = torch.tensor([math.exp(score / settings.teacher_temperature) for score in scores]).double()
            shares = shares / shares.sum()
            sums[1] = sums[1] + question.weight * (shares * (shares.log() - logits.log_softmax(0))).sum()
            weight_sums[1] += question.weight
    first, apart = sums[0] / weight_sums[0], sums[2] / 12
    total = first if settings.loss == "infonce" else sums[1] / weight_sums[1] + settings.contrast * first
    return total + settings.anchor * apart, first


def rank(backbone: Backbone, asked: list[Question], passages: Any) -> float:
    """Mean reciprocal rank of the right passage among vectors that stay."""
    scores = backbone.vectors([q.text for q in asked], "query") @ passages.T
    own = np.array([q.positive - 1 for q in asked])
    return float(np.mean(1 / (1 + (scores > scores[np.arange(len(own)), own][:, None]).sum(1))))


def disturb(backbone: Backbone, seed: int) -> None:
    luck = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in backbone.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=luck))


def learn(task: Any, folder: Path, seed: int, *watch: Callback, steps: int = 25) -> None:
    train(task, Settings(steps, 1e-3, seed=seed, checkpoint_every=1000), folder, callbacks=watch)


def test_real_time_negatives_lift_questions_that_were_not_trained_on(tiny_bundle: Bundle, tmp_path: Path) -> None:
    """Over vectors that do not move, for every seed. The question side begins disturbed: the tiny encoder finds nearly
    all by itself."""
    for seed in SEEDS:
        task = made(tiny_bundle, seed, 120, retrieved=4, denoise=False)
        passages = task.frozen.pieces.copy()
        held = questions(list(task.pieces[:120]), seed=seed + 500)
        disturb(task.backbone, seed)
        before = rank(task.backbone, held, passages)
        learn(task, tmp_path / str(seed), seed)
        assert rank(task.backbone, held, passages) > before + 0.1
        assert np.array_equal(passages, task.frozen.pieces)


def test_the_anchor_holds_and_the_run_is_the_same_again(tiny_bundle: Bundle, tmp_path: Path) -> None:
    moved, hashes = {}, set()
    for name, weight in (("free", 0.0), ("held", 5.0), ("again", 5.0)):
        task = made(tiny_bundle, anchor=weight)
        watch = Losses()
        learn(task, tmp_path / name, 0, watch, steps=12)
        now = task.backbone.vectors([q.text for q in task.questions], "query")
        moved[name] = float(np.square(now - task.frozen.questions).sum(1).mean())
        hashes.add(weights_hash(task.backbone.weights()))
        assert ("anchor" in watch.told[-1]) == bool(weight)
    assert 0 < moved["held"] == moved["again"] < moved["free"]
    assert len(hashes) == 2


class Losses(Callback):
    def __init__(self) -> None:
        self.told: list[Mapping[str, float]] = []

    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        self.told.append(losses)


def test_it_says_what_it_lacks_and_few_passages_are_enough(tiny_bundle: Bundle) -> None:
    task = made(tiny_bundle)
    with pytest.raises(ValueError, match="no question"):
        Adore(task.backbone, task.questions, task.pieces[:0], SMALL, task.frozen)
    with pytest.raises(ValueError, match="teacher"):
        made(tiny_bundle, loss="kl")
    few = made(tiny_bundle, retrieved=500)
    assert math.isfinite(few.step(range(8))["loss"])
    assert few.state() == {}
    assert few.data_hash() == made(tiny_bundle, retrieved=500).data_hash() != task.data_hash()
    batches = task.batches(0, np.random.default_rng(0))
    assert sorted(place for batch in batches for place in batch) == list(range(60))
