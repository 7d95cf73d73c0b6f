"""What is hidden from encoder and decoder, and the loss over a vocabulary in blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from core.base.errors import KnownError
from core.models.bundles import Bundle
from core.train.backbone import Backbone
from core.train.corrupt import Corrupted, Corruptor
from core.train.known_tokens import KnownTokens
from core.train.plans import OBJECTIVES, Plan, named
from core.train.token_loss import summed_cross_entropy
from tests.core.train.made import documents


@pytest.fixture(scope="module")
def backbone(tiny_bundle: Bundle) -> Backbone:
    return Backbone.open(tiny_bundle, "cpu")


def _corrupted(backbone: Backbone, plan: Plan) -> list[Corrupted]:
    random, corrupt = np.random.default_rng(0), Corruptor(backbone.tokens, plan)
    return [corrupt(ids, random) for ids in backbone.ids([piece.text for piece in documents(30)])]


def _hidden(backbone: Backbone, shown: list[int]) -> set[int]:
    mask = backbone.tokens.mask()
    return {place for place, id in enumerate(shown) if id == mask}


def test_the_decoder_sees_less_than_the_encoder_and_never_what_that_does_not(backbone: Backbone) -> None:
    for text in _corrupted(backbone, Plan(0.3, 0.5)):
        own = len(text.ids) - 2
        encoder, decoder = _hidden(backbone, text.encoder), _hidden(backbone, text.decoder)
        assert encoder < decoder
        assert len(encoder) == round(0.3 * own)
        assert len(decoder) == round(0.5 * own)
        assert not decoder & {0, len(text.ids) - 1}  # special tokens stay
        assert text.asked_encoder == text.asked_decoder == list(range(1, own + 1))
        for place in set(range(len(text.ids))) - decoder:
            assert text.decoder[place] == text.ids[place]


def test_only_what_is_hidden_is_asked_where_a_plan_wants_it(backbone: Backbone) -> None:
    for text in _corrupted(backbone, Plan(0.3, 0.5, everywhere=False)):
        assert set(text.asked_encoder) == _hidden(backbone, text.encoder)
        assert set(text.asked_decoder) == _hidden(backbone, text.decoder)


def test_an_auto_encoder_shows_all_to_the_encoder_and_nothing_to_the_decoder(backbone: Backbone) -> None:
    plan = OBJECTIVES["auto-encoder"].plan
    assert plan is not None
    for text in _corrupted(backbone, plan):
        assert text.encoder == list(text.ids)
        assert text.asked_encoder == []
        assert _hidden(backbone, text.decoder) == set(text.asked_decoder) == set(range(1, len(text.ids) - 1))


def test_retromae_hides_words_from_the_encoder_and_asks_the_decoder_for_all(backbone: Backbone) -> None:
    plan = OBJECTIVES["retromae"].plan
    assert plan is not None
    for text in _corrupted(backbone, plan):
        assert text.decoder == list(text.ids)
        assert text.asked_decoder == list(range(1, len(text.ids) - 1))
        assert 0 < len(text.asked_encoder) <= round(0.3 * len(text.asked_decoder))


@pytest.mark.parametrize("hiding", ["words", "tokens"])
def test_a_text_of_nothing_but_special_tokens_is_left_alone(backbone: Backbone, hiding: str) -> None:
    corrupt = Corruptor(backbone.tokens, replace(Plan(0.3, 0.5), hiding=hiding))  # type: ignore[arg-type]
    text = corrupt(backbone.ids([""])[0], np.random.default_rng(0))
    assert text.encoder == text.decoder == list(text.ids)
    assert text.asked_encoder == text.asked_decoder == []


def test_an_unknown_objective_is_told_with_those_that_are() -> None:
    with pytest.raises(KnownError, match="no pre-training 'bert'"):
        named("bert")
    assert all(choice.about and choice.source for choice in OBJECTIVES.values())


def test_known_tokens_are_those_of_the_texts(backbone: Backbone) -> None:
    ids = backbone.ids(["bees and honey in the hive", "honey"])
    known = KnownTokens(ids, backbone.tokens, backbone.device)
    flat = [id for own in ids for id in own]
    assert set(known.ids_K.tolist()) == {*flat, backbone.tokens.mask(), backbone.tokens.pad}
    for id, count in zip(known.ids_K.tolist(), known.counts_K.tolist(), strict=True):
        assert count == flat.count(id)
    honey = torch.tensor(ids[1])
    assert torch.equal(known.ids_K[known.places(honey)], honey)
    special = {id for id, yes in zip(known.ids_K.tolist(), known.special_K.tolist(), strict=True) if yes}
    assert special == {ids[0][0], ids[0][-1], backbone.tokens.mask(), backbone.tokens.pad}


@pytest.mark.parametrize("entries", [1, 60, 10_000])
def test_the_blocked_loss_is_the_loss_with_its_gradients(entries: int) -> None:
    """Against torch's own in float64, for blocks of one token, of some, and of all."""
    torch.manual_seed(0)
    given = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((7, 5), (20, 5), (20,))]
    targets = torch.tensor([3, 3, 0, 19, 7, 7, 7])
    states, weight, bias = given
    expected = functional.cross_entropy(functional.linear(states, weight, bias), targets, reduction="sum")
    right = torch.autograd.grad(2.5 * expected, given)
    found = summed_cross_entropy(states, weight, bias, targets, entries=entries)
    assert torch.allclose(found, expected, rtol=1e-12)
    for own, other in zip(torch.autograd.grad(2.5 * found, given), right, strict=True):
        assert torch.allclose(own, other, rtol=1e-10, atol=1e-12)


def test_the_blocked_loss_leaves_out_what_is_held_and_bears_half_precision() -> None:
    torch.manual_seed(0)
    states, weight, bias = torch.randn(9, 8, requires_grad=True), torch.randn(30, 8), torch.zeros(30)
    targets = torch.arange(9)
    summed_cross_entropy(states, weight, bias, targets, entries=64).backward()
    assert states.grad is not None
    with torch.autocast("cpu", torch.bfloat16):
        half = summed_cross_entropy(states, weight.requires_grad_(), bias, targets, entries=64)
    half.backward()
    assert half.dtype == weight.grad.dtype == torch.float32  # type: ignore[union-attr]
    exact = functional.cross_entropy(functional.linear(states, weight, bias), targets, reduction="sum")
    assert float(half.detach()) == pytest.approx(float(exact.detach()), rel=0.02)
    with torch.no_grad():
        assert float(summed_cross_entropy(states, weight, bias, targets)) == pytest.approx(float(exact.detach()))
    assert float(summed_cross_entropy(states[:0], weight, bias, targets[:0]).detach()) == 0
