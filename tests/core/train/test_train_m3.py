"""Token heads in training: what they learn is what is served, and knowing together helps the weakest most."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.base.errors import Cancelled, DiskFull, KnownError
from core.base.events import Control
from core.base.types import DENSE, LEXICAL, MULTI
from core.encode.heads import Heads, read_heads
from core.encode.onnx import FP32, OnnxEncoder
from core.encode.tokens import Tokens
from core.models.bundles import Bundle
from core.train.backbone import Backbone
from core.train.bundle import save, weights_hash
from core.train.finetune import FineTuneSettings
from core.train.kept_states import KeptStates
from core.train.loop import Callback, Settings
from core.train.m3 import M3, SILENT_STEPS, M3Settings
from core.train.m3_heads import Expander, HeadSettings, M3Heads
from core.train.m3_losses import NO_TERM
from core.train.m3_training import Trained, train_m3
from core.train.negatives import Mining, mine
from core.train.token_marks import TokenMarks
from core.train.types import Candidates, Piece, Question
from tests.core.encode import checkpoints
from tests.core.train.asking import ByWords, questions
from tests.core.train.made import documents, fresh

SEEDS = (0, 1, 2)
BATCH = FineTuneSettings(questions=16, negatives=2, passage_tokens=48, temperature=0.05)


def _candidates(asked: Sequence[Question], pieces: Sequence[Piece]) -> tuple[Candidates, ...]:
    return mine(asked, pieces, ByWords(pieces), Mining(count=4, denoise=False))


def _trained(
    bundle: Bundle, folder: Path, settings: M3Settings, steps: int = 20, rate: float = 3e-3, **more: Any
) -> tuple[Backbone, Trained, list[Piece], list[Question]]:
    pieces = documents(40, sentences=3)
    asked = questions(pieces)
    backbone = Backbone.open(bundle, "cpu")
    made = train_m3(
        backbone, asked, _candidates(asked, pieces), pieces, settings, Settings(steps, rate, checkpoint_every=5),
        folder, **more,
    )  # fmt: skip
    return backbone, made, pieces, asked


def test_marks_of_ids_are_those_of_texts(tiny_bundle: Bundle, tmp_path: Path) -> None:
    """But for a bare space that a tokenizer puts before a text: by its places it is the first letter's."""
    checkpoints.sentencepiece(tmp_path / "tokenizer.json")
    texts = [
        "bee",
        "The honey bee (bee) and the bees, the bee!",
        "",
        "我们 喜欢 蜂蜜。",
        "query  passage: sailor  keeps",
    ]
    for file in (tiny_bundle.path("tokenizer.json"), tmp_path / "tokenizer.json"):
        for prefix in ("", "query: ", "the hive keeps: "):
            tokens = Tokens(file, 64)
            marks = TokenMarks(tokens, {"query": prefix})
            for text in texts:
                told = tokens.tokenise(prefix + text)
                own = marks.own(told.ids, "query")
                bare = {id for id, name in enumerate(tokens.names()) if name == "\u2581"}
                right = [mine and id not in bare for id, mine in zip(told.ids, told.own(len(prefix)), strict=True)]
                assert own == right, (prefix, text)
                by_name = tokens.largest([i for i, mine in zip(told.ids, own, strict=True) if mine], [1.0] * sum(own))
                assert len(by_name) == len(set(marks.terms(told.ids, own)) - {NO_TERM})


@pytest.mark.parametrize("expansion", [False, True])
def test_what_was_trained_is_what_is_served(tiny_bundle: Bundle, tmp_path: Path, expansion: bool) -> None:
    """The scores of the task are those of the bundle, by its own runtime and loops over its terms and tokens."""
    settings = M3Settings(BATCH, HeadSettings(dimension=16, expansion=expansion), warmup_steps=15)
    backbone, made, pieces, asked = _trained(tiny_bundle, tmp_path / "run", settings)
    heads = made.heads.served(read_heads(tiny_bundle))
    bundle = save(backbone, tiny_bundle, tmp_path / "models", {}, FP32, heads)
    assert bundle.config["heads"] == sorted((DENSE, LEXICAL, MULTI))
    assert bundle.config["multi_dimension"] == 16
    served = OnnxEncoder(bundle, threads=1, file=FP32)
    texts, inputs = [q.text for q in asked[:6]], [piece.input for piece in pieces[:9]]
    with KeptStates(backbone, tmp_path / "states", "x") as kept:
        found = _task(backbone, made.heads, pieces, asked, settings, kept).scores(texts, inputs)
    query = served.encode_heads(texts, served.heads, kind="query")
    passage = served.encode_heads(inputs, served.heads)
    assert query.dense is not None
    assert passage.dense is not None
    assert query.lexical is not None
    assert passage.lexical is not None
    assert query.multi is not None
    assert passage.multi is not None
    near = {"atol": 3e-3}  # states are kept in 16 bits
    np.testing.assert_allclose(found[DENSE], query.dense @ passage.dense.T, **near)
    for row, (terms, tokens) in enumerate(zip(query.lexical, query.multi, strict=True)):
        for column, (others, those) in enumerate(zip(passage.lexical, passage.multi, strict=True)):
            shared = sum(weight * others.get(term, 0.0) for term, weight in terms.items())
            assert found[LEXICAL][row, column] == pytest.approx(shared, abs=3e-3, rel=3e-3)
            best = [max(float(mine @ other) for other in those) for mine in tokens]
            assert found[MULTI][row, column] == pytest.approx(sum(best) / len(best), abs=3e-3)
    assert all(terms for terms in passage.lexical)
    if expansion:  # it says more than stands there
        said = [set(served._tokens.largest(ids, [1.0] * len(ids))) for ids in backbone.ids(inputs)]
        assert any(set(terms) - own for terms, own in zip(passage.lexical, said, strict=True))


def _task(
    backbone: Backbone, heads: M3Heads, pieces: Sequence[Piece], asked: Sequence[Question], settings: M3Settings,
    kept: KeptStates | None,
) -> M3:  # fmt: skip
    return M3(backbone, heads, asked, _candidates(asked, pieces), pieces, settings, kept=kept)


def test_heads_of_their_own_make_a_bundle_of_its_own(tiny_bundle: Bundle, tmp_path: Path) -> None:
    backbone = Backbone.open(tiny_bundle, "cpu")
    names = set()
    for bias in (0.1, 0.2):
        heads = M3Heads(64, HeadSettings(bias=bias)).served(Heads())
        names.add(save(backbone, tiny_bundle, tmp_path, {}, FP32, heads).id)
    assert len(names | {save(backbone, tiny_bundle, tmp_path, {}, FP32).id}) == 3


def test_the_held_encoder_stays_and_encodes_each_text_once(tiny_bundle: Bundle, tmp_path: Path) -> None:
    before = Backbone.open(tiny_bundle, "cpu").weights()
    backbone, made, pieces, _ = _trained(tiny_bundle, tmp_path / "run", M3Settings(BATCH), steps=12)
    assert all(torch.equal(before[name], weight) for name, weight in backbone.weights().items())
    assert made.record.curve[-1].losses["active"] > 0
    with KeptStates(backbone, tmp_path / "run/states", weights_hash(before)[:16]) as kept:
        ids = backbone.ids([piece.input for piece in pieces], max_tokens=48)[:5]
        states = kept.padded(ids)
        assert kept.encoded == 0
    ids_BT, mask_BT = backbone.padded(ids)
    with torch.no_grad():
        expected = backbone.model(input_ids=ids_BT, attention_mask=mask_BT).last_hidden_state
    assert float(((states - expected) * mask_BT.unsqueeze(-1)).abs().max()) < 5e-3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("buffered", [-1, 0])
def test_a_full_disk_is_told_as_one(tiny_bundle: Bundle, tmp_path: Path, buffered: int) -> None:
    """Where it is written at once, and where it is not written before the end."""
    backbone = Backbone.open(tiny_bundle, "cpu")
    kept = KeptStates(backbone, tmp_path, "one")
    kept._file.close()
    kept._file = Path("/dev/full").open("r+b", buffering=buffered)  # type: ignore[assignment]  # noqa: SIM115
    with pytest.raises(DiskFull):
        _keep(kept, backbone)


def _keep(kept: KeptStates, backbone: Backbone) -> None:
    with kept:
        kept.padded(backbone.ids(["a ship"]))


def test_states_of_another_encoder_or_cut_short_are_not_believed(tiny_bundle: Bundle, tmp_path: Path) -> None:
    backbone = Backbone.open(tiny_bundle, "cpu")
    ids = backbone.ids(["the hive and the honey", "a ship"])
    with KeptStates(backbone, tmp_path, "one") as kept:
        first = kept.padded(ids)
        kept.flush()
        kept.padded(backbone.ids(["written behind the index"]))
    with KeptStates(backbone, tmp_path, "one") as kept:
        assert torch.equal(kept.padded(ids), first)
        assert kept.encoded == 0
        kept.padded(backbone.ids(["written behind the index"]))
        assert kept.encoded == 1
    with KeptStates(backbone, tmp_path, "another") as kept:
        kept.padded(ids)
        assert kept.encoded == 2
        kept.flush()
    with (tmp_path / "states.bin").open("r+b") as file:
        file.truncate(100)
    with KeptStates(backbone, tmp_path, "another") as kept:
        kept.padded(ids)
        assert kept.encoded == 2
    with KeptStates(backbone, tmp_path / "small", "one", most_bytes=10) as kept:
        assert torch.equal(kept.padded(ids), first)
        kept.padded(ids)
        assert kept.encoded == 4


@pytest.mark.parametrize("expansion", [False, True])
def test_a_split_batch_has_the_gradient_of_the_whole(tiny_bundle: Bundle, tmp_path: Path, expansion: bool) -> None:
    pieces = documents(24, sentences=4)
    asked = questions(pieces)
    gradients = []
    for split in (10**6, 120):
        backbone = fresh(tiny_bundle, dropout=0.0)
        settings = M3Settings(BATCH, HeadSettings(dimension=16, expansion=expansion), split_tokens=split)
        torch.manual_seed(5)
        heads = M3Heads(48, settings.heads, _expander(backbone) if expansion else None)
        _shake(heads)
        task = _task(backbone, heads, pieces, asked, settings, None)
        torch.manual_seed(9)
        task.step(range(10))
        weights = [*heads.parameters(), *backbone.parameters()]
        gradients.append(torch.cat([weight.grad.flatten() for weight in weights if weight.grad is not None]))
    whole, parts = gradients
    assert float(whole.norm()) > 1e-3
    assert float((whole - parts).norm() / whole.norm()) < 1e-4


def _shake(heads: M3Heads) -> None:
    with torch.no_grad():
        for parameter in heads.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)


def _expander(backbone: Backbone) -> Any:
    model: Any = backbone.model
    ids = torch.arange(200, 420)
    return Expander(model.get_input_embeddings().weight.detach()[ids], ids)


class _Stop(Callback):
    def __init__(self, control: Control, at: int) -> None:
        self._control, self._at = control, at

    def after_step(self, step: int, losses: Any) -> None:
        if step == self._at:
            self._control.cancel()


@pytest.mark.parametrize("settings", [
    M3Settings(BATCH), M3Settings(BATCH, HeadSettings(expansion=True), warmup_steps=6),
    M3Settings(BATCH, all_weights=True, warmup_steps=6),
])  # fmt: skip
def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    tiny_bundle: Bundle, tmp_path: Path, settings: M3Settings
) -> None:
    _, whole, *_ = _trained(tiny_bundle, tmp_path / "whole", settings, steps=12)
    control = Control()
    with pytest.raises(Cancelled):
        _trained(tiny_bundle, tmp_path / "run", settings, 12, control=control, callbacks=[_Stop(control, 7)])
    _, resumed, *_ = _trained(tiny_bundle, tmp_path / "run", settings, steps=12)
    ours, theirs = whole.heads.state_dict(), resumed.heads.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_silent_lexical_head_is_told_of(tiny_bundle: Bundle, tmp_path: Path) -> None:
    settings = M3Settings(BATCH, HeadSettings(bias=-50.0))
    with pytest.raises(KnownError, match="silent") as told:
        _trained(tiny_bundle, tmp_path, settings, steps=SILENT_STEPS + 5)
    assert "rate" in told.value.advice


def _gains(backbone: Backbone, folder: Path, seed: int) -> dict[bool, dict[str, float]]:
    """Mean reciprocal rank of each head, with and without following, where most questions name a wrong passage."""
    pieces = documents(48, sentences=3, seed=seed)
    luck = random.Random(seed)
    asked = []
    for question in questions(pieces, seed=seed) + questions(pieces, seed=seed + 50):
        wrong = luck.random() < 0.6
        id = luck.choice(pieces).id if wrong else question.positive
        asked.append(replace(question, positive=id, group=id))
    held = questions(pieces, seed=seed + 100)
    found = {}
    for distil in (True, False):
        settings = M3Settings(BATCH, distil=distil)
        made = train_m3(
            backbone, asked, _candidates(asked, pieces), pieces, settings, Settings(60, 3e-3, seed=seed),
            folder / f"{seed}{distil}", states=folder / f"states{seed}",
        )  # fmt: skip
        with KeptStates(backbone, folder / f"all{seed}", "x") as kept:
            task = _task(backbone, made.heads, pieces, asked, settings, kept)
            scores = task.scores([q.text for q in held], [piece.input for piece in pieces])
        found[distil] = {head: _reciprocal(table) for head, table in scores.items()}
    return found


def _reciprocal(scores: np.ndarray) -> float:
    """The own passage stands on the diagonal."""
    return float((1 / (1 + (scores > np.diag(scores)[:, None]).sum(1))).mean())


def test_following_what_all_know_helps_the_lexical_head(tiny_bundle: Bundle, tmp_path: Path) -> None:
    """Row 13: a weak head learns from the others what its own lessons do not teach; the held dense one stays."""
    backbone = Backbone.open(tiny_bundle, "cpu")
    found = [_gains(backbone, tmp_path, seed) for seed in SEEDS]
    gains = {head: [one[True][head] - one[False][head] for one in found] for head in (DENSE, LEXICAL, MULTI)}
    assert gains[DENSE] == [0.0] * len(SEEDS)
    assert min(np.mean(gains[head]) for head in (LEXICAL, MULTI)) > 0.03, gains
    assert np.mean(gains[LEXICAL] + gains[MULTI]) > 0.06, gains
