from pathlib import Path

import numpy as np
import pytest

from core.base.errors import IndexDamaged
from core.encode.encoder import Encoded
from core.index import generation, neutral
from core.index.check import check
from core.index.neutral import CENTRED, Means, estimate
from core.index.snapshot import Snapshot
from core.index.writer import rebuild
from tests.shelf import DIMENSION, ENCODER, Item, Shelf, unit_vectors

TOPICS = 20


def planted(languages: str, each: int, seed: int = 0) -> tuple[np.ndarray, list[str]]:
    """Passages of the same topics in each language; the language moves them further than the topic does."""
    topics = np.repeat(unit_vectors(TOPICS, 1), each, axis=0)
    noise = np.random.default_rng(seed).standard_normal((len(languages), len(topics), DIMENSION)) * 0.05
    moved = unit_vectors(len(languages), 2)[:, None] * 1.5
    vectors = (topics[None] + moved + noise).reshape(-1, DIMENSION)
    told = [code for code in languages for _ in topics]
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), told


def items(languages: str, each: int = 1) -> list[Item]:
    vectors, told = planted(languages, each)
    return [
        Item(f"/shelf/{code}{i:03d}.txt", f"topic {i}", v, language=code * 2)
        for i, (v, code) in enumerate(zip(vectors, told, strict=True))
    ]


def test_passages_and_queries_equal_a_loop_in_64_bits() -> None:
    vectors, told = planted("abc", 2)
    means = estimate(vectors, told)
    assert means is not None
    assert means.languages == ("a", "b", "c")
    got = means.passages(vectors, told)
    for row, (vector, language) in enumerate(zip(vectors, told, strict=True)):
        offset = means.offsets[means.languages.index(language)].astype(np.float64)
        wanted = vector.astype(np.float64) - offset - CENTRED * means.centre.astype(np.float64)
        assert got[row] == pytest.approx(wanted / np.sqrt((wanted**2).sum()), abs=1e-6)
    basis: list[np.ndarray] = []
    for offset in means.offsets.astype(np.float64):
        left = offset - sum(((offset @ b) * b for b in basis), np.zeros(DIMENSION))
        if np.linalg.norm(left) > 1e-3 * np.linalg.norm(offset):
            basis.append(left / np.linalg.norm(left))
    query = unit_vectors(1, 9)[0].astype(np.float64)
    left = query - means.centre
    left = left - sum(((left @ b) * b for b in basis), np.zeros(DIMENSION)) + (1 - CENTRED) * means.centre
    found = means.queries(query[None].astype(np.float32))[0]
    assert found == pytest.approx(left / np.linalg.norm(left), abs=1e-5)


def test_offsets_of_few_passages_are_shrunk() -> None:
    vectors, told = planted("ab", 5)
    few = [i for i, code in enumerate(told) if code == "a" or i % 20 == 0]
    means, whole = estimate(vectors[few], [told[i] for i in few]), estimate(vectors, told)
    assert means is not None
    assert whole is not None
    between = np.linalg.norm(means.offsets[1] - means.offsets[0])
    raw = vectors[[i for i in few if told[i] == "b"]].mean(0) - vectors[: len(told) // 2].mean(0)
    assert 0.5 * np.linalg.norm(raw) < between < np.linalg.norm(raw)


def test_a_question_finds_its_topic_in_the_other_language() -> None:
    vectors, told = planted("ab", 1)
    topics = np.tile(np.arange(TOPICS), 2)
    means = estimate(vectors, told)
    assert means is not None
    passages, queries = means.passages(vectors, told), means.queries(vectors)
    for scores, wanted in ((vectors @ vectors.T, 0.0), (queries @ passages.T, 0.9)):
        np.fill_diagonal(scores, -9.0)
        right = (topics[scores.argmax(1)] == topics).mean()
        assert right >= wanted if wanted else right < 0.5


@pytest.mark.parametrize("told", [["a"] * 40, ["a"] * 20 + [""] * 20, ["a"] * 38 + ["b"] * 2])
def test_one_language_has_no_means(told: list[str]) -> None:
    assert estimate(unit_vectors(40), told) is None


def test_a_language_that_the_vectors_do_not_show_is_a_mistake() -> None:
    vectors, _ = planted("a", 3)
    assert estimate(vectors, ["a" if i % 5 else "b" for i in range(len(vectors))]) is None


def test_passages_of_other_languages_take_the_nearest() -> None:
    vectors, told = planted("ab", 2)
    means = estimate(vectors, told)
    assert means is not None
    strange = means.passages(vectors, ["" if i % 2 else "x" for i in range(len(vectors))])
    assert np.array_equal(strange, means.passages(vectors, told))


def dense(shelf: Shelf) -> tuple[Means | None, dict[str, np.ndarray]]:
    with Snapshot.open(shelf.folder) as snapshot:
        ids = snapshot.ids()
        paths = {i: p.path for i, p in snapshot.passages(ids.tolist()).items()}
        found = {paths[i]: v for i, v in zip(ids.tolist(), snapshot.vectors(ids), strict=True)}
        return snapshot.means, found


def fill(shelf: Shelf, parts: list[list[Item]]) -> None:
    for part in parts:
        writer = shelf.writer()
        writer.add(shelf.store(part), np.stack([item.vector for item in part]))
        writer.merge()
        writer.neutralise()
        writer.commit()
        writer.collect_garbage()


def test_a_library_that_lived_equals_a_fresh_one(tmp_path: Path) -> None:
    made = items("abc", 2)
    lived, fresh = Shelf(tmp_path / "lived"), Shelf(tmp_path / "fresh")
    fill(lived, [made[:45], made[45:50], made[50:]])
    for item in made[:7]:
        lived.remove(item.name)
    writer = lived.writer()
    writer.neutralise()
    writer.commit()
    fill(fresh, [made[7:]])
    (means, vectors), (other, others) = dense(lived), dense(fresh)
    assert means is not None
    assert means.same(other)
    assert vectors.keys() == others.keys()
    assert all(np.array_equal(v, others[path]) for path, v in vectors.items())
    assert [f.detail for f in check(lived.folder, lived.db) if f.severity != "ok"] == []
    rebuilt = rebuild(lived.folder, lived.db, _Encoder())
    assert rebuilt.means
    assert dense(lived)[0].same(means)


class _Encoder:
    id, dimension, heads = ENCODER, DIMENSION, frozenset({"dense"})

    def encode_heads(self, texts: object, heads: object, **_: object) -> Encoded:
        raise AssertionError("all vectors are stored")


def test_vectors_of_one_language_stay_as_they_are(tmp_path: Path) -> None:
    made = items("a", 2)
    shelf = Shelf(tmp_path / "library")
    fill(shelf, [made])
    means, vectors = dense(shelf)
    assert means is None
    assert generation.current(shelf.folder).means == ""
    assert all(np.array_equal(vectors[item.name], item.vector) for item in made)
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.query_vector(made[0].vector) is made[0].vector


def test_a_second_language_comes_and_goes(tmp_path: Path) -> None:
    made = items("ab", 1)
    shelf = Shelf(tmp_path / "library")
    fill(shelf, [made[:20], made[20:]])
    assert dense(shelf)[0] is not None
    for item in made[20:]:
        shelf.remove(item.name)
    writer = shelf.writer()
    writer.neutralise()
    writer.commit()
    means, vectors = dense(shelf)
    assert means is None
    assert all(np.array_equal(vectors[item.name], item.vector) for item in made[:20])


def test_means_that_are_lost_are_damage(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "library")
    fill(shelf, [items("ab", 1)])
    path = shelf.folder / generation.current(shelf.folder).means  # type: ignore[union-attr]
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(IndexDamaged):
        neutral.read(path, DIMENSION)
    assert any("means" in f.detail for f in check(shelf.folder, shelf.db))
    made = rebuild(shelf.folder, shelf.db, _Encoder())
    assert made.means
    assert dense(shelf)[0] is not None
