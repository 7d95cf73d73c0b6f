"""Latents of two models paired: exact on known permutations, true to planted topics after a new training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.concepts.match import carry, carry_by_use, match_share, matched
from core.concepts.sae import export, train
from core.concepts.settings import SaeConfig
from core.index.concept_model import ConceptModel
from tests.core.concepts.planted import auc, plant


def some_model(latents: int = 20, dimension: int = 32, seed: int = 0) -> ConceptModel:
    rows = np.random.default_rng(seed).normal(size=(latents, dimension)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    zeros = np.zeros(latents, np.float32)
    return ConceptModel(rows, zeros, rows, np.zeros(dimension, np.float32), 0.1)


def permuted(model: ConceptModel, order: np.ndarray) -> ConceptModel:
    return replace(
        model, encoder=model.encoder[order], decoder=model.decoder[order], encoder_bias=model.encoder_bias[order]
    )


def test_a_permutation_with_noise_is_found_again() -> None:
    model, luck = some_model(), np.random.default_rng(1)
    order = luck.permutation(20)
    other = permuted(model, order)
    noisy = replace(other, decoder=other.decoder + 0.05 * luck.normal(size=other.decoder.shape).astype(np.float32))
    assert carry(model, noisy) == {int(old): new for new, old in enumerate(order)}
    assert carry(model, replace(noisy, decoder=3 * noisy.decoder)) == carry(model, noisy)  # lengths do not matter


def test_what_is_not_like_any_has_no_partner() -> None:
    assert carry(some_model(seed=0), some_model(seed=1)) == {}


def test_dead_latents_are_nobodys_partner() -> None:
    model = some_model()
    alive = np.arange(20) % 2 == 0
    assert carry(model, model, alive=alive) == {n: n for n in range(0, 20, 2)}


def test_pairs_are_one_to_one_with_the_largest_sum_and_none_below_the_least() -> None:
    similar = np.array([[0.9, 0.8], [0.85, 0.1]], np.float32)
    assert matched(similar, 0.5) == {0: 1, 1: 0}  # 0.8 + 0.85 is more than 0.9 + 0.1
    assert matched(np.array([[0.9, 0.4], [0.8, 0.3]], np.float32), 0.5) == {0: 0}


def test_models_of_other_dimensions_are_not_compared() -> None:
    with pytest.raises(ValueError, match="dimension"):
        carry(some_model(), some_model(dimension=16))


def test_use_finds_partners_across_vector_spaces() -> None:
    luck = np.random.default_rng(0)
    vectors = luck.normal(size=(200, 32)).astype(np.float32)
    turned = np.linalg.qr(luck.normal(size=(32, 32)))[0].astype(np.float32)
    model, order = some_model(), luck.permutation(20)
    other = permuted(replace(model, encoder=model.encoder @ turned, decoder=model.decoder @ turned), order)
    assert len(carry(model, other)) < 5  # of 20: chance likenesses alone
    pairs = carry_by_use(model.encode(vectors), other.encode(vectors @ turned))
    assert pairs == {int(old): new for new, old in enumerate(order)}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_new_training_keeps_the_topics_at_their_partners(seed: int) -> None:
    """The second corpus has as many passages again; what stood for a topic is paired with what does now."""
    first, held = plant(500, seed=seed), plant(300, seed=90 + seed)
    both = np.concatenate([first.vectors, plant(500, seed=50 + seed).vectors])
    config = SaeConfig(latents=24, k=3, steps=200, batch=128)
    old, new = export(train(first.vectors, config)), export(train(both, replace(config, seed=7)))
    pairs = carry(old, new)
    old_NM, new_NM = old.encode(held.vectors), new.encode(held.vectors)
    kept = 0
    for topic in range(held.topics.shape[1]):
        here = held.topics[:, topic]
        best = max(range(24), key=lambda m: auc(old_NM[:, m], here))
        kept += best in pairs and auc(new_NM[:, pairs[best]], here) > 0.85
    assert kept >= 3  # of 10; by chance 0
    assert match_share(old, new, held.vectors) > 0.2
