"""What an autoencoder keeps of rankings: exact figures, and the directions they move in with k (three seeds)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from core.concepts.fidelity import fired, measure, nmse, order_kept, rankings, spearman
from core.concepts.material import Material
from core.concepts.sae import export, train
from core.concepts.settings import SaeConfig
from core.index.concept_model import ConceptModel
from tests.core.concepts.planted import sparse_mixtures

SEEDS = (0, 1, 2)
VECTORS = sparse_mixtures(1_200)
TRAIN, HELD = VECTORS[:900], VECTORS[900:]


@cache
def fitted(k: int, latents: int, seed: int) -> ConceptModel:
    return export(train(TRAIN, SaeConfig(latents=latents, k=k, steps=200, batch=128, seed=seed)))


@cache
def kept(k: int, seed: int) -> dict[str, float]:
    """Queries are passages with noise, so that each has one passage to be found."""
    luck = np.random.default_rng(seed)
    sources = luck.choice(len(VECTORS), 150, replace=False)
    queries = VECTORS[sources] + 0.8 * luck.normal(size=(150, VECTORS.shape[1])) / np.sqrt(VECTORS.shape[1])
    model = fitted(k, 100, seed)
    return rankings(queries.astype(np.float32), VECTORS, model.decode(model.encode(VECTORS)), sources)


def error(model: ConceptModel) -> float:
    return nmse(model, HELD, TRAIN.mean(0))


@pytest.mark.parametrize("seed", SEEDS)
def test_error_on_unseen_vectors_falls_with_k_and_with_expansion(seed: int) -> None:
    by_k = [error(fitted(k, 100, seed)) for k in (1, 2, 4)]
    assert by_k[0] - 0.05 > by_k[1] > by_k[2] + 0.05
    by_size = [error(fitted(2, latents, seed)) for latents in (12, 25, 100)]
    assert by_size[0] - 0.03 > by_size[1] > by_size[2] + 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_the_threshold_fires_about_k_latents_on_unseen_vectors(seed: int) -> None:
    """With many activations a latent (here 150): where there are few, latents learn the passages by heart."""
    assert fired(fitted(2, 12, seed), HELD) == pytest.approx(2, rel=0.15)


@pytest.mark.parametrize("seed", SEEDS)
def test_recall_is_kept_better_than_the_first_ranks(seed: int) -> None:
    found = kept(2, seed)
    assert found["recall_kept"] > found["ndcg_kept"] + 0.05
    assert found["recall_kept"] > found["mrr_kept"] + 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_the_nearest_is_kept_better_with_larger_k(seed: int) -> None:
    orders = [kept(k, seed)["spearman"] for k in (1, 2, 4)]
    assert orders[0] + 0.05 < orders[1] < orders[2] - 0.05


def test_rankings_of_the_true_vectors_keep_everything() -> None:
    found = rankings(VECTORS[:20], VECTORS, VECTORS, np.arange(20))
    assert found == {"ndcg_kept": 1.0, "mrr_kept": 1.0, "recall_kept": 1.0, "spearman": pytest.approx(1.0)}


def test_figures_by_hand() -> None:
    queries = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    passages = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], np.float32)
    rebuilt = np.array([[1.0, 0.0], [0.0, 0.5], [0.6, 0.8]], np.float32)
    found = rankings(queries, passages, rebuilt, np.array([0, 1]))  # the second query's passage falls to rank 2
    assert found["mrr_kept"] == pytest.approx(0.75)
    assert found["ndcg_kept"] == pytest.approx((1 + 1 / np.log2(3)) / 2)
    assert found["recall_kept"] == pytest.approx(0.5)  # of three passages, the first alone
    assert spearman(np.array([[1, 2, 3]], float), np.array([[3, 2, 1]], float)) == pytest.approx(-1)
    assert order_kept(queries @ passages.T, queries @ rebuilt.T) == pytest.approx(0.75)


def test_measure_tells_texts_apart_and_leaves_out_what_it_has_no_texts_for() -> None:
    luck = np.random.default_rng(123)  # that of the vectors would draw their own directions
    outside = luck.normal(size=(50, VECTORS.shape[1])).astype(np.float32)
    outside /= np.linalg.norm(outside, axis=1, keepdims=True)
    nothing = np.empty((0, VECTORS.shape[1]), np.float32)
    train_rows, held_rows, none = np.arange(900), np.arange(900, 1_200), np.empty(0, np.int64)
    model = fitted(4, 100, 0)
    full = measure(model, VECTORS, Material(TRAIN, train_rows, held_rows, VECTORS[:30], np.arange(30), outside))
    assert full["nmse"] < full["nmse_held_out"]
    assert full["nmse_outside"] == pytest.approx(nmse(model, outside, TRAIN.mean(0)), abs=1e-4)
    assert full["l0_outside"] == pytest.approx(fired(model, outside), abs=1e-4)
    assert full["nmse_outside"] > full["nmse_held_out"] + 0.1
    assert full["live"] + full["dead"] == pytest.approx(1)
    assert {"l0", "l0_held_out", "l0_questions", "l0_outside", "ndcg_kept", "spearman"} <= set(full)
    bare = measure(model, VECTORS, Material(TRAIN, train_rows, held_rows, nothing, none, nothing))
    assert not {"nmse_outside", "l0_outside", "l0_questions", "ndcg_kept", "spearman"} & set(bare)
    assert bare["nmse"] == full["nmse"]
