"""The encoder in training against the one that serves, and the bundle that it becomes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from core.base.errors import Cancelled, ModelDamaged, ModelMissing
from core.base.events import Control
from core.encode.export import WEIGHTS
from core.encode.heads import HEADS_FILE, Heads, Linear, write_heads
from core.encode.load import open_encoder, serve
from core.encode.onnx import FP32
from core.models.bundles import Bundle, load, seal, verify
from core.train import bundle as bundles
from core.train.backbone import HEAD, Backbone
from core.train.batches import length_grouped
from core.train.loop import Callback, Settings, train

TEXTS = [
    "the hive and the honey", "a ship", "how does the rain change the harbour, and what about the storm in the sky?",
    "bread", "the teacher and the pupil need a new book", "",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def prefixed(tiny_bundle: Bundle, tmp_path: Path) -> Bundle:
    """The tiny encoder with prefixes, pooling at CLS and a dense head of 24 dimensions behind a tanh."""
    return dressed(tiny_bundle, tmp_path / "dressed", pooling="cls", dimension=24)


def dressed(base: Bundle, folder: Path, **config: Any) -> Bundle:
    shutil.copytree(base.folder, folder)
    luck = np.random.default_rng(3)
    head = Linear(
        luck.standard_normal((24, 64)).astype(np.float32) / 8, luck.standard_normal(24).astype(np.float32) / 9
    )
    lexical = Linear(luck.standard_normal((1, 64)).astype(np.float32), np.zeros(1, np.float32))
    write_heads(folder / HEADS_FILE, Heads(dense=head, lexical=lexical))
    prefixes = {"query": "find ", "passage": "read "}
    own = {"id": "dressed", "prefixes": prefixes, "dense_activation": "tanh", "heads": ["dense", "lexical", "multi"]}
    seal(folder, {**base.config, **own, **config})
    return load(folder)


def shaken(backbone: Backbone, seed: int = 0) -> Backbone:
    torch.manual_seed(seed)
    with torch.no_grad():
        for weight in backbone.parameters():
            weight.add_(torch.randn_like(weight) * 0.02)
    return backbone


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_its_vectors_are_those_that_are_served(tiny_bundle: Bundle, prefixed: Bundle, kind: str) -> None:
    for bundle in (tiny_bundle, prefixed):
        backbone, served = Backbone.open(bundle, "cpu"), serve(bundle, threads=1).encode(TEXTS, kind=kind)
        assert np.abs(backbone.vectors(TEXTS, kind) - served).max() < 1e-5
        with_graph = backbone.embed(backbone.ids(TEXTS, kind))
        assert with_graph.requires_grad
        assert np.abs(with_graph.detach().numpy() - served).max() < 1e-5
        assert backbone.dimension == served.shape[1]


def test_texts_are_cut_with_the_closing_token_kept(prefixed: Bundle) -> None:
    backbone = Backbone.open(prefixed, "cpu")
    whole, cut = (backbone.ids(["bread and honey " * 20], "query", most)[0] for most in (None, 9))
    assert len(cut) == 9
    assert cut[:8] == whole[:8]
    assert cut[8] == whole[-1]
    assert len(backbone.ids(["bread " * 999])[0]) == backbone.max_tokens


def test_hidden_states_begin_with_the_embeddings_and_end_with_what_is_pooled(tiny_bundle: Bundle) -> None:
    backbone = Backbone.open(tiny_bundle, "cpu")
    ids_BT, mask_BT = backbone.padded(backbone.ids(TEXTS))
    states = backbone.hidden(ids_BT, mask_BT)
    assert len(states) == 3
    assert all(layer.shape == (*ids_BT.shape, 64) for layer in states)
    pooled_BD = backbone.pooled(states[-1], mask_BT).detach()
    slow = [states[-1][i, : int(mask_BT[i].sum())].mean(0) for i in range(len(TEXTS))]
    assert torch.allclose(pooled_BD, torch.stack(slow), atol=1e-6)
    unit = nn.functional.normalize(pooled_BD, dim=-1).detach().numpy()
    assert np.abs(unit - backbone.vectors(TEXTS)).max() < 1e-6


def test_states_are_dropped_in_training_and_attention_is_not(tiny_bundle: Bundle, tmp_path: Path) -> None:
    shutil.copytree(tiny_bundle.folder, tmp_path / "noised")
    path = tmp_path / "noised" / "config.json"
    noise = {"hidden_dropout_prob": 0.2, "attention_probs_dropout_prob": 0.2}
    path.write_text(json.dumps(json.loads(path.read_text()) | noise))
    seal(tmp_path / "noised", dict(tiny_bundle.config))
    backbone = Backbone.open(load(tmp_path / "noised"), "cpu").train()
    shares = {name: part.p for name, part in backbone.named_modules() if isinstance(part, nn.Dropout)}
    attention = {name for name in shares if name.endswith("attention.self.dropout")}
    assert {shares[name] for name in attention} == {0.0}  # and not an empty set
    assert {share for name, share in shares.items() if name not in attention} == {0.2}


def test_encoding_leaves_the_mode_and_hears_a_cancel(tiny_bundle: Bundle) -> None:
    backbone, control = Backbone.open(tiny_bundle, "cpu"), Control()
    assert not backbone.training
    backbone.train()
    backbone.model.embeddings.eval()
    backbone.vectors(TEXTS)
    assert backbone.training
    assert not backbone.model.embeddings.training
    control.cancel()
    with pytest.raises(Cancelled):
        backbone.vectors(TEXTS, control=control)


def test_weights_go_out_and_in(prefixed: Bundle, tiny_bundle: Bundle) -> None:
    backbone, other = shaken(Backbone.open(prefixed, "cpu")), Backbone.open(prefixed, "cpu")
    weights, before = backbone.weights(), other.vectors(TEXTS)
    assert any(name.startswith(HEAD) for name in weights)
    other.load_weights(weights)
    assert np.array_equal(other.vectors(TEXTS), backbone.vectors(TEXTS))
    assert not np.array_equal(before, other.vectors(TEXTS))
    shaken(backbone)
    other.load_weights(weights)  # a copy: not what was shaken since
    assert not np.array_equal(other.vectors(TEXTS), backbone.vectors(TEXTS))
    weights.pop("embeddings.word_embeddings.weight")
    with pytest.raises(ValueError, match="another model"):
        Backbone.open(tiny_bundle, "cpu").load_weights(weights)


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_a_saved_bundle_serves_the_trained_vectors(
    prefixed: Bundle, tiny_bundle: Bundle, tmp_path: Path, kind: str
) -> None:
    for base in (prefixed, tiny_bundle):
        backbone = shaken(Backbone.open(base, "cpu"))
        made = bundles.save(backbone, base, tmp_path / base.id, {"recipe": "quick"}, FP32)
        encoder = open_encoder(made.id, also=tmp_path / base.id, threads=1)
        assert encoder.id == made.id
        cosines = (encoder.encode(TEXTS, kind=kind) * backbone.vectors(TEXTS, kind)).sum(1)
        assert cosines.min() > 0.9999
        assert (encoder.encode(TEXTS, kind=kind) * serve(base, threads=1).encode(TEXTS, kind=kind)).sum(1).min() < 0.999
        assert encoder.heads == serve(base).heads
        assert Backbone.open(made, "cpu").vectors(TEXTS, kind) == pytest.approx(backbone.vectors(TEXTS, kind), abs=1e-6)


def test_a_saved_bundle_says_what_it_is(prefixed: Bundle, tmp_path: Path) -> None:
    backbone = shaken(Backbone.open(prefixed, "cpu"))
    made = bundles.save(backbone, prefixed, tmp_path / "models", {"recipe": "quick"})
    verify(made)
    hash = bundles.weights_hash(backbone.weights())
    assert made.id == f"dressed+{hash[:8]}"
    assert made.folder == tmp_path / "models" / made.id
    told = {name: made.config[name] for name in ("base", "recipe", "library-made", "pooling", "prefixes", "licence")}
    assert told == {
        "base": "dressed", "recipe": "quick", "library-made": True, "pooling": "cls",
        "prefixes": prefixed.config["prefixes"], "licence": prefixed.config["licence"],
    }  # fmt: skip
    assert made.config["int8"]["agreement"] > 0.9  # compared on this machine
    assert "dressed+" in (made.folder / "README.md").read_text()
    again = shaken(Backbone.open(made, "cpu"), 1)
    second = bundles.save(again.weights(), made, tmp_path / "models", {}, FP32)
    assert second.id.startswith("dressed+")
    assert second.id != made.id
    assert second.config["base"] == made.id
    assert not list((tmp_path / "models").glob(".*"))
    with pytest.raises(ModelMissing):
        open_encoder(made.id)


def test_an_equal_bundle_stays_and_a_damaged_one_is_made_again(tiny_bundle: Bundle, tmp_path: Path) -> None:
    backbone = Backbone.open(tiny_bundle, "cpu")
    made = bundles.save(backbone, tiny_bundle, tmp_path, {}, FP32)
    before = (made.folder / FP32).stat().st_mtime_ns
    assert bundles.save(backbone, tiny_bundle, tmp_path, {}, FP32).id == made.id
    assert (made.folder / FP32).stat().st_mtime_ns == before
    (made.folder / WEIGHTS).write_bytes(b"cut")
    with pytest.raises(ModelDamaged):
        open_encoder(made.id, also=tmp_path)
    verify(bundles.save(backbone, tiny_bundle, tmp_path, {}, FP32))


class Pull:
    """Pairs of paraphrases drawn together against the batch, with dropout on."""

    def __init__(self, backbone: Backbone) -> None:
        self.backbone = backbone
        for part in backbone.modules():
            if isinstance(part, nn.Dropout):
                part.p = 0.1
        topics = ("hive honey", "ship harbour", "bread oven", "rain cloud", "train station", "court judge")
        pairs = [(f"the {a} and {b}", f"what about {b} in the {a}") for a, b in (t.split() for t in topics)] * 4
        self.left = backbone.ids([f"{left} {i}" for i, (left, _) in enumerate(pairs)], "query")
        self.right = backbone.ids([f"{right} {i}" for i, (_, right) in enumerate(pairs)])

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        return {"backbone": self.backbone}

    def batches(self, epoch: int, rng: np.random.Generator) -> Sequence[Sequence[int]]:
        return length_grouped([len(row) for row in self.right], 6, rng)

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        left_BD, right_BD = (self.backbone.embed([side[i] for i in batch]) for side in (self.left, self.right))
        loss = nn.functional.cross_entropy(left_BD @ right_BD.T / 0.05, torch.arange(len(batch)))
        loss.backward()
        return {"loss": float(loss.detach())}

    def state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        pass


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_an_encoder_trained_in_pieces_is_the_one_trained_at_once(
    tiny_bundle: Bundle, tmp_path: Path, precision: Any
) -> None:
    settings = Settings(12, 1e-3, precision=precision, checkpoint_every=5)
    whole = Backbone.open(tiny_bundle, "cpu")
    train(Pull(whole), settings, tmp_path / "whole")
    assert not np.allclose(whole.vectors(TEXTS), Backbone.open(tiny_bundle, "cpu").vectors(TEXTS), atol=0.01)
    control = Control()

    class Stop(Callback):
        def after_step(self, step: int, losses: Mapping[str, float]) -> None:
            if step == 7:
                control.cancel()

    with pytest.raises(Cancelled):
        train(Pull(Backbone.open(tiny_bundle, "cpu")), settings, tmp_path / "cut", control, callbacks=[Stop()])
    again = Backbone.open(tiny_bundle, "cpu")
    train(Pull(again), settings, tmp_path / "cut")
    assert bundles.weights_hash(again.weights()) == bundles.weights_hash(whole.weights())
    assert not again.training
