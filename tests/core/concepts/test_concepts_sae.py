"""The autoencoder: exact properties of its steps, and the directions its figures move in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.base.errors import Cancelled
from core.base.events import Control
from core.concepts.fidelity import nmse
from core.concepts.sae import (
    Kept,
    SparseAutoencoder,
    auxiliary_loss,
    batch_top,
    encode,
    export,
    geometric_median,
    remove_parallel_gradient,
    train,
    train_step,
)
from core.concepts.settings import DATA, RANDOM, SaeConfig, plan
from core.index.concept_model import ConceptModel
from tests.core.concepts.planted import auc, plant, sparse_mixtures

CONFIG = SaeConfig(latents=40, k=3, steps=250, batch=128)
TRAIN, HELD = plant(600, seed=1), plant(300, seed=2)


def fitted(config: SaeConfig = CONFIG) -> ConceptModel:
    return export(train(TRAIN.vectors, config))


@pytest.fixture(scope="module")
def model() -> ConceptModel:
    return fitted()


def error(model: ConceptModel) -> float:
    return nmse(model, HELD.vectors, TRAIN.vectors.mean(0))


def some_sae(**changes: object) -> tuple[SparseAutoencoder, torch.Tensor]:
    x = torch.from_numpy(TRAIN.vectors[:128])
    sae = SparseAutoencoder(x.shape[1], replace(CONFIG, **changes))  # type: ignore[arg-type]
    with torch.no_grad():
        sae.bias.copy_(geometric_median(x))
    return sae, x


def test_batch_top_keeps_the_largest_positive_entries_of_the_whole_batch() -> None:
    pre = torch.tensor([[5.0, 4.0, 3.0], [-1.0, 0.5, -2.0]])
    rows, latents = batch_top(pre, 4)
    assert list(zip(rows.tolist(), latents.tolist(), strict=True)) == [(0, 0), (0, 1), (0, 2), (1, 1)]
    rows, latents = batch_top(pre, 6)
    assert len(rows) == 4  # the negative ones are never kept


@pytest.mark.parametrize("guess", [-5.0, 0.3, 1.5, 50.0])
def test_a_guess_of_the_smallest_entry_changes_nothing(guess: float) -> None:
    pre = torch.randn(30, 20, generator=torch.Generator().manual_seed(0))
    for count in (40, 250, 600):
        for found, plain in zip(batch_top(pre, count, guess), batch_top(pre, count), strict=True):
            assert torch.equal(found, plain)


def test_sparse_computation_equals_the_dense_formula() -> None:
    sae, x = some_sae()
    kept = encode(sae, x)
    pre = (x - sae.bias) @ sae.encoder.T + sae.encoder_bias
    least = pre.flatten().topk(len(x) * CONFIG.k).values[-1]
    z = torch.where((pre >= least) & (pre > 0), pre, torch.zeros(()))
    assert torch.allclose(sae.decode(kept), z @ sae.decoder, atol=1e-5)
    dense = torch.autograd.grad((x - sae.bias - z @ sae.decoder).square().sum(), list(sae.parameters()))
    sparse = torch.autograd.grad((x - sae.bias - sae.decode(kept)).square().sum(), list(sae.parameters()))
    for one, other in zip(dense, sparse, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4)


def test_a_row_without_activations_is_rebuilt_as_the_bias() -> None:
    sae, _ = some_sae()
    kept = Kept(torch.tensor([4, 7]), torch.tensor([1.0, 2.0]), torch.tensor([0, 2, 2]))
    rebuilt = sae.decode(kept)
    assert torch.allclose(rebuilt[0], sae.decoder[4] + 2 * sae.decoder[7])
    assert not rebuilt[1:].any()


def test_encoder_starts_as_the_decoders_transpose_and_rows_have_the_fixed_norm() -> None:
    sae, _ = some_sae()
    assert torch.equal(sae.encoder, sae.decoder)
    assert torch.allclose(sae.decoder.norm(dim=1), torch.full((40,), 0.35))


def test_a_start_from_data_takes_the_directions_of_training_vectors() -> None:
    x = torch.from_numpy(TRAIN.vectors)
    sae = SparseAutoencoder(x.shape[1], replace(CONFIG, start=DATA))
    sae.begin(x)
    assert torch.allclose(sae.bias, geometric_median(x))
    alike = torch.nn.functional.normalize(sae.decoder, dim=1) @ torch.nn.functional.normalize(x - sae.bias, dim=1).T
    assert (alike.max(1).values > 0.9999).all()
    assert len(set(alike.argmax(1).tolist())) == 40
    assert torch.equal(sae.encoder, sae.decoder)
    assert torch.allclose(sae.decoder.norm(dim=1), torch.full((40,), 0.35))


def test_decoder_norms_stay_fixed_after_each_step() -> None:
    sae, x = some_sae()
    optimizer = torch.optim.Adam(sae.parameters(), lr=0.05)
    before = sae.decoder.detach().clone()
    for _ in range(5):
        train_step(sae, optimizer, x)
        assert torch.allclose(sae.decoder.norm(dim=1), torch.full((40,), 0.35), atol=1e-5)
    assert (sae.decoder - before).abs().max() > 0.01


def test_the_parallel_part_of_the_gradient_is_removed() -> None:
    sae, x = some_sae()
    (x - sae.bias - sae.decode(encode(sae, x))).square().sum().backward()
    assert sae.decoder.grad is not None
    assert (sae.decoder.grad * sae.decoder).sum(1).abs().max() > 1e-3
    remove_parallel_gradient(sae)
    assert (sae.decoder.grad * sae.decoder).sum(1).abs().max() < 1e-4


def test_auxiliary_gradient_reaches_dead_latents_only_and_no_bias() -> None:
    sae, x = some_sae()
    dead = torch.zeros(40, dtype=torch.bool)
    dead[[2, 11, 30]] = True
    sae.idle_M[dead] = 10_000
    residual = x - sae.bias - sae.decode(encode(sae, x))
    auxiliary_loss(sae, x, residual).backward()
    for parameter in (sae.encoder, sae.decoder, sae.encoder_bias):
        assert parameter.grad is not None
        touched = parameter.grad.reshape(40, -1).abs().sum(1) > 0
        assert touched[dead].all()
        assert not touched[~dead].any()
    assert sae.bias.grad is None or not sae.bias.grad.any()


def test_auxiliary_loss_holds_no_bias_twice() -> None:
    """With a residual that the dead latents rebuild exactly the loss is 0, however large the bias."""
    sae, x = some_sae()
    sae.idle_M[:] = 10_000
    with torch.no_grad():
        pre = sae.preactivations(x)
        rows, latents = batch_top(pre, 2 * CONFIG.k * len(x))
        z = torch.zeros_like(pre)
        z[rows, latents] = pre[rows, latents]
    assert auxiliary_loss(sae, x, z @ sae.decoder).item() < 1e-8


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_auxiliary_loss_lowers_the_dead_share(seed: int) -> None:
    vectors = sparse_mixtures()

    def dead(weight: float) -> float:
        config = SaeConfig(
            latents=100, k=2, steps=150, batch=128, rate=1e-2, start=RANDOM, dead_after=5, seed=seed, aux_weight=weight
        )
        return float((export(train(vectors, config)).encode(vectors).max(0) <= 0).mean())

    assert dead(1 / 32) < dead(0.0) - 0.02


def test_error_falls_with_k_and_with_latents() -> None:
    errors = [error(fitted(replace(CONFIG, k=k))) for k in (1, 2, 4)]
    assert errors[0] > errors[1] > errors[2]
    errors = [error(fitted(replace(CONFIG, latents=m, k=2))) for m in (5, 10, 20)]
    assert errors[0] > errors[1] > errors[2]


def test_it_rebuilds_unseen_vectors_far_better_than_random_directions_do(model: ConceptModel) -> None:
    random = SparseAutoencoder(TRAIN.vectors.shape[1], CONFIG)
    with torch.no_grad():
        random.bias.copy_(torch.from_numpy(model.bias))
        pre = random.preactivations(torch.from_numpy(HELD.vectors)).numpy()
    threshold = float(np.sort(pre.ravel())[-CONFIG.k * len(pre)])
    control = replace(export(random), threshold=threshold, decoder=export(random).decoder / CONFIG.norm**2)
    assert error(model) < 0.5 * error(control)


def test_threshold_keeps_about_k_latents_on_unseen_vectors(model: ConceptModel) -> None:
    active = (model.encode(HELD.vectors) > 0).sum(1).mean()
    assert abs(active - CONFIG.k) <= 0.15 * CONFIG.k


def test_threshold_ignores_batches_that_are_not_full() -> None:
    sae, x = some_sae()
    optimizer = torch.optim.Adam(sae.parameters(), lr=1e-3)
    train_step(sae, optimizer, x[:20])
    assert sae.threshold is None
    train_step(sae, optimizer, x)
    assert sae.threshold is not None


def test_planted_topics_are_found(model: ConceptModel) -> None:
    active = model.encode(HELD.vectors)
    for topic in range(HELD.topics.shape[1]):
        best = max(auc(active[:, latent], HELD.topics[:, topic]) for latent in range(model.latents))
        assert best > 0.9, topic


def test_same_vectors_give_the_same_weights_bit_by_bit(model: ConceptModel) -> None:
    again = fitted()
    assert again.threshold == model.threshold
    for name in ("encoder", "encoder_bias", "decoder", "bias"):
        assert np.array_equal(getattr(again, name), getattr(model, name)), name
    other = fitted(replace(CONFIG, seed=5))
    assert not np.array_equal(other.decoder, model.decoder)


def test_training_leaves_the_number_of_threads_as_it_was() -> None:
    before = torch.get_num_threads()
    train(TRAIN.vectors, replace(CONFIG, steps=1))
    assert torch.get_num_threads() == before


def test_cancel_stops_between_steps() -> None:
    control, steps = Control(), []

    def on_step(step: int, error: float) -> None:
        steps.append(step)
        if step == 3:
            control.cancel()

    with pytest.raises(Cancelled):
        train(TRAIN.vectors, CONFIG, control, on_step)
    assert steps == [1, 2, 3]


def test_geometric_median_is_not_moved_by_an_outlier() -> None:
    x = torch.cat([torch.randn(200, 4, generator=torch.Generator().manual_seed(0)), torch.full((10, 4), 100.0)])
    assert geometric_median(x).norm() < 0.5 < x.mean(0).norm()


@pytest.mark.parametrize(("passages", "vectors"), [(24, 80), (240, 1_000), (5_000, 7_000), (50_000, 22_000)])
def test_size_obeys_the_rule(passages: int, vectors: int) -> None:
    config = plan(passages, vectors, 384)
    assert config.latents <= max(vectors * config.k / 30, 2 * config.k)
    assert config.batch <= vectors
    assert plan(passages, vectors, 384) == config
