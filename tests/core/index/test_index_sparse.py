"""Sparse channels against brute force: every passage scored by loops, sorted with its place in the library."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import IndexDamaged
from core.base.types import BM25, LEXICAL
from core.index import postings, rows, sparse
from core.index.postings import Postings, pack, unpack
from core.index.snapshot import Snapshot
from core.text.analyze import QueryTerm, term_texts
from tests.shelf import Item, Shelf, unit_vectors

K1, B = 0.9, 0.4


class Tall:
    """A library in several segments with deleted passages, words of Zipf's distribution and many equal texts."""

    def __init__(self, folder: Path, seed: int) -> None:
        rng = np.random.default_rng(seed)
        shares = 1 / np.arange(1, 41)
        self.shelf = Shelf(folder)
        self.bags: dict[int, Counter[str]] = {}
        self.learned: dict[int, dict[str, float]] = {}
        names = rng.permutation(400).tolist()
        for part in np.split(np.arange(400), [170, 290, 360]):
            texts = [
                " ".join(f"w{w}" for w in rng.choice(40, rng.integers(1, 9), p=shares / shares.sum())) for _ in part
            ]
            made = [
                Item(f"/shelf/{names[n]:03d}", text, v)
                for n, text, v in zip(part, texts, unit_vectors(len(part)), strict=True)
            ]
            ids = self.shelf.add(made)
            said = [
                {
                    f"w{w}": float(np.float16(rng.choice([0.25, 0.5, rng.random() + 0.1])))
                    for w in rng.integers(0, 40, 6)
                }
                for _ in part
            ]
            segment = self.shelf.db.execute("SELECT max(id) FROM segment").fetchone()[0]
            rows.insert_postings(
                self.shelf.db, segment, ((LEXICAL, t, p) for t, p in sorted(postings.learned(said).items()))
            )
            for i, item, weights in zip(ids, made, said, strict=True):
                self.bags[i] = Counter(term_texts(f"note {item.text}", "en"))
                self.learned[i] = weights
            for item, i in zip(made, ids, strict=True):
                if rng.random() < 0.1:
                    self.shelf.remove(item.name)
                    del self.bags[i], self.learned[i]

    def scores(self, channel: str, query: list[QueryTerm]) -> dict[int, float]:
        return self._bm25(query) if channel == BM25 else self._learned(query)

    def _bm25(self, query: list[QueryTerm]) -> dict[int, float]:
        average = sum(sum(bag.values()) for bag in self.bags.values()) / len(self.bags)
        scores = dict.fromkeys(self.bags, 0.0)
        for term in query:
            frequency = {i: sum(bag[a] for a in term.alternatives) for i, bag in self.bags.items()}
            holding = sum(1 for f in frequency.values() if f)
            idf = float(np.log1p((len(self.bags) - holding + 0.5) / (holding + 0.5)))
            for i, f in frequency.items():
                norm = K1 * (1 - B + B * sum(self.bags[i].values()) / average)
                scores[i] += term.weight * (idf * (f * (K1 + 1) / (f + norm)))
        return scores

    def _learned(self, query: list[QueryTerm]) -> dict[int, float]:
        return {
            i: sum(term.weight * sum(weights.get(a, 0.0) for a in term.alternatives) for term in query)
            for i, weights in self.learned.items()
        }


def queries(rng: np.random.Generator) -> list[QueryTerm]:
    """Rare and common words, some in alternatives, some said twice, one unknown."""
    chosen = rng.permutation(40)[: rng.integers(1, 12)].tolist()
    terms = [QueryTerm(f"w{w}", (f"w{w}",), float(rng.integers(1, 3))) for w in chosen]
    return [*terms, QueryTerm("either", ("w1", "w7", "w30"), 0.5), QueryTerm("none", ("nowhere",))]


@pytest.mark.parametrize("few", [0, sparse._FEW], ids=["cut", "added up"])
@pytest.mark.parametrize("channel", [BM25, LEXICAL])
def test_the_best_are_those_of_brute_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, channel: str, few: int
) -> None:
    monkeypatch.setattr(sparse, "_FEW", few)
    monkeypatch.setattr(sparse, "_LOOKED_UP", 1)
    monkeypatch.setattr(sparse, "_PRUNED_EVERY", 30)
    tall = Tall(tmp_path / "library", seed=3)
    rng = np.random.default_rng(4)
    with Snapshot.open(tall.shelf.folder) as snapshot:
        assert len(snapshot.generation.segments) > 2
        places = {i: n for n, i in enumerate(snapshot.ids().tolist())}
        for case in range(60):
            query, k = queries(rng), int(rng.choice([1, 3, 10, 50, 500]))
            allowed = None if case % 3 else rng.choice(list(tall.bags), int(rng.integers(1, 200)), replace=False)
            found, scores = snapshot.sparse(channel, query, k, allowed)
            expected = {i: s for i, s in tall.scores(channel, query).items() if s > 0}
            if allowed is not None:
                expected = {i: s for i, s in expected.items() if i in set(allowed.tolist())}
            np.testing.assert_allclose(scores, [expected[i] for i in found.tolist()], rtol=1e-12)
            # equal as far as floats can tell: the reference sums in another order
            exact = dict(zip(expected, snapshot.sparse_scores(channel, query, np.array(list(expected))), strict=True))
            np.testing.assert_allclose(list(exact.values()), list(expected.values()), rtol=1e-12)
            assert found.tolist() == sorted(exact, key=lambda i: (-exact[i], places[i]))[:k]


def test_both_ways_give_the_same_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tall = Tall(tmp_path / "library", seed=5)
    rng = np.random.default_rng(6)
    with Snapshot.open(tall.shelf.folder) as snapshot:
        for _ in range(20):
            query = queries(rng)
            whole = snapshot.sparse(BM25, query, 15)
            with monkeypatch.context() as patch:
                patch.setattr(sparse, "_FEW", 0)
                cut = snapshot.sparse(BM25, query, 15)
            assert [a.tolist() for a in whole] == [a.tolist() for a in cut]


def test_common_words_are_only_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 passages hold a weak word, 20 a strong one: none but the 20 is ever a candidate of the best 5."""
    strong = sparse.Word(np.arange(0, 200, 10), np.full(20, 5.0), 5.0)
    weak = sparse.Word(np.arange(10_000), np.full(10_000, 0.5), 0.5)
    monkeypatch.setattr(sparse, "_PRUNED_EVERY", 10)
    cut = sparse._Cut([weak, strong], 5, None, 10_000)
    assert cut.candidates().tolist() == strong.ordinals.tolist()
    assert int((cut._sums > 0).sum()) == 20


def test_words_are_kept_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tall = Tall(tmp_path / "library", seed=7)
    monkeypatch.setattr(sparse, "MOST_HELD", 4_000)
    reads = []
    with Snapshot.open(tall.shelf.folder) as snapshot:
        monkeypatch.setattr(rows, "read_postings", _counting(rows.read_postings, reads))
        query = [QueryTerm(f"w{n}", (f"w{n}",)) for n in range(40)]
        first = snapshot.sparse(BM25, query, 5)
        assert len(reads) == len(snapshot.generation.segments)  # one statement a segment
        assert snapshot._sparse._bytes <= 4_000
        assert [a.tolist() for a in snapshot.sparse(BM25, query, 5)] == [a.tolist() for a in first]
        assert len(reads) == 2 * len(snapshot.generation.segments)
        rare = [QueryTerm("w39", ("w39",))]
        snapshot.sparse(BM25, rare, 5)
        before = len(reads)
        snapshot.sparse(BM25, rare, 5)
        assert len(reads) == before  # the word asked last is still there


def test_frequencies_count_living_passages(tmp_path: Path) -> None:
    tall = Tall(tmp_path / "library", seed=8)
    texts = [f"w{n}" for n in range(40)] + ["nowhere"]
    with Snapshot.open(tall.shelf.folder) as snapshot:
        expected = {text: sum(text in bag for bag in tall.bags.values()) for text in texts}
        assert snapshot.frequencies(BM25, texts) == expected
    at_once = Shelf(tmp_path / "other")
    at_once.add([Item("/shelf/a", "amber birch", unit_vectors(1)[0]), Item("/shelf/b", "amber", unit_vectors(1)[0])])
    with Snapshot.open(at_once.folder) as snapshot:
        assert snapshot.frequencies(BM25, ["amber", "birch", "none"]) == {"amber": 2, "birch": 1, "none": 0}


def _counting(real, reads):  # type: ignore[no-untyped-def]
    def read(*arguments):  # type: ignore[no-untyped-def]
        reads.append(arguments)
        return real(*arguments)

    return read


@pytest.mark.parametrize(
    ("ordinals", "weights", "sizes"),
    [
        ([3], [1.0], (2, 0)),
        ([0, 65_535], [1.0, 255.0], (4, 2)),
        ([0, 65_536], [2.0, 256.0], (8, 4)),
        ([1, 2], [0.5, 1.25], (4, 4)),
        ([1, 2], [0.1, 70_000.0], (4, 8)),
    ],
)
def test_rows_are_packed_without_loss(ordinals: list[int], weights: list[float], sizes: tuple[int, int]) -> None:
    packed = pack(Postings(np.array(ordinals, "<u4"), np.array(weights, "<f4")))
    assert (len(packed[1]), len(packed[2])) == sizes
    back = unpack(*packed)
    assert back.ordinals.tolist() == ordinals
    assert back.weights.tolist() == np.array(weights, "<f4").tolist()
    assert (back.ordinals.dtype, back.weights.dtype) == (np.uint32, np.float32)


def test_rows_of_older_libraries_are_read() -> None:
    back = unpack(2, np.array([4, 9], "<u4").tobytes(), np.array([1, 3], "<f4").tobytes())
    assert (back.ordinals.tolist(), back.weights.tolist()) == ([4, 9], [1.0, 3.0])


@pytest.mark.parametrize("row", [(2, b"123", b""), (2, b"1234", b"123"), (1, b"123", b""), (0, b"", b"")])
def test_a_damaged_row_is_told(row: tuple[int, bytes, bytes]) -> None:
    with pytest.raises(IndexDamaged):
        unpack(*row)


def test_weights_of_zero_and_less_are_left_out() -> None:
    found = postings.learned([{"a": 0.5, "b": 0.0}, {"a": 1e-12, "c": -1.0}, {"a": 0.1}])
    assert list(found) == ["a"]
    assert found["a"].ordinals.tolist() == [0, 2]
    np.testing.assert_allclose(found["a"].weights, [0.5, 0.1], rtol=1e-3)
