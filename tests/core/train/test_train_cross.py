"""Training a cross-encoder: losses and gradients as written out, and it comes to rank what it has not seen."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.encode.cross_encoder import CrossEncoder
from core.encode.onnx import FP32
from core.encode.pairs import Pair
from core.models.bundles import RERANKER, Bundle
from core.train.backbone import Backbone
from core.train.cross import Cross, CrossSettings, apart, listwise, score
from core.train.cross_bundle import save_reranker
from core.train.cross_model import CrossModel
from core.train.loop import Settings, train
from core.train.types import SENTENCE, WRITTEN, Candidates, Piece, Question
from tests.core.train.asking import ByWords
from tests.tiny import pairs

SEEDS = (0, 1, 2)
HELD, SEEN = 60, 2_400


def model(bundle: Bundle, seed: int = 0, layers: int = 0) -> CrossModel:
    return CrossModel.from_encoder(bundle, seed=seed, layers=layers, pair_tokens=48, question_tokens=16, device="cpu")


def library(count: int, negatives: int = 5) -> tuple[list[Piece], list[Question], list[Candidates]]:
    """Sentences, a paraphrase of each as its question, and sentences of other topics as what a search took for it."""
    luck = random.Random(5)
    left, right, topic = pairs(count, luck)
    pieces = [Piece(n, n, n, text, text, "", (), "en") for n, text in enumerate(left)]
    questions = [Question(text, n, WRITTEN, n, weight=1.0 + n % 3) for n, text in enumerate(right)]
    candidates = []
    for n in range(count):
        wrong: list[int] = []
        while len(wrong) < negatives:
            other = luck.randrange(count)
            wrong += [other] if topic[other] != topic[n] and other not in wrong else []
        candidates.append(Candidates(n, n, tuple(wrong)))
    return pieces, questions, candidates


def test_the_losses_are_those_written_out() -> None:
    left, right = (torch.tensor(row, dtype=torch.float64) for row in ([2.0, -1.0, 0.5], [1.0, 0.0, -2.0]))
    shares = [[math.exp(x) / sum(math.exp(y) for y in row) for x in row] for row in (left.tolist(), right.tolist())]
    assert float(listwise(left)) == pytest.approx(-math.log(shares[0][0]))
    one, other = (sum(p * math.log(p / q) for p, q in zip(*pair, strict=True)) for pair in (shares, shares[::-1]))
    assert float(apart(left, right)) == pytest.approx((one + other) / 2)
    assert float(apart(left, left + 3.0)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_the_gradient_is_that_of_the_whole_batch(tiny_bundle: Bundle, chunk: int) -> None:
    """In parts of any size, against one graph over all pairs; without dropout R-drop's two passes are one."""
    pieces, questions, candidates = library(30, negatives=4)
    candidates = [replace(one, negatives=one.negatives[: 2 + n % 3]) for n, one in enumerate(candidates)]
    one = model(tiny_bundle).double()
    task = Cross(one, questions, candidates, pieces, CrossSettings(negatives=4, chunk=chunk, r_drop=0.7))
    told = task.step(range(5))
    found = {name: p.grad.clone() for name, p in one.named_parameters() if p.grad is not None}
    one.zero_grad()
    total = torch.zeros(())
    for n in range(5):
        texts = [(questions[n].text, pieces[id].input) for id in (n, *candidates[n].negatives)]
        total = total - questions[n].weight * one(one.joined(texts)).log_softmax(0)[0]
    loss = total / sum(questions[n].weight for n in range(5))
    loss.backward()
    assert told["loss"] == pytest.approx(float(loss.detach()), rel=1e-5)
    assert told["r_drop"] == pytest.approx(0.0, abs=1e-9)
    assert found
    for name, parameter in one.named_parameters():
        if parameter.grad is not None:
            torch.testing.assert_close(found[name], parameter.grad, rtol=1e-4, atol=1e-6)


def test_r_drop_adds_what_two_passes_differ_by(tiny_bundle: Bundle) -> None:
    pieces, questions, candidates = library(20)
    one = model(tiny_bundle)
    for module in one.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.3
    told = []
    for weight in (0.0, 2.0):
        one.train()
        torch.manual_seed(0)
        told.append(Cross(one, questions, candidates, pieces, CrossSettings(r_drop=weight)).step(range(8)))
    assert "r_drop" not in told[0]
    assert told[1]["r_drop"] > 0
    assert told[1]["loss"] == pytest.approx(told[1]["listwise"] + 2 * told[1]["r_drop"])


def test_of_many_scored_the_hardest_are_learnt_from(tiny_bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces, questions, candidates = library(40, negatives=12)
    one = model(tiny_bundle)
    task = Cross(one, questions, candidates[:1], pieces, CrossSettings(negatives=3, scored=12, r_drop=0.0))
    seen: list[Sequence[Pair]] = []
    forward = one.forward
    monkeypatch.setattr(one, "forward", lambda some: (seen.append(some), forward(some))[1])
    task.step([0])
    texts = [(questions[0].text, pieces[id].input) for id in candidates[0].negatives]
    hardest = np.argsort(-score(one, texts))[:3]
    learnt = next(some for some in seen if len(some) == 4)
    assert [pair.ids for pair in learnt[1:]] == [one.joined([texts[place]])[0].ids for place in hardest]
    assert learnt[0].ids == one.joined([(questions[0].text, pieces[0].input)])[0].ids


def test_a_question_is_not_found_by_its_own_words_in_its_passage(tiny_bundle: Bundle) -> None:
    """What was taken out of the passage is not there when it is learnt from."""
    text = "the bee and the hive need honey. the ship left the harbour with cargo."
    pieces = [Piece(0, 0, 0, text, text, "", (), "en"), Piece(1, 1, 1, "snow", "snow", "", (), "en")]
    asked = [Question("the bee and the hive need honey", 0, SENTENCE, 0)]
    one = model(tiny_bundle)
    for share, wanted in ((1.0, text), (0.0, ". the ship left the harbour with cargo.")):
        task = Cross(one, asked, [Candidates(0, 0, (1,))], pieces, CrossSettings(keep_words=share))
        drawn = task._drawn(task.candidates[0], np.random.default_rng(0))
        assert drawn[0].ids == one.joined([(asked[0].text, wanted)])[0].ids


def test_it_learns_to_rank_what_it_has_not_seen(tiny_bundle: Bundle, tmp_path: Path) -> None:
    """Held-out questions, each with 20 sentences: better than untrained, and than the words they have in common."""
    pieces, questions, candidates = library(HELD + SEEN)
    luck = random.Random(0)
    lists = [luck.sample([n, *candidates[n].negatives, *range(n + 1, n + 15)], 20) for n in range(HELD)]

    def found(one: CrossModel) -> float:
        places = []
        for n, ids in enumerate(lists):
            scores = score(one, [(questions[n].text, pieces[id].input) for id in ids])
            places.append(int((scores > scores[ids.index(n)]).sum()))
        return float(np.mean([1 / (1 + place) for place in places]))

    ranked = [ByWords([pieces[id] for id in ids])([questions[n].text], 20)[0] for n, ids in enumerate(lists)]
    by_words = np.mean([1 / (1 + [id for id, _ in own].index(n)) for n, own in enumerate(ranked)])
    gained, seen = [], candidates[HELD:]
    for seed in SEEDS:
        one = model(tiny_bundle, seed)
        before = found(one)
        task = Cross(one, questions, seen, pieces, CrossSettings(questions=16, negatives=5, chunk=96, r_drop=0.0))
        train(task, Settings(300, 1e-3, seed=seed), tmp_path / str(seed))
        gained.append((found(one) - before, found(one) - by_words))
    assert min(gain for gain, _ in gained) > 0.15
    assert np.mean([gain for _, gain in gained]) > 0.05


def test_it_begins_with_the_encoder_and_with_as_many_of_its_layers_as_wanted(tiny_bundle: Bundle) -> None:
    backbone = Backbone.open(tiny_bundle, "cpu")
    weights = backbone.weights()
    one, two = model(tiny_bundle, layers=1), model(tiny_bundle)
    assert (one.config["num_hidden_layers"], two.config["num_hidden_layers"]) == (1, 2)
    name = "encoder.layer.0.output.dense.weight"
    torch.testing.assert_close(one.weights()[f"bert.{name}"], weights[name])
    moved = {key: tensor + 0.5 for key, tensor in weights.items()}
    taken = CrossModel.from_encoder(tiny_bundle, weights=moved, layers=1, device="cpu").weights()
    torch.testing.assert_close(taken[f"bert.{name}"], moved[name])
    with pytest.raises(ValueError, match="another model"):
        CrossModel.from_encoder(tiny_bundle, weights={"x": moved[name]}, device="cpu")
    texts = [("bee", "hive"), ("bee", "ship")]
    np.testing.assert_array_equal(score(model(tiny_bundle, 4), texts), score(model(tiny_bundle, 4), texts))
    assert (score(model(tiny_bundle, 4), texts) != score(model(tiny_bundle, 5), texts)).all()


def test_what_is_kept_scores_as_what_was_trained(tiny_bundle: Bundle, tmp_path: Path) -> None:
    one = model(tiny_bundle, layers=1)
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    bundle = save_reranker(one, tmp_path, {"recipe": "some"}, FP32)
    assert bundle.kind == RERANKER
    assert bundle.id.startswith("tiny-reranker+")
    assert save_reranker(one, tmp_path, {}, FP32).id == bundle.id
    texts = [("where is honey", "the bees in the hive " * times) for times in (1, 3, 30)]
    np.testing.assert_allclose(CrossEncoder(bundle, threads=2)(texts), score(one, texts), atol=1e-5)
    again = CrossModel.open(bundle, "cpu")
    np.testing.assert_allclose(score(again, texts), score(one, texts), atol=1e-6)
    assert save_reranker(again, tmp_path, {}, FP32).id == bundle.id
