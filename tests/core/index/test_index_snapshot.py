from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import NotFound
from core.base.types import BM25
from core.index.snapshot import Snapshot
from core.text.analyze import QueryTerm, query_terms, term_texts
from tests.shelf import Item, Shelf, items, unit_vectors

K1, B = 0.9, 0.4


def reference_bm25(texts: dict[int, str], query: list[QueryTerm]) -> dict[int, float]:
    """BM25 straight from its definition, passage by passage."""
    bags = {i: Counter(term_texts(f"note {text}", "en")) for i, text in texts.items()}
    average = sum(sum(bag.values()) for bag in bags.values()) / len(bags)
    scores = dict.fromkeys(texts, 0.0)
    for term in query:
        frequency = {i: sum(bag[a] for a in term.alternatives) for i, bag in bags.items()}
        holding = sum(1 for f in frequency.values() if f)
        idf = np.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
        for i, f in frequency.items():
            length = sum(bags[i].values())
            scores[i] += term.weight * idf * f * (K1 + 1) / (f + K1 * (1 - B + B * length / average))
    return scores


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "library")


def test_an_empty_library_gives_an_empty_snapshot(shelf: Shelf) -> None:
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.generation.number == 0
        assert snapshot.languages() == []
        assert len(snapshot.dense(unit_vectors(1)[0], 5)[0]) == 0
        assert len(snapshot.sparse(BM25, query_terms("amber", []), 5)[0]) == 0
        with pytest.raises(NotFound):
            snapshot.vector(1)


def test_bm25_equals_its_definition(shelf: Shelf) -> None:
    made = items(60)
    ids = [i for start in range(0, 60, 25) for i in shelf.add(made[start : start + 25])]
    texts = dict(zip(ids, (item.text for item in made), strict=True))
    query = [*query_terms("amber amber cedar fjord unknown", ["en"]), QueryTerm("either", ("kelp", "marsh"))]
    expected = reference_bm25(texts, query)
    with Snapshot.open(shelf.folder) as snapshot:
        found, scores = snapshot.sparse(BM25, query, 60)
        assert set(found.tolist()) == {i for i, score in expected.items() if score > 0}
        np.testing.assert_allclose(scores, [expected[i] for i in found.tolist()], rtol=1e-12)
        assert (np.diff(scores) <= 0).all()
        everything = snapshot.sparse_scores(BM25, query, np.array(ids))
        np.testing.assert_allclose(everything, [expected[i] for i in ids], rtol=1e-12)


def test_dense_equals_brute_force(shelf: Shelf) -> None:
    made = items(60)
    ids = np.array([i for start in range(0, 60, 25) for i in shelf.add(made[start : start + 25])])
    matrix = np.stack([item.vector for item in made]).astype(np.float64)
    with Snapshot.open(shelf.folder) as snapshot:
        for vector in unit_vectors(5, seed=9):
            expected = matrix @ vector
            found, scores = snapshot.dense(vector, 10)
            assert found.tolist() == ids[np.argsort(-expected)[:10]].tolist()
            np.testing.assert_allclose(scores, np.sort(expected)[::-1][:10], rtol=1e-12)
            np.testing.assert_allclose(snapshot.dense_scores(vector, ids), expected, rtol=1e-12)
        np.testing.assert_array_equal(snapshot.vector(int(ids[30])), made[30].vector)


def test_equal_scores_are_ordered_by_path_however_many_there_are(shelf: Shelf) -> None:
    vector = unit_vectors(1)[0]
    names = [f"/shelf/{n:02d}.txt" for n in range(40)]
    mixed = np.random.default_rng(1).permutation(names).tolist()
    made = [Item(name, "the same words", vector) for name in mixed]
    for start in range(0, 40, 15):
        shelf.add(made[start : start + 15])
    with Snapshot.open(shelf.folder) as snapshot:
        for found, _ in (snapshot.dense(vector, 7), snapshot.sparse(BM25, query_terms("words", ["en"]), 7)):
            passages = snapshot.passages(found.tolist())
            assert [passages[i].path for i in found.tolist()] == names[:7]


def test_only_allowed_passages_are_found(shelf: Shelf) -> None:
    made = items(50)
    ids = shelf.add(made[:30]) + shelf.add(made[30:])
    allowed = np.array(ids[10:40:3])
    query = query_terms("amber birch cedar delta ember fjord", ["en"])
    with Snapshot.open(shelf.folder) as snapshot:
        dense, scores = snapshot.dense(made[5].vector, 100, allowed)
        assert set(dense.tolist()) == set(allowed.tolist())
        matrix = np.stack([item.vector for item in made]).astype(np.float64)
        np.testing.assert_allclose(scores, np.sort((matrix @ made[5].vector)[10:40:3])[::-1], rtol=1e-12)
        sparse, _ = snapshot.sparse(BM25, query, 100, allowed)
        everywhere, _ = snapshot.sparse(BM25, query, 100)
        assert sparse.tolist() == [i for i in everywhere.tolist() if i in set(allowed.tolist())]
        assert len(snapshot.dense(made[5].vector, 5, np.array([], np.int64))[0]) == 0


def test_deleted_passages_are_gone_from_every_channel_at_once(shelf: Shelf) -> None:
    made = items(30)
    ids = shelf.add(made)
    query = query_terms(made[4].text, ["en"])
    snapshot = Snapshot.open(shelf.folder)
    assert not snapshot.outdated()
    shelf.remove(made[4].name)
    assert snapshot.outdated()
    snapshot.close()
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.passage_count == 29
        assert ids[4] not in snapshot.dense(made[4].vector, 100)[0]
        assert ids[4] not in snapshot.sparse(BM25, query, 100)[0]
        assert ids[4] not in snapshot.ids()
        with pytest.raises(NotFound):
            snapshot.vector(ids[4])
        rest = {i: item.text for i, item in zip(ids, made, strict=True) if i != ids[4]}
        expected = reference_bm25(rest, query)
        found, scores = snapshot.sparse(BM25, query, 100)
        np.testing.assert_allclose(scores, [expected[i] for i in found.tolist()], rtol=1e-12)


def test_a_passage_whose_row_is_lost_counts_as_deleted(shelf: Shelf) -> None:
    ids = shelf.add(items(5))
    shelf.db.execute("DELETE FROM passage WHERE id = ?", (ids[2],))
    with Snapshot.open(shelf.folder) as snapshot:
        assert set(snapshot.ids().tolist()) == set(ids) - {ids[2]}


def test_other_writes_do_not_make_a_snapshot_outdated(shelf: Shelf) -> None:
    shelf.add(items(5))
    with Snapshot.open(shelf.folder) as snapshot:
        shelf.db.execute("INSERT INTO meta VALUES ('a', 'b')")
        assert not snapshot.outdated()
        shelf.add(items(6)[5:])
        assert snapshot.outdated()


def test_results_do_not_depend_on_how_the_index_came_about(tmp_path: Path) -> None:
    made = items(80)
    at_once, bit_by_bit, merged = (Shelf(tmp_path / name) for name in ("a", "b", "c"))
    at_once.add(made)
    for start in range(0, 80, 9):
        bit_by_bit.add(made[start : start + 9][::-1])
    extra = [Item(f"/shelf/x{n}.txt", "amber cedar prairie", v) for n, v in enumerate(unit_vectors(40, 3))]
    for start in range(0, 80, 20):
        merged.add(extra[start // 2 : start // 2 + 10] + made[start : start + 20])
    for item in extra:
        merged.remove(item.name)
    writer = merged.writer()
    writer.merge()
    assert len(writer.commit().segments) == 1
    results = []
    for shelf in (at_once, bit_by_bit, merged):
        with Snapshot.open(shelf.folder) as snapshot:
            row = []
            for found, scores in (
                snapshot.dense(made[7].vector, 25),
                snapshot.sparse(BM25, query_terms("amber cedar fjord", ["en"]), 25),
            ):
                passages = snapshot.passages(found.tolist())
                row.append([(passages[i].path, score) for i, score in zip(found.tolist(), scores, strict=True)])
            results.append(row)
    assert results[0] == results[1] == results[2]


def test_languages_are_those_of_the_living_passages(shelf: Shelf) -> None:
    vectors = unit_vectors(4)
    shelf.add([Item("/shelf/a", "one", vectors[0], language="de"), Item("/shelf/b", "two", vectors[1], language="de")])
    shelf.add(
        [Item("/shelf/c", "three", vectors[2], language="fr"), Item("/shelf/d", "four", vectors[3], language="ja")]
    )
    shelf.remove("/shelf/c")
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.languages() == ["de", "ja"]
