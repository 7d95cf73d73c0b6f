"""The decoders behind the vector, and the generator that fills what is hidden."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from core.models.bundles import Bundle
from core.train.backbone import Backbone
from core.train.bottleneck import EnhancedDecoder, PlainDecoder, begin_as, unread
from core.train.generator import Generator, GeneratorSettings, train_generator
from core.train.known_tokens import KnownTokens
from core.train.loop import Settings
from tests.core.train.made import documents, fresh

SMALL = GeneratorSettings(steps=40, texts=40, rate=5e-3, width=32, heads=2)


@pytest.fixture(scope="module")
def texts(tiny_bundle: Bundle) -> list[list[int]]:
    backbone = Backbone.open(tiny_bundle, "cpu")
    return backbone.ids([piece.text for piece in documents(40, sentences=3)], max_tokens=32)


def test_a_plain_decoder_begins_as_the_last_layers(tiny_bundle: Bundle, texts: list[list[int]]) -> None:
    """Fed with what those layers were fed with, it gives their states."""
    backbone = fresh(tiny_bundle, layers=4)
    decoder = PlainDecoder(backbone, 2).eval()
    ids_BT, mask_BT = backbone.padded(texts[:6])
    with torch.no_grad():
        states = backbone.hidden(ids_BT, mask_BT)
        found = decoder(states[2][:, 0], states[2], mask_BT)
    assert torch.allclose(found[mask_BT > 0], states[4][mask_BT > 0], atol=1e-4)


def test_a_layer_of_another_kind_stays_fresh() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    before = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    assert not begin_as(layer, {"transformer.layer.0.q_lin.weight": torch.zeros(8, 8)}, "encoder.layer.0.", 1e-12)
    assert all(torch.equal(before[name], tensor) for name, tensor in layer.state_dict().items())


def test_the_enhanced_decoder_is_its_slow_self(tiny_bundle: Bundle, texts: list[list[int]]) -> None:
    """Attention place by place in float64, with the places that were drawn."""
    backbone = fresh(tiny_bundle)
    decoder = EnhancedDecoder(backbone).eval().double()
    ids_BT, mask_BT = backbone.padded([texts[0], texts[1][:9]])
    tokens = torch.randn(*ids_BT.shape, 48, dtype=torch.float64)
    vector = torch.randn(2, 48, dtype=torch.float64)
    torch.manual_seed(5)
    hidden = unread(mask_BT, 0.5)
    torch.manual_seed(5)
    with torch.no_grad():
        found = decoder(vector, tokens, mask_BT)
    weights = dict(decoder.state_dict())
    q, k, v = weights["attention.in_proj_weight"].split(48)
    for row, place in ((0, 0), (0, 7), (1, 3), (1, 8)):
        asking = vector[row] + weights["positions"][place]
        read = torch.cat([vector[row : row + 1], tokens[row, 1:]])[~hidden[row, place]]
        heads = []
        for head in range(4):
            own = slice(12 * head, 12 * head + 12)
            scores = (read @ k[own].T) @ (asking @ q[own].T) / 12**0.5
            heads.append(scores.softmax(0) @ (read @ v[own].T))
        told = torch.cat(heads) @ weights["attention.out_proj.weight"].T + weights["attention.out_proj.bias"]
        state = decoder.norms[0](asking + told)
        expected = decoder.norms[1](state + decoder.narrow(nn.functional.gelu(decoder.wide(state))))
        assert torch.allclose(found[row, place], expected, atol=1e-8)


def test_each_place_reads_a_part_of_its_own_and_never_itself() -> None:
    torch.manual_seed(0)
    mask_BT = torch.ones(4, 60)
    mask_BT[1, 40:] = 0
    hidden = unread(mask_BT, 0.5)
    assert not hidden[:, :, 0].any()
    assert all(hidden[:, place, place].all() for place in range(1, 60))
    assert hidden[1, :, 40:].all()
    read = (~hidden[0, 1:, 1:]).float().mean(1)
    assert 0.3 < float(read.min()) < float(read.max()) < 0.75
    assert not torch.equal(hidden[0, 5], hidden[0, 6])


def test_the_enhanced_decoder_takes_the_encoders_positions(tiny_bundle: Bundle) -> None:
    backbone = fresh(tiny_bundle)
    own = backbone.model.embeddings.position_embeddings.weight  # type: ignore[union-attr]
    assert torch.equal(EnhancedDecoder(backbone).positions, own)  # type: ignore[arg-type]


def _generator(backbone: Backbone, texts: list[list[int]], steps: int, folder: Path, seed: int = 0) -> Generator:
    torch.manual_seed(seed)
    known = KnownTokens(texts, backbone.tokens, backbone.device)
    generator = Generator(known, 32, SMALL)
    settings = GeneratorSettings(steps, SMALL.texts, SMALL.rate)
    train_generator(
        generator, backbone, texts, settings, Settings(1, 0.0, seed=seed, checkpoint_every=999), folder,
        data_hash="", stage="generator",
    )  # fmt: skip
    return generator


def _guessing(generator: Generator, backbone: Backbone, texts: list[list[int]]) -> float:
    """The loss at every fourth token, hidden."""
    ids_BT, mask_BT = backbone.padded(texts)
    hidden_BT = torch.zeros_like(ids_BT, dtype=torch.bool)
    hidden_BT[:, 2::4] = True
    hidden_BT &= ~torch.isin(ids_BT, torch.tensor(sorted(backbone.tokens.special())))
    shown_BT = ids_BT.masked_fill(hidden_BT, generator.known.mask)
    with torch.no_grad():
        return float(generator.loss(generator.states(shown_BT, mask_BT), ids_BT, hidden_BT))


def test_the_generator_learns_what_stands_where(tiny_bundle: Bundle, texts: list[list[int]], tmp_path: Path) -> None:
    """On texts that it has not seen, against one that only knows how often each token stands in the library."""
    backbone = fresh(tiny_bundle)
    other = backbone.ids([piece.text for piece in documents(20, sentences=3, seed=9)], max_tokens=32)
    every = [*texts, *other]
    for seed in range(3):
        torch.manual_seed(seed)
        known = KnownTokens(every, backbone.tokens, backbone.device)
        counting, learning = Generator(known, 32, SMALL), Generator(known, 32, SMALL)
        train_generator(
            learning, backbone, texts, SMALL, Settings(1, 0.0, seed=seed, checkpoint_every=999), tmp_path / str(seed),
            data_hash="", stage="generator",
        )  # fmt: skip
        assert _guessing(learning, backbone, other) < _guessing(counting.eval(), backbone, other) - 0.2
        assert not any(parameter.requires_grad for parameter in learning.parameters())
        assert not learning.training


def test_hidden_places_are_filled_and_no_others(tiny_bundle: Bundle, texts: list[list[int]], tmp_path: Path) -> None:
    backbone = fresh(tiny_bundle)
    generator = _generator(backbone, texts, 0, tmp_path)
    ids_BT, mask_BT = backbone.padded(texts)
    hidden_BT = torch.zeros_like(ids_BT, dtype=torch.bool)
    hidden_BT[:, 3:12] = True
    torch.manual_seed(1)
    filled_BT = generator.fill(ids_BT.masked_fill(hidden_BT, generator.known.mask), mask_BT)
    assert torch.equal(filled_BT[~hidden_BT], ids_BT[~hidden_BT])
    drawn = filled_BT[hidden_BT]
    assert not set(drawn.tolist()) & (backbone.tokens.special() | {backbone.tokens.pad})
    assert set(drawn.tolist()) <= set(generator.known.ids_K.tolist())
    # without a step it draws by how often a token stands in the library: the commonest ones come up most
    common = generator.known.ids_K[generator.known.counts_K.masked_fill(generator.known.special_K, 0).topk(5).indices]
    often = np.mean([id in set(common.tolist()) for id in drawn.tolist()])
    counts = generator.known.counts_K.masked_fill(generator.known.special_K, 0)
    expected = float(counts.topk(5).values.sum() / counts.sum())
    assert often == pytest.approx(expected, abs=0.15)
