"""The graph in 8 bits: rounding, what it is measured against, and which graph is chosen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from core.base.errors import ModelDamaged
from core.base.files import sha256_file
from core.encode import choice
from core.encode.choice import Comparison, compare, spearman
from core.encode.export import export
from core.encode.int8 import rounded
from core.encode.onnx import DATA, FP32, INT8, OnnxEncoder
from core.encode.sample import CALIBRATION, JUDGED, QUESTIONS
from core.models.bundles import Bundle

pytestmark = pytest.mark.filterwarnings("error")


def test_two_neighbours_never_overflow_and_little_is_lost() -> None:
    luck = np.random.default_rng(5)
    for rows in (64, 65):
        weight = luck.normal(size=(rows, 40)).astype(np.float32)
        weight[3, 7], weight[2, 7] = 9, 8.5  # two neighbours of the same sign
        weight[:, 9] = 0
        steps, sizes = rounded(weight)
        wide = np.concatenate([steps, np.zeros((rows % 2, 40), np.int8)]).astype(int)
        for first, second in zip(wide[0::2].T.ravel(), wide[1::2].T.ravel(), strict=True):
            products = [a * first + b * second for a in (0, 255) for b in (0, 255)]
            assert min(products) >= -32768
            assert max(products) <= 32767
        assert np.abs(steps * sizes - weight).max(axis=0) == pytest.approx(sizes / 2, abs=1.0)
        assert (np.abs(steps * sizes - weight) <= sizes / 2 + 1e-6).all()


@pytest.mark.parametrize("file", [FP32, INT8])
def test_a_vector_depends_on_its_text_alone(tiny_bundle: Bundle, file: str) -> None:
    encoder = OnnxEncoder(tiny_bundle, file=file, threads=2)
    texts = [*JUDGED, *QUESTIONS, *(f"Ship {n} brings cargo to the harbour." for n in range(40))]
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    np.testing.assert_array_equal(encoder.encode(texts), alone)


def test_rounding_keeps_the_vectors(tiny_bundle: Bundle) -> None:
    exact, small = (OnnxEncoder(tiny_bundle, file=file, threads=1).encode(JUDGED) for file in (FP32, INT8))
    assert (exact * small).sum(axis=1).min() > 0.99
    assert not np.array_equal(exact, small)
    assert tiny_bundle.path(INT8).stat().st_size < 0.6 * tiny_bundle.path(FP32).stat().st_size


def test_a_large_graph_has_its_weights_in_a_second_file(
    tiny_bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "large"
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copy(tiny_bundle.path(name), folder)
    monkeypatch.setattr("core.encode.export._LARGEST_FILE", 100_000)
    fields = export(folder)
    assert (folder / f"{FP32}{DATA}").stat().st_size > 5 * (folder / FP32).stat().st_size
    assert not list(folder.glob(".*"))
    names = sorted(path.name for path in folder.iterdir())
    config = {**tiny_bundle.config, **fields, "files": {name: sha256_file(folder / name) for name in names}}
    bundle = Bundle("large", "encoder", folder, config)
    expected = OnnxEncoder(tiny_bundle, file=FP32, threads=1).encode(JUDGED)
    np.testing.assert_allclose(OnnxEncoder(bundle, file=FP32, threads=1).encode(JUDGED), expected, atol=1e-6)
    data = (folder / f"{FP32}{DATA}").read_bytes()
    (folder / f"{FP32}{DATA}").write_bytes(data[:-1] + b"x")
    with pytest.raises(ModelDamaged):
        OnnxEncoder(bundle, file=FP32, threads=1)


def test_agreement_is_spearman() -> None:
    luck = np.random.default_rng(1)
    left, right = (luck.normal(size=(6, 30)).astype(np.float32) for _ in range(2))
    slow = np.mean([spearmanr(a, b).statistic for a, b in zip(left, right, strict=True)])
    assert spearman(left, right) == pytest.approx(slow, abs=1e-5)
    assert spearman(left, left) == pytest.approx(1)
    assert spearman(left, -left) == pytest.approx(-1)


@pytest.mark.parametrize(
    ("agreement", "speed", "passed"), [(0.995, 1.5, True), (0.989, 1.5, False), (0.999, 0.9, False)]
)
def test_eight_bits_must_agree_and_be_faster(agreement: float, speed: float, passed: bool) -> None:
    assert Comparison(agreement, speed).passed is passed


def test_choice_is_measured_and_written_down(
    tiny_bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copyfile(tiny_bundle.path(name), tmp_path / name)
    fields = json.loads(json.dumps(export(tmp_path)))
    figures = fields["int8"]
    passed = figures["agreement"] >= 0.99 and figures["speed"] > 1
    assert fields["serving"] == (INT8 if passed else FP32)
    monkeypatch.setattr(choice, "LEAST_AGREEMENT", 1.01)
    assert export(tmp_path)["serving"] == FP32
    exact, small = (OnnxEncoder(tiny_bundle, file=file, threads=1) for file in (FP32, INT8))
    assert compare(exact, exact).agreement == pytest.approx(1)
    assert 0.9 < compare(exact, small).agreement < 1


def test_judged_texts_are_not_those_of_the_calibration() -> None:
    assert not {*CALIBRATION} & {*JUDGED, *QUESTIONS}
    assert len({*JUDGED}) == len(JUDGED)
