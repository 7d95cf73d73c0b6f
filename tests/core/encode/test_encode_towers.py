"""Queries through another model than passages; tokens that weigh differently in the mean."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from core.base.types import DENSE, MULTI
from core.encode.encoder import PASSAGE, QUERY, Encoder
from core.encode.heads import Heads
from core.encode.load import open_encoder, serve
from core.encode.towers import TwoTowers, queries_of
from core.models.bundles import Bundle
from core.train.backbone import Backbone
from core.train.bundle import save

_TEXTS = ["bees and honey in the hive", "a ship in the harbour with its anchor", "bread"]


@pytest.fixture(scope="module")
def adapted(tiny_bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The tiny encoder with weights a little different and a mean that counts tokens by chance."""
    backbone = Backbone.open(tiny_bundle, "cpu")
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in backbone.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    backbone.weigh_tokens(torch.rand(tiny_bundle_vocabulary(backbone)) + 0.1)
    return save(backbone, tiny_bundle, tmp_path_factory.mktemp("models"), {}, serving="model.onnx")


def tiny_bundle_vocabulary(backbone: Backbone) -> int:
    return len(backbone.tokens.names())


def test_served_as_it_was_trained(adapted: Bundle) -> None:
    backbone = Backbone.open(adapted, "cpu")
    assert backbone.token_weights is not None
    served = serve(adapted, threads=1)
    assert np.allclose(served.encode(_TEXTS), backbone.vectors(_TEXTS), atol=2e-5)
    parts = served.encode_heads(_TEXTS, {DENSE, MULTI})
    assert parts.dense is not None
    assert np.allclose(parts.dense, served.encode(_TEXTS), atol=1e-6)


def test_the_mean_counts_each_token_by_its_weight(adapted: Bundle) -> None:
    backbone = Backbone.open(adapted, "cpu")
    ids = backbone.ids(_TEXTS[:1])
    ids_BT, mask_BT = backbone.padded(ids)
    states = backbone.hidden(ids_BT, mask_BT)[-1][0].detach().double()
    weights = [float(backbone.token_weights[id]) for id in ids[0]]  # type: ignore[index]
    mean = sum(w * state for w, state in zip(weights, states, strict=True)) / sum(weights)
    assert np.allclose(backbone.vectors(_TEXTS[:1])[0], (mean / mean.norm()).numpy(), atol=1e-6)


def test_queries_go_one_way_and_passages_the_other(tiny_encoder: Encoder, adapted: Bundle) -> None:
    other = serve(adapted, threads=1)
    towers = TwoTowers(tiny_encoder, other)
    assert (towers.id, queries_of(towers), queries_of(tiny_encoder)) == (tiny_encoder.id, adapted.id, "")
    assert np.array_equal(towers.encode(_TEXTS, kind=PASSAGE), tiny_encoder.encode(_TEXTS))
    assert np.array_equal(towers.encode(_TEXTS, kind=QUERY), other.encode(_TEXTS, kind=QUERY))
    assert not np.allclose(towers.encode(_TEXTS, kind=QUERY), tiny_encoder.encode(_TEXTS, kind=QUERY), atol=1e-3)
    both = towers.encode_heads(_TEXTS, {DENSE, MULTI}, kind=QUERY)
    assert both.dense is not None
    assert both.multi is not None
    assert np.array_equal(both.dense, other.encode(_TEXTS, kind=QUERY))
    alone = tiny_encoder.encode_heads(_TEXTS, {MULTI}, kind=QUERY).multi
    assert alone is not None
    assert all(np.array_equal(a, b) for a, b in zip(both.multi, alone, strict=True))
    assert np.array_equal(towers.encode_long(_TEXTS, kind=QUERY), other.encode_long(_TEXTS, kind=QUERY))


def test_a_lost_encoder_of_queries_leaves_the_passages_own(
    tiny_home: Path, tiny_bundle: Bundle, adapted: Bundle
) -> None:
    models = adapted.folder.parent
    found = open_encoder(tiny_bundle.id, also=models, threads=1, queries=adapted.id)
    assert queries_of(found) == adapted.id
    shutil.copytree(models, tiny_home / "copy")
    (tiny_home / "copy" / adapted.id / "model.onnx").unlink()
    for folder in (tiny_home / "nowhere", tiny_home / "copy"):
        found = open_encoder(tiny_bundle.id, also=folder, threads=1, queries=adapted.id)
        assert queries_of(found) == ""
        assert np.array_equal(found.encode(_TEXTS, kind=QUERY), serve(tiny_bundle).encode(_TEXTS, kind=QUERY))


def test_without_weights_all_tokens_count_alike() -> None:
    ids, mask = np.array([[1, 2, 0]]), np.array([[1, 1, 0]])
    assert Heads().shares(ids, mask).tolist() == [[1, 1, 0]]
    weighed = Heads(pooling=np.array([9, 0.5, 2], np.float32))
    assert weighed.shares(ids, mask).tolist() == [[0.5, 2, 0]]
