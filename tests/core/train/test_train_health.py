"""Collapse is seen, and the way between two sets of weights has both at its ends."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.train.health import health
from core.train.interpolate import between


def _unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_figures_of_known_sets_of_vectors() -> None:
    random = np.random.default_rng(0)
    spread = _unit(random.normal(size=(1_500, 16)))
    found = health(spread)
    assert found.finite
    assert found.rank == pytest.approx(16, rel=0.02)
    assert found.mean_cosine == pytest.approx(0, abs=0.01)
    plane = _unit(np.pad(random.normal(size=(500, 2)), ((0, 0), (0, 14))))
    assert health(plane).rank == pytest.approx(2, rel=0.02)
    together = _unit(np.ones((50, 16)) + 0.05 * random.normal(size=(50, 16)))
    assert health(together).mean_cosine > 0.99


def test_the_mean_cosine_is_that_of_all_pairs() -> None:
    vectors = _unit(np.random.default_rng(1).normal(size=(30, 5)) + 0.5)
    cosines = (vectors.astype(np.float64) @ vectors.T.astype(np.float64))[np.triu_indices(30, 1)]
    assert health(vectors).mean_cosine == pytest.approx(cosines.mean(), abs=1e-9)


def test_what_is_no_number_and_what_is_all_the_same() -> None:
    vectors = _unit(np.ones((4, 3)))
    assert health(vectors).rank == 1
    vectors[1, 1] = np.nan
    assert not health(vectors).finite


def test_between_two_sets_of_weights() -> None:
    present = {"w": torch.tensor([0.0, 2.0]), "steps": torch.tensor(3)}
    trained = {"w": torch.tensor([4.0, 0.0]), "steps": torch.tensor(9)}
    assert between(present, trained, 0)["w"].tolist() == [0, 2]
    assert between(present, trained, 1)["w"].tolist() == [4, 0]
    half = between(present, trained, 0.25)
    assert half["w"].tolist() == [1, 1.5]
    assert int(half["steps"]) == 3
    with pytest.raises(ValueError, match="architectures"):
        between(present, {"w": torch.zeros(3)}, 0.5)
