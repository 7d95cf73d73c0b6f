"""Weights for terms that a text does not say: against loops in float64, through the file, in both runtimes."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import ModelDamaged
from core.encode import heads as heads_module
from core.encode.heads import HEADS_FILE, Expansion, Heads, Linear, read_heads, write_heads
from core.encode.load import serve
from core.encode.onnx import FP32, OnnxEncoder
from core.encode.torch_encoder import TorchEncoder
from core.models.bundles import Bundle, load, seal

TERMS, WIDTH = 40, 64
TEXTS = ["the hive and the honey", "", "a ship in the harbour, and the storm " * 5]


def made(seed: int = 0, shift: float = -6.0) -> Expansion:
    luck = np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return luck.standard_normal(shape).astype(np.float32)

    ids = np.sort(luck.choice(np.arange(100, 400), TERMS, replace=False))
    transform = Linear(drawn(WIDTH, WIDTH) / 8, drawn(WIDTH) / 8)
    return Expansion(
        ids, drawn(TERMS, WIDTH), drawn(TERMS) + np.float32(shift), transform, 1 + drawn(WIDTH) / 9, drawn(WIDTH) / 9
    )


def slow(expansion: Expansion, states: np.ndarray) -> list[float]:
    """Token by token and term by term."""
    best = [-math.inf] * len(expansion.ids)
    for state in states.astype(float):
        row = expansion.transform.weight.astype(float) @ state + expansion.transform.bias
        row = [0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) for x in row]
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-5)
        shaped = [(x - mean) / spread * a + b for x, a, b in zip(row, expansion.scale, expansion.shift, strict=True)]
        for term, vector in enumerate(expansion.table.astype(float)):
            best[term] = max(best[term], float(vector @ shaped) + float(expansion.bias[term]))
    return [math.log1p(max(0.0, value)) for value in best]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weights_are_those_of_the_formula(seed: int) -> None:
    states = np.random.default_rng(seed + 10).standard_normal((7, WIDTH)).astype(np.float32)
    expansion = made(seed)
    found = expansion(states)
    np.testing.assert_allclose(found, slow(expansion, states), atol=1e-4)
    assert 0 < np.count_nonzero(found) < TERMS
    assert not expansion(states[:0]).any()


def test_only_the_largest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    states = np.random.default_rng(1).standard_normal((7, WIDTH)).astype(np.float32)
    whole = made()(states)
    monkeypatch.setattr(heads_module, "MOST_TERMS", 5)
    few = made()(states)
    assert np.flatnonzero(few).tolist() == sorted(np.argsort(-whole)[:5].tolist())


def expanding(base: Bundle, folder: Path) -> Bundle:
    shutil.copytree(base.folder, folder)
    write_heads(folder / HEADS_FILE, Heads(expansion=made()))
    seal(folder, {**base.config, "id": "expanding", "heads": ["dense", "lexical", "multi"]})
    return load(folder)


def test_both_runtimes_name_the_terms(tiny_bundle: Bundle, tmp_path: Path) -> None:
    bundle = expanding(tiny_bundle, tmp_path / "bundle")
    served = OnnxEncoder(bundle, threads=1, file=FP32)
    assert served.heads == {"dense", "lexical", "multi"}
    found = served.encode_heads(TEXTS, served.heads)
    assert found.lexical is not None
    expansion = made()
    for text, terms in zip(TEXTS, found.lexical, strict=True):
        told = served._tokens.tokenise(text)
        states = served._states(np.array([told.ids]), np.ones((1, len(told.ids)), np.int64))[0][told.own()]
        expected = dict(zip(expansion.ids.tolist(), slow(expansion, states), strict=True)) if len(states) else {}
        named = served._tokens.largest(list(expected), list(expected.values()))
        assert terms == pytest.approx({name: weight for name, weight in named.items() if weight > 0}, abs=1e-3)
    other = TorchEncoder(bundle, device="cpu").encode_heads(TEXTS, ("lexical",)).lexical
    assert other is not None
    assert [set(terms) for terms in other] == [set(terms) for terms in found.lexical]
    assert found.lexical[0]
    assert not found.lexical[1]


def test_a_damaged_expansion_is_told_of(tiny_bundle: Bundle, tmp_path: Path) -> None:
    bundle = expanding(tiny_bundle, tmp_path / "bundle")
    assert read_heads(bundle).expansion is not None
    write_heads(bundle.path(HEADS_FILE), Heads(expansion=replace(made(), ids=np.arange(3))))
    seal(bundle.folder, {key: value for key, value in bundle.config.items() if key not in ("files", "sizes")})
    with pytest.raises(ModelDamaged, match="expansion"):
        serve(load(bundle.folder), threads=1)
