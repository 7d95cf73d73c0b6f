"""What coCondenser must do: the head needs the vector, the contrast brings a document together, the anchor holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from core.models.bundles import Bundle
from core.train.backbone import Backbone
from core.train.condenser import Condenser, MlmLayer
from core.train.loop import Settings
from core.train.masking import IGNORED, WholeWordMask
from core.train.pretrain import PretrainSettings, _counts, _padded, pretrain
from core.train.spans import Spans, make
from tests.core.train.made import documents, fresh

SEEDS = (0, 1, 2)


@pytest.fixture(scope="module")
def spans() -> Spans:
    return make(documents(40, sentences=6))


def _settings(**changed: float) -> PretrainSettings:
    small = {"documents": 20, "chunk": 40, "span_tokens": 32, "warmup_steps": 0, "anchor": 0.0}
    return PretrainSettings(**{**small, **changed})  # type: ignore[arg-type]


def _retrieval(backbone: Backbone, spans: Spans) -> float:
    """How often the nearest other span is one of the same document."""
    vectors = backbone.vectors(spans.texts)
    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -2)
    owner = {span: number for number, own in enumerate(spans.documents) for span in own}
    return float(np.mean([owner[i] == owner[int(scores[i].argmax())] for i in range(len(vectors))]))


def _trained(bundle: Bundle, spans: Spans, settings: PretrainSettings, folder: Path, seed: int, steps: int) -> Backbone:
    backbone = fresh(bundle, seed=seed)
    pretrain(backbone, spans, settings, Settings(steps, 2e-3, seed=seed, checkpoint_every=10_000), folder)
    return backbone


def test_the_head_reads_the_vector(tiny_bundle: Bundle) -> None:
    """Where the vector knows the text, the head learns to guess by it: with another text's it guesses worse, and the
    more so the longer it learns. For every seed."""
    spans = make(documents(30, sentences=4))
    for seed in SEEDS:
        early, late = _gaps(Backbone.open(tiny_bundle, "cpu"), spans, seed)
        assert 0 < early < late


def _gaps(backbone: Backbone, spans: Spans, seed: int) -> list[float]:
    """By how much the head's loss is higher with the vectors of other texts, after 25 and after 75 steps."""
    torch.manual_seed(seed)
    condenser = Condenser(backbone.requires_grad_(False), early=0, head_layers=1)
    ids = backbone.ids(spans.texts, max_tokens=24)
    condenser.mlm.expect(_counts(ids, len(condenser.mlm.bias)))
    optimiser = torch.optim.AdamW([p for p in condenser.parameters() if p.requires_grad], 1e-2)
    mask, random = WholeWordMask(backbone.tokens, 0.8), np.random.default_rng(seed)
    whole_BT, mask_BT = backbone.padded(ids)
    vectors = backbone.pooled(condenser.states(whole_BT, mask_BT)[1], mask_BT)
    gaps = []
    for step in range(1, 76):
        masked = [mask(own, random) for own in ids]
        early = condenser.states(backbone.padded([one.ids for one in masked])[0], mask_BT)[0]
        labels_BT = _padded([one.labels for one in masked], early)

        def loss(given: torch.Tensor, early: torch.Tensor = early, labels_BT: torch.Tensor = labels_BT) -> torch.Tensor:
            through = condenser.head(given, early, mask_BT)
            return condenser.mlm.loss(through, labels_BT, condenser.embeddings_VD)

        loss(vectors).backward()
        optimiser.step()
        optimiser.zero_grad()
        if step in (25, 75):
            condenser.eval()
            gaps.append(float((loss(vectors.roll(8, 0)) - loss(vectors)).detach()))
            condenser.train()
    return gaps


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_late_layers_reach_the_head_only_through_the_vector(tiny_bundle: Bundle, pooling: str) -> None:
    condenser = Condenser(fresh(tiny_bundle, pooling=pooling), early=1)
    ids_BT, mask_BT = condenser.backbone.padded(condenser.backbone.ids(["bees and honey in the hive", "ships at sea"]))
    early, late = (states.detach().requires_grad_() for states in condenser.states(ids_BT, mask_BT))
    head, _ = condenser.losses(early, late, mask_BT, ids_BT)
    head.backward()
    assert late.grad is not None
    assert float(late.grad[:, 0].abs().sum()) > 0
    if pooling == "cls":
        assert float(late.grad[:, 1:].abs().sum()) == 0
    else:  # a mean hands the same to all its tokens
        assert torch.allclose(late.grad[0, 1], late.grad[0, 0])


def test_the_contrast_brings_spans_of_a_document_together(tiny_bundle: Bundle, spans: Spans, tmp_path: Path) -> None:
    """Against masked words alone, for every seed."""
    for seed in SEEDS:
        both = _trained(tiny_bundle, spans, _settings(), tmp_path / f"both-{seed}", seed, 16)
        words = _trained(tiny_bundle, spans, _settings(contrast=0.0), tmp_path / f"words-{seed}", seed, 16)
        assert _retrieval(both, spans) > _retrieval(words, spans) + 0.05


def test_a_larger_batch_is_no_worse(tiny_bundle: Bundle, spans: Spans, tmp_path: Path) -> None:
    """At equal steps, over seeds together: more negatives tell more."""
    found = {
        size: [
            _retrieval(_trained(tiny_bundle, spans, _settings(documents=size), tmp_path / f"{size}-{s}", s, 12), spans)
            for s in SEEDS
        ]
        for size in (2, 20)
    }
    assert np.mean(found[20]) > np.mean(found[2])


def test_the_anchor_holds_the_encoder_where_it_was(tiny_bundle: Bundle, spans: Spans, tmp_path: Path) -> None:
    for seed in SEEDS:
        before = fresh(tiny_bundle, seed=seed).vectors(spans.texts)
        moved = []
        for weight in (0.0, 30.0):
            after = _trained(tiny_bundle, spans, _settings(anchor=weight), tmp_path / f"{weight}-{seed}", seed, 8)
            moved.append(1 - float((before * after.vectors(spans.texts)).sum(1).mean()))
        assert moved[1] < moved[0] / 2


def test_the_warm_up_leaves_the_encoder_alone(tiny_bundle: Bundle, spans: Spans, tmp_path: Path) -> None:
    backbone = fresh(tiny_bundle)
    before = backbone.weights()
    record = pretrain(backbone, spans, _settings(warmup_steps=12), Settings(1, 0.0), tmp_path)
    assert record.step == 1
    assert all(torch.equal(before[name], tensor) for name, tensor in backbone.weights().items())
    assert all(parameter.requires_grad for parameter in backbone.parameters())
    assert (tmp_path / "warm-up").is_dir()


def test_a_run_that_was_stopped_ends_like_one_that_was_not(tiny_bundle: Bundle, spans: Spans, tmp_path: Path) -> None:
    from core.base.errors import Cancelled
    from core.base.events import Control
    from core.train.loop import Callback

    class Stop(Callback):
        def __init__(self, control: Control, at: int) -> None:
            self.control, self.at = control, at

        def after_step(self, step: int, losses: object) -> None:
            if step == self.at:
                self.control.cancel()

    settings, training = _settings(warmup_steps=5, anchor=1.0), Settings(9, 1e-3, checkpoint_every=3)
    whole = fresh(tiny_bundle)
    pretrain(whole, spans, settings, training, tmp_path / "whole")
    for at in (2, 7):
        control = Control()
        with pytest.raises(Cancelled):
            pretrain(
                fresh(tiny_bundle), spans, settings, training, tmp_path / "parts", control=control,
                callbacks=[Stop(control, at)],
            )  # fmt: skip
    parts = fresh(tiny_bundle)
    pretrain(parts, spans, settings, training, tmp_path / "parts")
    assert all(torch.equal(whole.weights()[name], tensor) for name, tensor in parts.weights().items())


def test_too_few_documents_are_said_to_be_too_few(tiny_bundle: Bundle, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="only 3 documents"):
        pretrain(fresh(tiny_bundle), make(documents(3)), _settings(), Settings(1, 1e-3), tmp_path)


def test_the_output_layer_scores_hidden_tokens_only() -> None:
    torch.manual_seed(0)
    layer, states, embeddings = MlmLayer(8, 20), torch.randn(2, 5, 8), torch.randn(20, 8)
    labels = torch.full((2, 5), IGNORED)
    labels[0, 1], labels[1, 3] = 7, 11
    expected = torch.stack(
        [-layer(states[i, j], embeddings).log_softmax(-1)[labels[i, j]] for i, j in ((0, 1), (1, 3))]
    ).mean()
    assert float(layer.loss(states, labels, embeddings).detach()) == pytest.approx(float(expected.detach()), rel=1e-5)
    nothing = layer.loss(states.requires_grad_(), torch.full((2, 5), IGNORED), embeddings)
    assert float(nothing.detach()) == 0
    nothing.backward()
