"""Large dense files: codes beside the full vectors, exact search as the reference."""

from pathlib import Path

import numpy as np
import pytest

from core.base.errors import IndexDamaged
from core.index import dense
from core.index.snapshot import Snapshot
from tests.shelf import Item, Shelf

ROWS, DIMENSION = 3_000, 64


def clustered(count: int, seed: int) -> np.ndarray:
    """Unit vectors around 40 centres, near one another as texts of one subject are."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((40, DIMENSION))
    vectors = centres[rng.integers(0, 40, count)] + 0.7 * rng.standard_normal((count, DIMENSION))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def coded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[dense.DenseFile, np.ndarray]:
    monkeypatch.setattr(dense, "FLAT_UP_TO", 200)
    monkeypatch.setattr(dense, "_LEAST_AGAIN", 100)
    vectors = clustered(ROWS, 1)
    dense.write(tmp_path / "dense-1.faiss", vectors)
    return dense.DenseFile(tmp_path / "dense-1.faiss", ROWS, DIMENSION), vectors


def recall(file: dense.DenseFile, vectors: np.ndarray, mask: np.ndarray) -> float:
    found = []
    for query in clustered(60, 2):
        scores = np.where(mask, vectors @ query, -np.inf)
        top = file.top(query, 26, mask)
        assert mask[top.ordinals].all()
        np.testing.assert_allclose(top.scores, scores[top.ordinals], atol=1e-6)
        assert (np.diff(top.scores) <= 0).all()
        found.append(len(set(top.ordinals[:10]) & set(np.argsort(-scores)[:10])) / 10)
    return float(np.mean(found))


def test_the_nearest_are_found_by_codes(coded: tuple[dense.DenseFile, np.ndarray]) -> None:
    assert recall(*coded, np.ones(ROWS, np.bool_)) >= 0.98


@pytest.mark.parametrize("share", [0.8, 0.3])
def test_deleted_and_filtered_rows_are_passed_over(coded: tuple[dense.DenseFile, np.ndarray], share: float) -> None:
    assert recall(*coded, np.random.default_rng(3).random(ROWS) < share) >= 0.98


def test_few_allowed_rows_are_compared_exactly(coded: tuple[dense.DenseFile, np.ndarray]) -> None:
    assert recall(*coded, np.random.default_rng(3).random(ROWS) < 0.05) == 1.0


def test_full_vectors_are_kept(coded: tuple[dense.DenseFile, np.ndarray]) -> None:
    file, vectors = coded
    chosen = np.array([2_999, 0, 17])
    np.testing.assert_array_equal(file.rows(chosen), vectors[chosen])
    everything = np.ones(ROWS, np.bool_)
    near = file.at_least(vectors[17], 0.9, everything)
    assert sorted(near.tolist()) == np.flatnonzero(vectors @ vectors[17] > 0.9).tolist()


def test_files_of_codes_are_smaller_than_a_third_of_the_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = clustered(ROWS, 1)
    dense.write(tmp_path / "flat.faiss", vectors)
    monkeypatch.setattr(dense, "FLAT_UP_TO", 200)
    dense.write(tmp_path / "coded.faiss", vectors)
    sizes = [(tmp_path / name).stat().st_size for name in ("flat.faiss", "coded.faiss")]
    assert sizes[0] < sizes[1] < sizes[0] * 4 / 3


def test_a_damaged_file_of_codes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "FLAT_UP_TO", 200)
    path = tmp_path / "dense-1.faiss"
    dense.write(path, clustered(700, 1))
    path.write_bytes(path.read_bytes()[:30_000])
    with pytest.raises(IndexDamaged):
        dense.DenseFile(path, 700, DIMENSION)


def test_a_large_segment_is_merged_and_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two segments of codes and one without become one; what was deleted stays away, scores stay exact."""
    monkeypatch.setattr(dense, "FLAT_UP_TO", 625)
    count = 640 + 630 + 320
    vectors = clustered(count, 4)
    shelf = Shelf(tmp_path / "library", dimension=DIMENSION)
    made = [Item(f"/shelf/{n:04d}", "words", v) for n, v in enumerate(vectors)]
    ids = np.array([i for part in (made[:640], made[640:1270], made[1270:]) for i in shelf.add(part)])
    for n in range(0, count, 29):
        shelf.remove(made[n].name)
    alive = np.arange(count) % 29 != 0

    def check() -> None:
        with Snapshot.open(shelf.folder) as snapshot:
            for query in clustered(10, 5):
                expected = vectors.astype(np.float64) @ query
                found, scores = snapshot.dense(query, 8)
                np.testing.assert_allclose(scores, expected[np.searchsorted(ids, found)], rtol=1e-12)
                best = ids[alive][np.argsort(-expected[alive])[:8]]
                assert found.tolist() == best.tolist()

    check()
    writer = shelf.writer()
    writer.compact()
    writer.merge()
    assert len(writer.commit().segments) == 1
    check()
