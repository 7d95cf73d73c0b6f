"""Reading the best candidates closely: a part of the score like any other, within its time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import Cancelled
from core.base.events import Control
from core.base.types import BM25, DENSE, RERANK, Level, Query
from core.encode.encoder import Encoder, FloatArray, input_text
from core.index import generation
from core.index.writer import IndexWriter
from core.models import adapted
from core.search.fuse import Fusing, Method
from core.search.rerank import LONGEST_QUESTION
from core.search.searcher import Searcher
from core.store.database import transaction
from tests.core.search.test_search_searcher import made_items
from tests.shelf import Item, Shelf

QUERY = Query("the ship in the harbour with cargo", k=8)


class Shortest:
    """A reranker that has a reason of its own: short texts go first. It counts what it reads."""

    id = "shortest"

    def __init__(self, most: int = 10**6) -> None:
        self.most, self.read, self.cancel = most, 0, False

    def score(self, question: str, passages: Sequence[str], *, until: float, control: Control | None) -> FloatArray:
        assert question == QUERY.text
        self.read += len(passages)
        if control is not None and self.cancel:
            control.cancel()
            control.check()
        scores = np.array([-float(len(text)) for text in passages], np.float32)
        scores[self.most :] = np.nan
        return scores


@pytest.fixture(scope="module")
def made(tiny_encoder: Encoder) -> list[Item]:
    return made_items(tiny_encoder, 80)


@pytest.fixture
def shelf(tmp_path: Path, tiny_encoder: Encoder, made: list[Item]) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path / "library", tiny_encoder.id, tiny_encoder.dimension)
    shelf.add(made)
    yield shelf
    shelf.db.conn.close()


def _searcher(shelf: Shelf, encoder: Encoder, reranker: Shortest | None, **fusing: object) -> Searcher:
    return Searcher(shelf.folder, encoder, Fusing(**fusing), lambda name: reranker)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", Method)
def test_it_is_one_more_part_and_parts_add_up(shelf: Shelf, tiny_encoder: Encoder, method: Method) -> None:
    searcher = _searcher(shelf, tiny_encoder, Shortest(), method=method, closely=20)
    plain, read = (searcher.ranking(replace(QUERY, rerank=rerank), 50) for rerank in (False, True))
    assert list(read.scores) == [BM25, DENSE, RERANK]
    assert sorted(read.ids.tolist()) == sorted(plain.ids.tolist())
    assert set(read.ids[:20].tolist()) == set(plain.ids[:20].tolist())
    assert read.ids.tolist() != plain.ids.tolist()
    np.testing.assert_array_equal(read.ids[20:], plain.ids[20:])
    assert np.isnan(read.scores[RERANK][20:]).all()
    hits = searcher.search(QUERY).hits
    for hit in hits:
        assert [part.channel for part in hit.parts] == [BM25, DENSE, RERANK]
        assert sum(part.contribution for part in hit.parts) == hit.score
        assert hit.parts[2].contribution >= 0
    shortest = min(hits, key=lambda hit: len(input_text(hit.passage.heading_path, hit.passage.text, "note")))
    assert min(hits, key=lambda hit: hit.parts[2].rank or 99).passage.id == shortest.passage.id


def test_its_scale_is_that_of_the_other_channels(shelf: Shelf, tiny_encoder: Encoder) -> None:
    read = _searcher(shelf, tiny_encoder, Shortest(), closely=20).ranking(QUERY, 50)
    known = read.scores[RERANK][:20]
    wanted = (known - known.min()) / known.std()
    np.testing.assert_allclose(read.parts[RERANK][:20], wanted)
    heavier = _searcher(shelf, tiny_encoder, Shortest(), closely=20, weights={RERANK: 3.0}).ranking(QUERY, 50)
    assert heavier.parts[RERANK].max() == pytest.approx(3 * wanted.max())


def test_what_the_time_was_too_short_for_stays_below(shelf: Shelf, tiny_encoder: Encoder) -> None:
    plain = _searcher(shelf, tiny_encoder, None).ranking(QUERY, 50)
    read = _searcher(shelf, tiny_encoder, Shortest(most=5)).ranking(QUERY, 50)
    assert set(read.ids[:5].tolist()) == set(plain.ids[:5].tolist())
    np.testing.assert_array_equal(read.ids[5:], plain.ids[5:])
    none = _searcher(shelf, tiny_encoder, Shortest(most=0)).ranking(QUERY, 50)
    np.testing.assert_array_equal(none.ids, plain.ids)


def test_a_search_gives_it_a_deadline_and_an_evaluation_does_not(
    shelf: Shelf, tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []
    reranker = Shortest()
    score = reranker.score
    monkeypatch.setattr(reranker, "score", lambda q, p, **how: (given.append(how["until"]), score(q, p, **how))[1])
    searcher = _searcher(shelf, tiny_encoder, reranker, closely_seconds=60.0)
    searcher.search(QUERY)
    searcher.ranking(QUERY, 50)
    assert time.perf_counter() < given[0] < time.perf_counter() + 60
    assert given[1] == float("inf")


@pytest.mark.parametrize("changed", [{"rerank": False}, {"channels": (BM25,)}, {"channels": (BM25, DENSE)}])
def test_it_reads_only_what_it_is_asked_to(shelf: Shelf, tiny_encoder: Encoder, changed: dict[str, object]) -> None:
    reranker = Shortest()
    result = _searcher(shelf, tiny_encoder, reranker).search(replace(QUERY, **changed))  # type: ignore[arg-type]
    assert reranker.read == 0
    assert all(part.channel != RERANK for hit in result.hits for part in hit.parts)


def test_an_explanation_has_the_parts_of_the_hit_and_nothing_is_read_twice(shelf: Shelf, tiny_encoder: Encoder) -> None:
    reranker = Shortest()
    searcher = _searcher(shelf, tiny_encoder, reranker, closely=30)
    hits = searcher.search(QUERY).hits
    assert searcher.context(QUERY, hits[3].passage.id).parts == hits[3].parts
    beyond = searcher.ranking(replace(QUERY, rerank=False), 50).ids[-1]
    reranker.read = 0
    assert RERANK not in [part.channel for part in searcher.context(QUERY, int(beyond)).parts]
    assert reranker.read == 0


@pytest.mark.parametrize("level", [Level.SENTENCE, Level.SECTION, Level.DOCUMENT])
def test_larger_and_smaller_hits_add_up_too(shelf: Shelf, tiny_encoder: Encoder, level: Level) -> None:
    for hit in _searcher(shelf, tiny_encoder, Shortest()).search(replace(QUERY, level=level)).hits:
        assert RERANK in [part.channel for part in hit.parts]
        assert sum(part.contribution for part in hit.parts) == pytest.approx(hit.score)


def test_first_results_say_that_a_closer_reading_is_to_be_had(shelf: Shelf, tiny_encoder: Encoder) -> None:
    searcher = _searcher(shelf, tiny_encoder, Shortest())
    assert not searcher.search(replace(QUERY, rerank=False)).closer
    writer = IndexWriter(shelf.folder, shelf.db, tiny_encoder.id, tiny_encoder.dimension)
    writer.commit(reranker="shortest")
    first, second = (searcher.search(replace(QUERY, rerank=rerank)) for rerank in (False, True))
    assert (first.closer, second.closer) == (True, False)
    assert not searcher.search(replace(QUERY, rerank=False, channels=(BM25,))).closer
    assert not searcher.search(replace(QUERY, rerank=False, k=1)).closer  # no other order
    assert not searcher.search(replace(QUERY, rerank=False, weights={DENSE: 0.0})).closer  # a single channel
    unopened = Searcher(shelf.folder, tiny_encoder, Fusing(), lambda name: None, lambda name: False)
    assert not unopened.search(replace(QUERY, rerank=False)).closer


def test_a_question_keeps_order_and_parts_though_more_is_asked_and_its_ranking_forgotten(
    shelf: Shelf, tiny_encoder: Encoder
) -> None:
    """There is time for five: neither a longer list nor an explanation reads the sixth."""
    reranker = Shortest(most=5)
    searcher = _searcher(shelf, tiny_encoder, reranker)
    first = searcher.search(QUERY).hits
    read = reranker.read
    assert searcher.search(replace(QUERY, k=40)).hits[: len(first)] == first
    for number in range(12):  # more than the rankings that are remembered
        searcher.search(replace(QUERY, k=9 + number, rerank=False))
    reranker.most = 10**6
    assert [searcher.context(QUERY, hit.passage.id).parts for hit in first] == [hit.parts for hit in first]
    assert reranker.read == read
    searcher.search(replace(QUERY, weights={DENSE: 3.0}))  # other candidates are another question
    assert reranker.read > read


def test_a_cancelled_reading_is_none_and_the_next_one_is_whole(shelf: Shelf, tiny_encoder: Encoder) -> None:
    reranker = Shortest()
    reranker.cancel = True
    searcher = _searcher(shelf, tiny_encoder, reranker)
    with pytest.raises(Cancelled):
        searcher.search(QUERY, Control())
    reranker.cancel = False
    whole = _searcher(shelf, tiny_encoder, Shortest()).search(QUERY).hits
    assert searcher.search(QUERY, Control()).hits == whole


def test_a_very_long_question_is_cut_for_it(
    shelf: Shelf, tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(reranker := Shortest(), "score", lambda q, p, **how: (asked.append(q), np.zeros(len(p)))[1])
    long = "the ship in the harbour " * 40_000
    _searcher(shelf, tiny_encoder, reranker).search(replace(QUERY, text=long))
    assert [len(question) for question in asked] == [LONGEST_QUESTION]
    assert long.startswith(asked[0])


def test_equal_passages_are_read_once_and_share_their_score(
    shelf: Shelf, tiny_encoder: Encoder, made: list[Item]
) -> None:
    """There is time for one alone."""
    best = int(_searcher(shelf, tiny_encoder, None).ranking(QUERY, 50).ids[0])
    same = "SELECT p.text, p.hash, d.path FROM passage p JOIN document d ON d.id = p.document_id WHERE p.id = ?"
    text, name, path = shelf.db.execute(same, (best,)).fetchone()
    [twin] = shelf.add([replace(next(one for one in made if one.name == path), name="/shelf/twin.txt", text=text)])
    with transaction(shelf.db):
        shelf.db.execute("UPDATE passage SET hash = ? WHERE id = ?", (name, twin))
    reranker = Shortest(most=1)
    searcher = _searcher(shelf, tiny_encoder, reranker)
    ranking = searcher.ranking(QUERY, 50)
    known = dict(zip(ranking.ids.tolist(), ranking.scores[RERANK].tolist(), strict=True))
    assert np.isfinite([known[best], known[twin]]).all()
    assert known[best] == known[twin]
    assert np.isfinite(list(known.values())).sum() == 2
    assert reranker.read == 49  # of the fifty best, two of which are one


def test_it_goes_on_beside_its_encoder_and_is_swept_with_the_last_generation(
    shelf: Shelf, tiny_encoder: Encoder, made: list[Item]
) -> None:
    own = adapted.folder(shelf.folder) / "tiny-reranker+00000001"

    def writer() -> IndexWriter:
        return IndexWriter(shelf.folder, shelf.db, tiny_encoder.id, tiny_encoder.dimension)

    first = writer()
    own.mkdir(parents=True)
    (own / "bundle.json").write_text("{}")
    first.commit(reranker=own.name, fusion={RERANK: 2.0})
    shelf.add([replace(made[0], name="/shelf/new.txt")])
    current = generation.current(shelf.folder)
    assert current is not None
    assert (current.reranker, current.fusion) == (own.name, {RERANK: 2.0})
    writer().collect_garbage(keep=1)
    assert own.is_dir()
    assert writer().commit(reranker="").reranker == ""
    writer().collect_garbage(keep=1)
    assert not own.exists()
