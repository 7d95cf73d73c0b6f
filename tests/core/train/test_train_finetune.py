"""Fine-tuning teaches what it is given; the second round begins where the first did; noise is kept out."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.models.bundles import Bundle
from core.train.backbone import Backbone
from core.train.dense_search import DenseSearch, nearest
from core.train.finetune import FineTune, FineTuneSettings, Frozen
from core.train.loop import Callback, Settings, train
from core.train.measure import dense_ndcg
from core.train.negatives import Mining, Ranked, mine
from core.train.pool import make as make_pool
from core.train.two_stage import two_stage
from core.train.types import TITLE, WRITTEN, Candidates, Piece, Question
from tests.core.train.made import documents, fresh
from tests.tiny import sentence, topics

SEEDS = (0, 1, 2)


def _library(count: int = 48) -> tuple[list[Piece], list[Question]]:
    """Documents, and a question about the things of each, in words of chance."""
    pieces = documents(count, sentences=3)
    luck, known = random.Random(0), list(topics().values())
    questions = []
    for number, piece in enumerate(pieces):
        # the same draws as `documents` made, so that the question is about the very things
        left, right = luck.sample(known, 2)
        things = [*luck.sample(left, 2), luck.choice(right)]
        for _ in range(3):
            sentence(luck.sample(things, 3), luck)
            luck.choice("abcdefgh")
        text = " ".join(random.Random(1000 + number).choice(thing) for thing in things)
        questions.append(Question(text, piece.id, WRITTEN, piece.group))
    return pieces, questions


def _words(questions: list[Question], pieces: list[Piece]):  # type: ignore[no-untyped-def]
    """A `Search` by the number of words in common."""
    bags = {piece.id: set(piece.text.lower().replace(".", "").split()) for piece in pieces}

    def search(texts: list[str], depth: int) -> list[Ranked]:
        ranked = []
        for text in texts:
            scores = {id: float(len(bag & set(text.lower().split()))) for id, bag in bags.items()}
            ranked.append(sorted(scores.items(), key=lambda found: (-found[1], found[0]))[:depth])
        return ranked

    return search


def _settings(**changed: object) -> FineTuneSettings:
    return replace(FineTuneSettings(questions=16, negatives=3, chunk=64, passage_tokens=48, temperature=0.1), **changed)  # type: ignore[arg-type]


def _frozen(backbone: Backbone, questions: list[Question], pieces: list[Piece]) -> Frozen:
    return Frozen(
        backbone.vectors([q.text for q in questions], "query"), backbone.vectors([piece.input for piece in pieces])
    )


def _ndcg(backbone: Backbone, questions: list[Question], pieces: list[Piece]) -> float:
    return float(dense_ndcg(make_pool(pieces, questions), backbone.vectors).mean())


def test_it_learns_to_find_and_holds_for_questions_it_has_not_seen(tiny_bundle: Bundle, tmp_path: Path) -> None:
    pieces, questions = _library(96)
    seen, held = questions[::2], questions[1::2]
    for seed in SEEDS:
        backbone = fresh(tiny_bundle, seed=seed)
        before = _ndcg(backbone, held, pieces)
        candidates = mine(seen, pieces, _words(seen, pieces), Mining(ceiling=2.0))
        task = FineTune(backbone, seen, candidates, pieces, _settings())
        train(task, Settings(30, 2e-3, seed=seed), tmp_path / str(seed))
        assert _ndcg(backbone, held, pieces) > before + 0.1


def test_a_frozen_side_is_not_touched_and_the_other_learns(tiny_bundle: Bundle, tmp_path: Path) -> None:
    pieces, questions = _library(32)
    backbone = fresh(tiny_bundle)
    frozen = _frozen(backbone, questions, pieces)
    candidates = mine(questions, pieces, _words(questions, pieces), Mining(ceiling=2.0))
    task = FineTune(backbone, questions, candidates, pieces, _settings(side="query"), frozen=frozen)
    record = train(task, Settings(30, 2e-3), tmp_path)
    after = backbone.vectors([q.text for q in questions], "query")

    def share(queries: np.ndarray) -> float:
        places, _ = nearest(queries, frozen.pieces, 5)
        return float(np.mean([q.positive - 1 in row for q, row in zip(questions, places.tolist(), strict=True)]))

    assert share(after) > share(frozen.questions) + 0.2
    assert record.step == 30


def test_the_anchor_keeps_vectors_near(tiny_bundle: Bundle, tmp_path: Path) -> None:
    pieces, questions = _library(32)
    moved = []
    for weight in (0.0, 30.0):
        backbone = fresh(tiny_bundle)
        frozen = _frozen(backbone, questions, pieces)
        candidates = mine(questions, pieces, _words(questions, pieces), Mining(ceiling=2.0))
        task = FineTune(backbone, questions, candidates, pieces, _settings(anchor=weight), frozen=frozen)
        train(task, Settings(12, 2e-3), tmp_path / str(weight))
        after = backbone.vectors([piece.input for piece in pieces])
        moved.append(1 - float((after * frozen.pieces).sum(1).mean()))
    assert moved[1] < moved[0] / 2


def test_a_student_of_a_good_teacher_learns_and_of_a_shuffled_one_does_not(tiny_bundle: Bundle, tmp_path: Path) -> None:
    pieces, questions = _library()
    gains = []
    for shuffled in (False, True):
        backbone = fresh(tiny_bundle)
        before = _ndcg(backbone, questions, pieces)
        candidates = mine(questions, pieces, _words(questions, pieces), Mining(ceiling=2.0, count=6))
        if shuffled:
            luck = random.Random(0)
            candidates = tuple(
                replace(one, teacher=tuple(luck.sample(one.teacher, len(one.teacher)))) for one in candidates
            )
        task = FineTune(backbone, questions, candidates, pieces, _settings(loss="kl", contrast=0.0, negatives=6))
        train(task, Settings(30, 2e-3), tmp_path / str(shuffled))
        gains.append(_ndcg(backbone, questions, pieces) - before)
    assert gains[0] > 0.05
    assert gains[0] > gains[1] + 0.05


def test_the_gradient_is_that_of_the_loss_written_out(tiny_bundle: Bundle) -> None:
    """One step against one graph over the whole batch."""
    pieces, questions = _library(8)
    backbone = fresh(tiny_bundle, dropout=0.0).double()
    frozen = _frozen(fresh(tiny_bundle, seed=3), questions, pieces)
    candidates = [Candidates(i, q.positive, (1 + (i + 3) % 8,), (2.0, 1.0)) for i, q in enumerate(questions)]
    settings = _settings(loss="kl", contrast=0.3, anchor=0.5, negatives=1, chunk=3, keep_words=1.0)
    task = FineTune(backbone, questions, candidates, pieces, settings, frozen=frozen)
    told = task.step(range(8))
    found = {name: p.grad.clone() for name, p in backbone.named_parameters() if p.grad is not None}
    backbone.zero_grad()
    q_BD = backbone.embed(backbone.ids([q.text for q in questions], "query", 48))
    passages = [pieces[c.positive - 1] for c in candidates] + [pieces[c.negatives[0] - 1] for c in candidates]
    p_ND = backbone.embed(backbone.ids([p.input for p in passages], max_tokens=48))
    total = torch.zeros((), dtype=q_BD.dtype)
    for i, one in enumerate(candidates):
        scores = p_ND @ q_BD[i] / 0.1
        wrong = [j for j in range(16) if passages[j].id != one.positive or j == i]
        total = total - 0.3 * (scores[i] - scores[wrong].logsumexp(0)) / 8
        own = torch.stack([scores[i], scores[8 + i]])
        share = torch.softmax(torch.tensor([1.0, 0.0]) / 0.3, 0).to(own.dtype)
        total = total + (share * (share.log() - own.log_softmax(0))).sum() / 8
    first_q = torch.from_numpy(frozen.questions).to(q_BD)
    first_p = torch.from_numpy(frozen.pieces[[p.id - 1 for p in passages]]).to(p_ND)
    apart = ((q_BD - first_q).square().sum(1).mean() + (p_ND - first_p).square().sum(1).mean()) / 2
    (total + 0.5 * apart).backward()
    assert told["loss"] == pytest.approx(float((total + 0.5 * apart).detach()), rel=1e-5)
    for name, parameter in backbone.named_parameters():
        if parameter.grad is not None:
            norm = parameter.grad.norm()
            assert float((found[name] - parameter.grad).norm()) <= 1e-5 * float(norm) + 1e-9


def test_the_words_of_a_question_are_taken_out_of_its_passage(tiny_bundle: Bundle) -> None:
    title = "The queen of bees"
    pieces = [replace(piece, title=title, input=f"{title}\n{piece.text}") for piece in documents(4)]
    questions = [Question(title, piece.id, TITLE, piece.group) for piece in pieces]
    candidates = [Candidates(i, q.positive, (1 + (i + 1) % 4,)) for i, q in enumerate(questions)]
    backbone = fresh(tiny_bundle)
    for keep, words in ((0.0, False), (1.0, True)):
        task = FineTune(backbone, questions, candidates, pieces, _settings(keep_words=keep))
        drawn = task._draw(candidates, np.random.default_rng(0))
        without = backbone.ids([pieces[0].text], max_tokens=48)[0]
        assert (drawn.passage_ids[0] != without) is words


def test_what_cannot_be_trained_is_refused(tiny_bundle: Bundle) -> None:
    pieces, questions = _library(4)
    backbone = fresh(tiny_bundle)
    with pytest.raises(ValueError, match="candidates"):
        FineTune(backbone, questions, [], pieces, _settings())
    with pytest.raises(ValueError, match="first encoder"):
        FineTune(backbone, questions, [Candidates(0, 1, (2,))], pieces, _settings(anchor=1.0))
    task = FineTune(backbone, questions, [Candidates(0, 1, (2,))], pieces, _settings())
    with pytest.raises(ValueError, match="other questions"):
        task.use([Candidates(1, 2, (3,))])


def test_the_second_round_begins_where_the_first_did(tiny_bundle: Bundle, tmp_path: Path) -> None:
    pieces, questions = _library(32)
    backbone = fresh(tiny_bundle)
    start = backbone.weights()
    done = two_stage(
        backbone, questions, pieces, _words(questions, pieces), tmp_path, settings=_settings(),
        training=Settings(10, 2e-3), mining=Mining(count=4, ceiling=2.0),
    )  # fmt: skip
    assert done.began == done.began_again
    assert any(not torch.equal(start[name], tensor) for name, tensor in backbone.weights().items())
    assert set(done.nb) == {f"nb-recall_{n}@200" for n in (1, 5, 10, 50)}
    assert all(0 <= value <= 1 for value in done.nb.values())
    ended = backbone.weights()
    again = fresh(tiny_bundle)
    repeated = two_stage(
        again, questions, pieces, _words(questions, pieces), tmp_path, settings=_settings(),
        training=Settings(10, 2e-3), mining=Mining(count=4, ceiling=2.0),
    )  # fmt: skip
    assert repeated.second.step == done.second.step
    assert all(torch.equal(ended[name], tensor) for name, tensor in again.weights().items())


def test_the_second_round_finds_more_than_the_first(tiny_bundle: Bundle, tmp_path: Path) -> None:
    """On questions that neither has seen, for every seed: negatives that the first round's encoder finds teach more."""
    pieces, questions = _library(64)
    seen, held = questions[::2], questions[1::2]
    for seed in SEEDS:
        backbone, found = fresh(tiny_bundle, seed=seed), dict[str, float]()

        class AtEnd(Callback):
            def __init__(self, stage: str, backbone: Backbone = backbone, found: dict[str, float] = found) -> None:
                self.stage, self.backbone, self.found = stage, backbone, found

            def on_checkpoint(self, path: Path, step: int) -> None:
                self.found[self.stage] = _ndcg(self.backbone, held, pieces)

        two_stage(
            backbone, seen, pieces, _words(seen, pieces), tmp_path / str(seed), settings=_settings(),
            training=Settings(12, 2e-3, seed=seed), mining=Mining(count=6, ceiling=1.0),
            callbacks=lambda task, stage, watch=AtEnd: (watch(stage),),
        )  # fmt: skip
        assert found["second"] > found["first"]


def test_negatives_that_are_answers_do_harm(tiny_bundle: Bundle, tmp_path: Path) -> None:
    """Every document stands four times, nearly the same: without de-noising its other copies are trained against, and
    the question finds fewer of them."""
    own, questions = _library(16)
    pieces = [*own, *(_copy(piece, number) for number in (1, 2, 3) for piece in own)]
    found: dict[bool, list[float]] = {True: [], False: []}
    for denoise in (True, False):
        for seed in SEEDS:
            backbone = fresh(tiny_bundle, seed=seed)
            mining = Mining(count=3, ceiling=10.0, denoise=denoise)
            candidates = mine(questions, pieces, _copies_first(pieces), mining)
            task = FineTune(backbone, questions, candidates, pieces, _settings())
            train(task, Settings(15, 3e-3, seed=seed), tmp_path / f"{denoise}-{seed}")
            found[denoise].append(_answers(backbone, questions, pieces))
    assert all(clean > noisy for clean, noisy in zip(found[True], found[False], strict=True))


def _copy(piece: Piece, number: int) -> Piece:
    text = " ".join(piece.text.split()[number:]) + f" copy {number}"
    return replace(piece, id=piece.id + 100 * number, group=piece.group + 100 * number, text=text, input=text)


def _copies_first(pieces: list[Piece]):  # type: ignore[no-untyped-def]
    """A search that finds a passage, then its copies, then the others: as a good one would."""
    places = iter(range(16))

    def search(texts: list[str], depth: int) -> list[Ranked]:
        ranked = []
        for _, place in zip(texts, places, strict=False):
            order = sorted(pieces, key=lambda piece: (piece.id % 100 != place + 1, piece.id))
            ranked.append([(piece.id, 1.0 - i / 100) for i, piece in enumerate(order)])
        return ranked

    return search


def _answers(backbone: Backbone, questions: list[Question], pieces: list[Piece]) -> float:
    """Share of the four copies that are among the four nearest."""
    found = DenseSearch(backbone.vectors, pieces)([q.text for q in questions], 4)
    return float(np.mean([id % 100 == q.positive for q, one in zip(questions, found, strict=True) for id, _ in one]))
