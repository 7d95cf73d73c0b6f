"""ANCE: the encoder's own negatives teach most, they grow stale, they are renewed, and a killed run makes the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.base.errors import Cancelled, KnownError
from core.base.events import Control
from core.models.bundles import Bundle
from core.train import handover
from core.train.ance import FOLDER, LOG, Ance
from core.train.bundle import weights_hash
from core.train.finetune import FineTune
from core.train.loop import Callback, trained
from core.train.negatives import Mining, mine
from core.train.refresh import Refresher, overlap
from core.train.types import Candidates
from tests.core.train.ance_run import DEPTH, STEPS, ance, made_task, mining, run, settings
from tests.core.train.asking import AtRandom, ByWords, questions

SEEDS = (0, 1, 2)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def refresher(task: FineTune, how: Mining | None = None) -> Refresher:
    limit = task.settings.query_tokens
    return Refresher(task.backbone, task.questions, task.pieces, task.piece_ids, limit, how or mining())


def best(task: FineTune, depth: int = DEPTH) -> dict[int, list[int]]:
    """What the present weights rank first, by loops."""
    passages = task.backbone.vectors_of(task.piece_ids).astype(np.float64)
    asked = task.backbone.vectors_of(task.backbone.ids([q.text for q in task.questions], "query", 24))
    found = {}
    for number, query in enumerate(asked.astype(np.float64)):
        scores = [(-float(query @ passage), place) for place, passage in enumerate(passages)]
        found[number] = [task.pieces[place].id for _, place in sorted(scores)[:depth]]
    return found


def loss_and_norm(task: FineTune, candidates: Sequence[Candidates]) -> tuple[float, float]:
    """Means over steps of two questions, so that their own negatives count and not the batch."""
    task.use(candidates)
    weights = list(trained(task.modules).values())
    losses, norms = [], []
    for place in range(0, min(32, len(candidates) - 1), 2):
        torch.manual_seed(place)
        losses.append(task.step([place, place + 1])["loss"])
        norms.append(float(torch.nn.utils.get_total_norm([w.grad for w in weights if w.grad is not None])))
        for weight in weights:
            weight.grad = None
    return float(np.mean(losses)), float(np.mean(norms))


def cost(task: FineTune, candidates: Sequence[Candidates]) -> float:
    """Mean contrastive loss of all questions, each against its own negatives."""
    place = {piece.id: at for at, piece in enumerate(task.pieces)}
    passages = task.backbone.vectors_of(task.piece_ids)
    asked = task.backbone.vectors([task.questions[one.question].text for one in candidates], "query")
    losses = []
    for query, one in zip(asked, candidates, strict=True):
        scores = passages[[place[one.positive], *(place[id] for id in one.negatives)]] @ query / 0.05
        losses.append(float(np.log(np.exp(scores - scores[0]).sum())))
    return float(np.mean(losses))


def reciprocal_rank(task: FineTune, seed: int) -> float:
    """Of the right passage, for questions that are not trained on."""
    asked = questions(task.pieces, seed=seed + 500)
    scores = task.backbone.vectors([q.text for q in asked], "query") @ task.backbone.vectors_of(task.piece_ids).T
    own = np.array([q.positive - 1 for q in asked])
    return float(np.mean(1 / (1 + (scores > scores[np.arange(len(own)), own][:, None]).sum(1))))


def test_the_encoder_itself_finds_the_negatives_that_teach_most(tiny_bundle: Bundle) -> None:
    """Random, words, encoder: in this order overlap and loss rise for every seed, and the gradient over all of them."""
    norms = []
    for seed in SEEDS:
        task = made_task(tiny_bundle, seed, 120, negatives=4)
        asked, pieces, how = task.questions, task.pieces, mining(seed)
        by_chance = mine(asked, pieces, AtRandom(pieces, asked, seed), how)
        by_words = mine(asked, pieces, ByWords(pieces), how)
        own, fresh = refresher(task, how).renew(by_chance, 1)
        shared = {one.question for one in by_words} & {o.question for o, new in zip(own, fresh, strict=True) if new}
        sets = [[one for one in kept if one.question in shared] for kept in (by_chance, by_words, own)]
        assert len(shared) > 100
        ranked = best(task)
        overlaps = [overlap(kept, ranked) for kept in sets]
        assert overlaps[0] < 0.2 < overlaps[1] < 0.7 < overlaps[2] == 1.0
        task.candidates = ()
        losses = [cost(task, kept) for kept in sets]
        assert losses[0] < losses[1] < losses[2]
        norms.append([loss_and_norm(task, kept)[1] for kept in sets])
    first, second, third = np.mean(norms, axis=0).tolist()
    assert first < second < third


class Watch(Callback):
    """Keeps what the encoder finds at some steps, before the negatives are looked at; cancels when told to."""

    def __init__(self, task: FineTune, control: Control | None = None, stop: int = -1, ranks_of: int = -1) -> None:
        self.task, self.control, self.stop, self.ranks_of = task, control, stop, ranks_of
        self.losses: dict[int, float] = {}
        self.ranks = [reciprocal_rank(task, ranks_of)] if ranks_of >= 0 else []

    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        self.losses[step] = losses["loss"]
        if self.ranks_of >= 0 and step % 4 == 0:
            self.ranks.append(reciprocal_rank(self.task, self.ranks_of))
        if step == self.stop and self.control is not None:
            self.control.cancel()

    @property
    def falls(self) -> float:
        return float(-np.minimum(np.diff(self.ranks), 0).sum())


def test_negatives_grow_stale_and_a_renewal_restores_them(tiny_bundle: Bundle, tmp_path: Path) -> None:
    """Overlap falls with the steps; renewed, they overlap wholly and cost more at the same weights. For every seed."""
    for seed in SEEDS:
        task, how = made_task(tiny_bundle, seed), Mining(count=DEPTH - 1, depth=DEPTH, denoise=False)
        first, _ = refresher(task, how).renew(task.candidates, 1)
        assert overlap(first, best(task)) == 1.0
        task.use(first)
        watch = ance(task, tmp_path / str(seed), every=12, look=4, drift=2.0)
        run(task, tmp_path / str(seed), settings(17, learning_rate=4e-4, decay="constant", seed=seed), watch)
        drifts = [look.drift for look in watch.looks]
        assert [(look.step, look.staleness) for look in watch.looks] == [(4, 4), (8, 8), (12, 12), (16, 4)]
        assert [look.renewed for look in watch.looks] == [False, False, True, False]
        assert 0 < drifts[0] < drifts[2]
        assert drifts[3] < drifts[2]
        fresh, _ = refresher(task, how).renew(first, 2)
        assert overlap(first, best(task)) < overlap(fresh, best(task)) == 1.0
        assert cost(task, first) < cost(task, fresh)


def test_too_great_a_product_of_rate_and_interval_swings(tiny_bundle: Bundle, tmp_path: Path) -> None:
    """The negatives are far behind at each renewal, and what was won is lost again between. For every seed."""
    for seed in SEEDS:
        told = {}
        for name, rate, every in (("small", 2e-4, 4), ("great", 4e-3, 8)):
            task = made_task(tiny_bundle, seed)
            looking = ance(task, tmp_path / f"{name}{seed}", every=every, look=100, drift=2.0)
            watch = Watch(task, ranks_of=seed)
            steady = settings(16, learning_rate=rate, decay="constant", seed=seed, checkpoint_every=100)
            run(task, tmp_path / f"{name}{seed}", steady, looking, watch)
            told[name] = [look.drift for look in looking.looks[1:]], watch.falls  # the first are of words
        assert max(told["small"][0]) < 0.3 < max(told["great"][0])
        assert told["small"][1] < 0.5 * told["great"][1]


def test_they_are_renewed_when_they_have_drifted(tiny_bundle: Bundle, tmp_path: Path) -> None:
    task = made_task(tiny_bundle)
    watch = ance(task, tmp_path, every=1000, look=3)
    run(task, tmp_path, settings(12, learning_rate=4e-3, decay="constant"), watch)
    assert {look.renewed for look in watch.looks} == {True, False} or all(look.renewed for look in watch.looks)
    assert all(look.renewed == (look.drift > 0.3) for look in watch.looks)
    assert watch.looks[0].renewed  # the negatives of words are not the encoder's
    quiet = ance(made_task(tiny_bundle), tmp_path / "quiet", every=1000, look=3, drift=1.0)
    run(quiet.task, tmp_path / "quiet", settings(6), quiet)
    assert quiet.number == 0
    assert not handover.numbers(tmp_path / "quiet" / FOLDER)


def undisturbed(bundle: Bundle, folder: Path) -> tuple[str, Ance]:
    task = made_task(bundle)
    watch = ance(task, folder)
    run(task, folder, settings(), watch)
    return weights_hash(task.backbone.weights()), watch


def test_cut_off_anywhere_it_ends_with_the_same_weights_and_negatives(tiny_bundle: Bundle, tmp_path: Path) -> None:
    whole, watch = undisturbed(tiny_bundle, tmp_path / "whole")
    assert watch.number >= 3
    renewals = [look.step for look in watch.looks if look.renewed]
    for stop in (renewals[0], renewals[1] + 1, STEPS - 1):  # at once after an exchange, and later
        control, task = Control(), made_task(tiny_bundle)
        with pytest.raises(Cancelled):
            run(task, tmp_path / "cut", settings(), ance(task, tmp_path / "cut"), Watch(task, control, stop),
                control=control)  # fmt: skip
    task = made_task(tiny_bundle)
    again = ance(task, tmp_path / "cut")
    run(task, tmp_path / "cut", settings(), again)
    assert weights_hash(task.backbone.weights()) == whole
    assert task.candidates == watch.task.candidates
    assert task.negatives == watch.task.negatives != ""
    assert [replace(look, seconds=0) for look in again.looks] == [replace(look, seconds=0) for look in watch.looks]
    # what no checkpoint names is gone
    assert len(handover.numbers(tmp_path / "cut" / FOLDER)) <= 3


class Killed(BaseException):
    """Ends a run without a checkpoint."""


class Kill(Callback):
    def __init__(self, at: int) -> None:
        self.at = at

    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        if step == self.at:
            raise Killed


def test_killed_between_an_exchange_and_its_checkpoint_it_resumes_at_the_same_number(
    tiny_bundle: Bundle, tmp_path: Path
) -> None:
    """Also where the file of that number is cut short, or of other weights: it is written anew."""
    whole, watch = undisturbed(tiny_bundle, tmp_path / "whole")
    step = next(look.step for look in watch.looks if look.renewed)
    assert step % 5  # no checkpoint then
    for spoilt in ("whole", "cut", "other"):
        folder = tmp_path / spoilt / "again"
        task = made_task(tiny_bundle)
        with pytest.raises(Killed):
            run(task, folder, settings(), ance(task, folder), Kill(step))
        assert handover.numbers(folder / FOLDER) == [1]
        file = folder / FOLDER / "neg-00000001"
        written = file.read_bytes()
        if spoilt == "cut":
            file.write_bytes(written[:-5])
        if spoilt == "other":
            made = handover.read(folder / FOLDER, 1, watch.contract)
            assert made is not None
            handover.write(folder / FOLDER, replace(made, weights="others", candidates=task.candidates), watch.contract)
        task = made_task(tiny_bundle)
        with pytest.raises(Killed):
            run(task, folder, settings(), ance(task, folder), Kill(step))
        assert file.read_bytes() == written
    task = made_task(tiny_bundle)
    run(task, folder, settings(), ance(task, folder))
    assert weights_hash(task.backbone.weights()) == whole


def test_lost_negatives_end_the_run_with_a_word(tiny_bundle: Bundle, tmp_path: Path) -> None:
    control, task = Control(), made_task(tiny_bundle)
    with pytest.raises(Cancelled):
        run(task, tmp_path, settings(), ance(task, tmp_path), Watch(task, control, 9), control=control)
    task = made_task(tiny_bundle)
    with pytest.raises(ValueError, match="recalled"):
        run(task, tmp_path, settings())
    task = made_task(tiny_bundle)
    with pytest.raises(KnownError, match="lost"):
        run(task, tmp_path, settings(), ance(task, tmp_path, mining=mining(5)))
    for file in (tmp_path / FOLDER).glob("neg-*"):
        file.unlink()
    task = made_task(tiny_bundle)
    with pytest.raises(KnownError, match="lost"):
        run(task, tmp_path, settings(), ance(task, tmp_path))


def test_the_log_is_kept_and_a_spoilt_one_begun_anew(tiny_bundle: Bundle, tmp_path: Path) -> None:
    _, watch = undisturbed(tiny_bundle, tmp_path)
    assert len(watch.looks) >= 5
    (tmp_path / FOLDER / LOG).write_text("{")
    watch.after_step(1000, {})


def test_nothing_is_renewed_at_the_last_step(tiny_bundle: Bundle, tmp_path: Path) -> None:
    task = made_task(tiny_bundle)
    watch = Ance(task, tmp_path, replace(ance(task, tmp_path).settings, every=4, look=4, drift=2.0), steps=8)
    run(task, tmp_path, settings(8), watch)
    assert [(look.step, look.renewed) for look in watch.looks] == [(4, True), (8, False)]


def test_drift_is_that_of_a_slow_reference_and_a_sample_comes_near(tiny_bundle: Bundle) -> None:
    task = made_task(tiny_bundle)
    look = refresher(task)
    exact = look.drift(task.candidates, 1000)
    assert exact == pytest.approx(1 - overlap(task.candidates, best(task)), abs=0.01)
    near = [look.drift(task.candidates, 60, seed=seed) for seed in range(5)]
    assert np.mean(near) == pytest.approx(exact, abs=0.1)
    assert look.drift(look.renew(task.candidates, 1)[0], 1000) < 0.01


def test_a_question_whose_passage_is_not_found_keeps_its_negatives(tiny_bundle: Bundle) -> None:
    task = made_task(tiny_bundle)
    lost = best(task, len(task.pieces))[task.candidates[3].question][-1]  # nobody would find this one
    asked = list(task.questions)
    asked[task.candidates[3].question] = replace(asked[task.candidates[3].question], positive=lost)
    before = list(task.candidates)
    before[3] = replace(before[3], positive=lost)
    strange = Refresher(task.backbone, asked, task.pieces, task.piece_ids, 24, mining())
    after, fresh = strange.renew(before, 1)
    assert not fresh[3]
    assert after[3] == before[3]
    assert [one.question for one in after] == [one.question for one in before]
    assert sum(fresh) > 0.9 * len(fresh)
    assert strange.renew(before, 2)[0] != after  # others are drawn each time
