"""Steering by concepts: exact to the last digit, and the ranking goes where it is steered to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import BadQuery, NotFound
from core.base.types import BM25, CONCEPT, DENSE, STEER, Filters, Level, Query, SearchResult
from core.encode.encoder import Encoder
from core.index.concept_codes import ConceptCodes
from core.library import Library
from core.search import steering
from core.search.found import excluding, without
from core.search.searcher import Searcher
from tests.core.concepts.library import fit_shelf, made_items, make_shelf

COUNT = 128
TWO_THINGS = (
    "ship cargo and oven bread", "doctor fever and violin concert", "rain wind and tenant contract",
    "train ticket and honey bees",
)  # fmt: skip
QUERY = Query("the ship in the harbour with cargo", k=COUNT, channels=(DENSE,))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Encoder) -> Path:
    made = tmp_path_factory.mktemp("steering") / "library"
    shelf = make_shelf(made, tiny_encoder, made_items(tiny_encoder, COUNT))
    shelf.writer().commit(concepts=fit_shelf(shelf, tiny_encoder))
    shelf.close()
    return made


@pytest.fixture(scope="module")
def searcher(folder: Path, tiny_encoder: Encoder) -> Iterator[Searcher]:
    found = Searcher(folder, tiny_encoder)
    yield found
    found.close()


@pytest.fixture(scope="module")
def codes(searcher: Searcher) -> ConceptCodes:
    return steering.codes_of(searcher.snapshot())


def scores(result: SearchResult) -> dict[int, float]:
    return {hit.passage.id: hit.score for hit in result.hits}


def held(searcher: Searcher, codes: ConceptCodes, query: Query) -> list[int]:
    """The concepts of the query, by what they add to its own length, largest first."""
    vector = searcher.query_vector(query)
    assert vector is not None
    active = codes.model.encode(vector[None, :])[0]
    adds = active * (codes.model.decoder @ vector)
    return [int(i) for i in np.argsort(-adds) if active[i] > 0]


def not_held(searcher: Searcher, codes: ConceptCodes, query: Query) -> int:
    """A concept of several passages that the query has nothing of."""
    ours, counts = held(searcher, codes, query), codes.counts()
    return next(int(i) for i in np.argsort(-counts) if i not in ours and counts[i] <= COUNT / 8)


def place(result: SearchResult, ids: np.ndarray) -> float:
    """The mean rank of these passages."""
    return float(np.mean([hit.rank for hit in result.hits if hit.passage.id in set(ids.tolist())]))


@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0, 3.0])
def test_a_factor_changes_what_the_concept_adds_and_nothing_else(
    searcher: Searcher, codes: ConceptCodes, factor: float
) -> None:
    concept, vector = held(searcher, codes, QUERY)[0], searcher.query_vector(QUERY)
    assert vector is not None
    before = scores(searcher.search(QUERY))
    result = searcher.search(replace(QUERY, boosts={concept: factor}))
    snapshot = searcher.snapshot()
    assert len(result.hits) == len(before) == COUNT
    for hit in result.hits:
        activation = codes.model.encode(snapshot.vector(hit.passage.id)[None, :])[0, concept]
        change = (factor - 1) * float(activation) * float(codes.model.decoder[concept] @ vector)
        assert hit.score - before[hit.passage.id] == pytest.approx(change, abs=2e-4)  # codes have 16 bits
        assert hit.score == sum(part.contribution for part in hit.parts)
        assert [part.channel for part in hit.parts] == [DENSE, STEER]
    assert [h.score for h in result.hits] == sorted((h.score for h in result.hits), reverse=True)


def test_boosting_lifts_and_muting_lowers_the_passages_of_a_concept(searcher: Searcher, codes: ConceptCodes) -> None:
    """In questions about two things, one of them muted or counted twice; and something else counted in or against."""
    muted, doubled, added, against = [], [], [], []
    for text in TWO_THINGS:
        query = Query(text, k=COUNT, channels=(DENSE,))
        own, other = held(searcher, codes, query)[0], not_held(searcher, codes, query)
        for concept, factor, moved in (
            (own, 0.0, muted),
            (own, 3.0, doubled),
            (other, 2.0, added),
            (other, -1.0, against),
        ):
            holding = codes.postings(concept)[0]
            steered = searcher.search(replace(query, boosts={concept: factor}))
            moved.append(place(steered, holding) - place(searcher.search(query), holding))
    assert np.mean(muted) > 4.5  # ranks; 9.8 to 14 with other seeds
    assert np.mean(doubled) < -2.5  # -7 to -11
    assert np.mean(added) < -12  # -27 to -30
    assert np.mean(against) > 10  # 21 to 35


def test_in_the_fusion_all_parts_but_the_steered_one_stay(searcher: Searcher, codes: ConceptCodes) -> None:
    query = Query("the ship in the harbour with cargo", k=COUNT)
    concept = held(searcher, codes, query)[0]
    before = {hit.passage.id: hit for hit in searcher.search(query).hits}
    unchanged = searcher.search(replace(query, boosts={concept: 1.0}))
    assert scores(unchanged) == pytest.approx({i: hit.score for i, hit in before.items()})
    result = searcher.search(replace(query, boosts={concept: 0.0}))
    for hit in result.hits:
        assert hit.score == sum(part.contribution for part in hit.parts)
        parts, was = ({p.channel: p for p in one.parts} for one in (hit, before[hit.passage.id]))
        assert parts[DENSE].score == was[DENSE].score
        if parts[STEER].score:  # as much as the dense score itself, in the same units
            unit = parts[DENSE].weight * parts[STEER].score / parts[STEER].contribution
            spread = np.std([p.score for h in result.hits for p in h.parts if p.channel == DENSE])
            assert unit == pytest.approx(spread, rel=1e-6)
    assert any(part.contribution < 0 for hit in result.hits for part in hit.parts if part.channel == STEER)


def test_words_alone_can_be_steered(searcher: Searcher, codes: ConceptCodes) -> None:
    query = Query("ship harbour cargo storm", k=COUNT, channels=(BM25,))
    concept = held(searcher, codes, query)[0]
    result = searcher.search(replace(query, boosts={concept: 3.0}))
    assert {part.channel for hit in result.hits for part in hit.parts} == {BM25, STEER}
    assert all(hit.score == sum(part.contribution for part in hit.parts) for hit in result.hits)


def test_the_channel_of_concepts_is_steered_by_its_terms(searcher: Searcher, codes: ConceptCodes) -> None:
    query = Query(TWO_THINGS[0], k=COUNT, channels=(CONCEPT,))
    own, other = held(searcher, codes, query)[0], not_held(searcher, codes, query)
    plain, passage = scores(searcher.search(query)), int(codes.postings(own)[0][0])
    part = searcher.context(query, passage).concepts[own]
    for factor in (0.0, 2.0):
        result = searcher.search(replace(query, boosts={own: factor}))
        assert scores(result)[passage] - plain[passage] == pytest.approx((factor - 1) * part)
        assert all([part.channel for part in hit.parts] == [CONCEPT] for hit in result.hits)
    holding = codes.postings(other)[0]
    added = searcher.search(replace(query, boosts={other: 2.0}))
    assert place(added, holding) < place(searcher.search(query), holding) - 10


def test_a_context_has_the_changes_by_concept(searcher: Searcher, codes: ConceptCodes) -> None:
    first, second = held(searcher, codes, QUERY)[:2]
    query = replace(QUERY, boosts={first: 2.0, second: 0.0})
    hit = searcher.search(query).hits[0]
    match = searcher.context(query, hit.passage.id)
    steer = next(part for part in match.parts if part.channel == STEER)
    assert match.score == hit.score
    assert sum(match.steering.values()) == pytest.approx(steer.score)
    assert set(match.steering) == {first, second}


@pytest.mark.parametrize("level", [Level.SENTENCE, Level.DOCUMENT])
def test_larger_and_smaller_hits_add_up_too(searcher: Searcher, codes: ConceptCodes, level: Level) -> None:
    query = replace(QUERY, k=5, level=level, channels=(), boosts={held(searcher, codes, QUERY)[0]: 2.0})
    for hit in searcher.search(query).hits:
        assert hit.score == pytest.approx(sum(part.contribution for part in hit.parts))


def test_what_is_required_is_in_every_hit(searcher: Searcher, codes: ConceptCodes) -> None:
    own, other = held(searcher, codes, QUERY)[0], not_held(searcher, codes, QUERY)
    holding = set(codes.postings(own)[0].tolist())
    found = searcher.search(replace(QUERY, required=(own,)))
    assert {hit.passage.id for hit in found.hits} == holding
    assert found.filtered_out > 0
    both = searcher.search(replace(QUERY, required=(own, other)))
    assert {hit.passage.id for hit in both.hits} == holding & set(codes.postings(other)[0].tolist())
    names = tuple(hit.passage.path.rsplit("/", 1)[-1] for hit in found.hits[:3])
    within = searcher.search(replace(QUERY, required=(own,), filters=Filters(names=names)))
    assert len(within.hits) == 3


def test_a_required_concept_is_told_as_what_keeps_a_passage_out(searcher: Searcher, codes: ConceptCodes) -> None:
    own = held(searcher, codes, QUERY)[0]
    query = replace(QUERY, required=(own,), filters=Filters(names=("*.txt",)))
    holding = codes.postings(own)[0]
    lacking = int(np.setdiff1d(searcher.snapshot().ids(), holding)[0])
    found = searcher.found(query)
    assert excluding(found, int(holding[0])) == ()
    assert excluding(found, lacking) == (f"concept:{own}",)
    assert searcher.found(without(query, excluding(found, lacking)), tried=True).lets_through(lacking)


def test_more_like_a_passage(searcher: Searcher, codes: ConceptCodes) -> None:
    snapshot = searcher.snapshot()
    passage = searcher.search(QUERY).hits[0].passage.id
    found = searcher.search(Query("", k=COUNT, like=passage))
    assert passage not in {hit.passage.id for hit in found.hits}
    assert len(found.hits) == COUNT - 1
    assert found.filtered_out == 0  # no filter took it away
    vectors = snapshot.vectors(np.array([hit.passage.id for hit in found.hits]))
    assert [hit.score for hit in found.hits] == pytest.approx((vectors @ snapshot.vector(passage)).tolist(), abs=1e-5)


def test_because_of_a_concept_its_passages_come_first(searcher: Searcher, codes: ConceptCodes) -> None:
    luck = np.random.default_rng(0)
    better = []
    for passage in luck.choice(searcher.snapshot().ids(), 12, replace=False).tolist():
        active = codes.of(np.array([passage]))[0]
        if len(active) < 2:
            continue
        weakest = min(active, key=lambda i: active[i])
        holding = codes.postings(weakest)[0]
        holding = holding[holding != passage]
        if len(holding) < 3:
            continue
        like = Query("", k=COUNT, like=passage)
        found = searcher.search(replace(like, because=(weakest,)))
        better.append(place(searcher.search(like), holding) - place(found, holding))
    assert len(better) >= 5
    assert np.mean(better) > 5


def test_what_was_merged_is_steered_together(folder: Path, searcher: Searcher, codes: ConceptCodes) -> None:
    with_library = Library.open(folder)
    model = searcher.snapshot().generation.concepts
    first, second, third = (c.id for c in with_library.concepts(model)[:3])
    with_library.merge_concepts(model, second, first)
    with_library.merge_concepts(model, third, second)
    try:
        groups = steering.families(searcher.snapshot(), [first, third])
        assert {c: set(group) for c, group in groups.items()} == {first: {first, second, third}, third: {third}}
        holding = {i for c in (first, second, third) for i in codes.postings(c)[0].tolist()}
        found = searcher.search(replace(QUERY, required=(first,)))
        assert {hit.passage.id for hit in found.hits} == holding
    finally:
        for latent in (second, third):
            with_library.unmark_concept(model, latent)
        with_library.close()


@pytest.mark.parametrize("channels", [(DENSE,), (CONCEPT,)])
def test_a_concept_and_one_merged_into_it_are_each_counted_once(
    folder: Path, searcher: Searcher, codes: ConceptCodes, channels: tuple[str, ...]
) -> None:
    """As in a lens that named both before the person put them together."""
    first, second = held(searcher, codes, QUERY)[:2]
    query = replace(QUERY, channels=channels, boosts={first: 0.5, second: 0.0})
    apart = scores(searcher.search(query))
    library = Library.open(folder)
    model = searcher.snapshot().generation.concepts
    library.merge_concepts(model, second, first)
    try:
        assert scores(searcher.search(query)) == pytest.approx(apart)
        alone = scores(searcher.search(replace(query, boosts={first: 0.0})))
        assert alone != pytest.approx(scores(searcher.search(replace(query, boosts={first: 0.0, second: 1.0}))))
    finally:
        library.unmark_concept(model, second)
        library.close()


@pytest.mark.parametrize("factor", [float("inf"), float("nan"), -1e300])
def test_a_factor_that_no_score_can_have_is_refused(searcher: Searcher, factor: float) -> None:
    with pytest.raises(BadQuery, match="so many times"):
        searcher.search(replace(QUERY, boosts={0: factor}))


def test_what_cannot_be_steered_says_so(searcher: Searcher, tmp_path: Path, tiny_encoder: Encoder) -> None:
    for query in (replace(QUERY, boosts={10**6: 2.0}), replace(QUERY, required=(-1,))):
        with pytest.raises(BadQuery, match="no concept"):
            searcher.search(query)
    with pytest.raises(NotFound):
        searcher.search(Query("", like=10**6))
    with pytest.raises(NotFound):
        searcher.search(Query("", like=10**6, because=(0,)))
    passage = searcher.search(QUERY).hits[0].passage.id
    lacking = not_held(searcher, steering.codes_of(searcher.snapshot()), replace(QUERY, like=passage))
    with pytest.raises(BadQuery, match="none of these"):
        searcher.search(Query("", like=passage, because=(lacking,)))
    make_shelf(tmp_path / "library", tiny_encoder, made_items(tiny_encoder, 4)).close()
    plain = Searcher(tmp_path / "library", tiny_encoder)
    with pytest.raises(BadQuery, match="no concepts"):
        plain.search(replace(QUERY, boosts={0: 2.0}))
    assert plain.search(Query("", like=1)).hits
    plain.close()
