"""What is shown of concepts, on a library of planted topics: each figure is the one that counting gives."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import BadQuery, NotFound
from core.base.types import STEER, ConceptDetail, ConceptPoint, ConceptWeight, Difference, Filters, Query, SearchResult
from core.base.types.records import EFFICIENT
from core.base.wire import from_plain, to_plain
from core.encode.encoder import Encoder
from core.library import Library
from core.search.found import Found
from core.store.database import open_writer, transaction
from core.worker.client import ChildClient
from core.worker.concept_asking import ask
from core.worker.finding import REBUILT, Finder
from core.worker.generations import keep_codes
from tests.core.concepts.library import fit_shelf, made_items, make_shelf, topic_of, topic_words
from tests.shelf import Shelf

COUNT = 160


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Encoder) -> Path:
    made = tmp_path_factory.mktemp("views") / "library"
    items = [
        replace(item, name=f"/shelf/{topic_of(n)}/{n:03d}.txt", modified=f"2024-{1 + n % 3:02d}-01T00:00:00")
        for n, item in enumerate(made_items(tiny_encoder, COUNT))
    ]
    shelf = make_shelf(made, tiny_encoder, items)
    shelf.writer().commit(concepts=fit_shelf(shelf, tiny_encoder))
    shelf.close()
    return made


@pytest.fixture(scope="module")
def finder(folder: Path, tiny_encoder: Encoder) -> Iterator[Finder]:
    found = Finder(folder, tiny_encoder)
    yield found
    found.close()


def about(finder: Finder, ids: list[int]) -> set[str]:
    """Topics of these passages' documents."""
    return {p.path.split("/")[2] for p in finder.searcher.snapshot().passages(ids).values()}


def test_the_concepts_of_a_query_are_those_its_vector_holds(finder: Finder) -> None:
    concepts = finder.concepts()
    assert concepts is not None
    query = Query("the ship in the harbour with cargo")
    found = concepts.of_query(finder.searcher, query)
    vector = finder.encoder.encode([query.text], kind="query")
    held = concepts.codes.model.encode(vector)[0]
    named = {int(i): float(held[i]) for i in np.flatnonzero(held) if int(i) in concepts.reasons.concepts}
    assert {one.id: one.weight for one in found} == pytest.approx(named)
    assert found
    assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)
    assert set(found[0].label.replace(",", "").split()) & topic_words("ships")
    with pytest.raises(BadQuery):
        concepts.of_query(finder.searcher, Query("  "))


def test_facets_stand_more_often_among_the_best_hits_than_elsewhere(finder: Finder) -> None:
    concepts = finder.concepts()
    assert concepts is not None
    query = Query("sailor and storm")
    found = concepts.facets(finder.searcher.found(query).ranking.ids)
    best = finder.searcher.found(query).ranking.ids[:50]
    assert found
    for one in found:
        holding = concepts.codes.postings(one.id)[0]
        here = np.isin(best, holding).mean()
        assert one.passages == np.isin(best, holding).sum() < len(best)
        assert one.weight == pytest.approx(here)
        assert one.lift == pytest.approx(here / (len(holding) / COUNT))
        assert one.lift > 1


def test_a_concept_in_detail(finder: Finder) -> None:
    concepts = finder.concepts()
    assert concepts is not None
    one = next(c for c in concepts.every.values() if c.passages >= 6)
    found = concepts.detail(one.id, finder.encoder)
    ids, activations = concepts.codes.postings(one.id)
    assert found.examples[0].passage.id == ids[activations.argmax()]
    shown = [e.activation for e in found.examples]
    assert shown == sorted(shown, reverse=True)
    assert all(0 <= s.start < s.end <= len(e.passage.text) for e in found.examples for s in e.spans)
    assert found.documents == len(ids)  # one passage a document
    assert sum(count for _, count in found.growth) == len(ids)
    assert [month for month, _ in found.growth] == sorted({f"2024-{1 + i % 3:02d}" for i in range(3)})
    directions = concepts.codes.model.decoder / np.linalg.norm(concepts.codes.model.decoder, axis=1, keepdims=True)
    for near in found.near:
        assert near.weight == pytest.approx(float(directions[near.id] @ directions[one.id]), abs=1e-5)
    assert one.id not in {other.id for other in (*found.near, *found.together)}
    with pytest.raises(NotFound):
        concepts.detail(10**6, finder.encoder)


def test_the_map_keeps_topics_together(finder: Finder) -> None:
    concepts = finder.concepts()
    assert concepts is not None
    points = concepts.map()
    assert {p.id for p in points} == set(concepts.every)
    for axis in ([p.x for p in points], [p.y for p in points]):  # spread out evenly: no two on one place
        assert sorted(axis) == pytest.approx(np.linspace(0, 1, len(points)))
    assert concepts.map() == points
    rows = concepts.codes.model.decoder[[p.id for p in points]]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    same = np.equal.outer([p.group for p in points], [p.group for p in points])
    cosines = rows @ rows.T
    off = ~np.eye(len(points), dtype=bool)
    assert cosines[same & off].mean() > cosines[~same].mean() + 0.1


def test_profile_and_difference_tell_folders_apart(finder: Finder) -> None:
    bees, ships = Filters(folders=("/shelf/bees",)), Filters(folders=("/shelf/ships",))
    profile = ask(finder, "profile", {"filters": {"folders": ["/shelf/bees"]}})["concepts"]
    assert set(profile[0].label.replace(",", "").split()) & topic_words("bees")
    assert profile[0].lift > 2
    concepts = finder.concepts()
    assert concepts is not None
    found = concepts.difference(bees, ships)
    assert [abs(one.z) for one in found] == sorted((abs(one.z) for one in found), reverse=True)
    more, less = (next(one for one in found if sign * one.z > 0) for sign in (1, -1))
    assert more.first > more.second
    assert less.first < less.second
    assert set(more.label.replace(",", "").split()) & topic_words("bees")
    assert set(less.label.replace(",", "").split()) & topic_words("ships")
    swapped = concepts.difference(ships, bees)
    assert {one.id: one.z for one in swapped} == pytest.approx({one.id: -one.z for one in found})
    assert concepts.profile(Filters(folders=("/nowhere",))) == []


def test_all_of_it_goes_over_the_wire(folder: Path, tiny_home: Path) -> None:
    query = to_plain(Query("sailor and storm", boosts={0: 2.0}))
    with ChildClient("search", folder) as child:
        for operation in ("query_concepts", "facets"):
            found = child.call(operation, {"query": query})["concepts"]
            assert from_plain(ConceptWeight, found[0]).label
        detail = from_plain(ConceptDetail, child.call("concept", {"id": found[0]["id"]}))
        assert detail.concept.id == found[0]["id"]
        assert detail.examples[0].passage.text
        points = [from_plain(ConceptPoint, p) for p in child.call("concept_map", {})["points"]]
        assert len({point.group for point in points}) > 1
        bees, ships = ({"folders": [f"/shelf/{topic}"]} for topic in ("bees", "ships"))
        assert from_plain(ConceptWeight, child.call("profile", {"filters": bees})["concepts"][0]).lift > 1
        apart = child.call("difference", {"first": bees, "second": ships})["concepts"]
        assert from_plain(Difference, apart[0]).z != 0
        steered = from_plain(SearchResult, child.call("search", {"query": query}))
        assert STEER in {part.channel for part in steered.hits[0].parts}
        with pytest.raises(NotFound):
            child.call("concept", {"id": 10**6})


def test_what_the_person_says_counts_at_once(folder: Path, finder: Finder) -> None:
    concepts = finder.concepts()
    assert concepts is not None
    model = concepts.snapshot.generation.concepts
    frequent = [c.id for c in sorted(concepts.every.values(), key=lambda c: -c.passages)]
    counts = {i: set(concepts.codes.postings(i)[0].tolist()) for i in frequent}
    # two that share passages, which must not count twice, and any other
    first, second = next((a, b) for a, b in combinations(frequent, 2) if counts[a] & counts[b])
    third = next(i for i in frequent if i not in (first, second))
    library = Library.open(folder)
    library.rename_concept(model, first, "my own name")
    library.merge_concepts(model, second, first)
    library.hide_concept(model, third)
    try:
        concepts = finder.concepts()
        assert concepts is not None
        everywhere = {one.id: one for one in concepts.apart(concepts.snapshot.ids())}
        assert second not in everywhere
        assert third not in everywhere
        assert everywhere[first].passages == len(counts[first] | counts[second])
        assert everywhere[first].label == "my own name"
        detail = concepts.detail(first, finder.encoder)
        assert detail.concept.merged == (second,)
        assert detail.documents == detail.concept.passages == len(counts[first] | counts[second])
        assert third not in {p.id for p in concepts.map()}
    finally:
        for latent in (first, second, third):
            library.unmark_concept(model, latent)
        library.close()


def test_facets_are_those_of_the_generation_that_was_searched(
    folder: Path, tmp_path: Path, tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job commits another one in between."""
    shutil.copytree(folder, tmp_path / "library")
    shelf = Shelf(tmp_path / "library", tiny_encoder.id, tiny_encoder.dimension)
    finder = Finder(shelf.folder, tiny_encoder)
    found = finder.searcher.found

    def committed_before(query: Query) -> Found:
        shelf.writer().commit(metrics={"another": 1.0})
        return found(query)

    query = {"query": {"text": "sailor and storm"}}
    expected = ask(finder, "facets", query)
    monkeypatch.setattr(finder.searcher, "found", committed_before)
    assert ask(finder, "facets", query) == expected != {"concepts": []}
    assert finder.searcher.snapshot().generation.metrics == {"another": 1.0}
    finder.close()
    shelf.close()


def test_concepts_whose_passages_cannot_be_read_are_made_again(
    folder: Path, tmp_path: Path, tiny_encoder: Encoder
) -> None:
    shutil.copytree(folder, tmp_path / "library")
    finder = Finder(tmp_path / "library", tiny_encoder)
    plain = {"query": {"text": "sailor and storm"}}
    facets = ask(finder, "facets", plain)
    concept = facets["concepts"][0].id
    query = Query("sailor and storm", required=(concept,))
    expected = [hit.passage.id for hit in finder.search(query).hits]
    damage(tmp_path / "library", concept)
    result = finder.search(query)
    assert result.notice == REBUILT
    assert [hit.passage.id for hit in result.hits] == expected
    damage(tmp_path / "library", concept)
    finder.searcher.reopen()  # what is in memory is whole
    assert ask(finder, "facets", plain) == facets
    finder.close()


def damage(library: Path, concept: int) -> None:
    db = open_writer(library)
    with transaction(db):
        db.execute("UPDATE posting SET ordinals = x'00' WHERE channel LIKE 'concept:%' AND term = ?", (str(concept),))
    db.conn.close()


def test_fewer_latents_are_kept_without_a_change_of_what_is_shown(
    folder: Path, tmp_path: Path, tiny_encoder: Encoder
) -> None:
    """A passage of so small a library has fewer active latents than either setting keeps."""
    shutil.copytree(folder, tmp_path / "library")
    finder = Finder(tmp_path / "library", tiny_encoder)
    before = ask(finder, "facets", {"query": {"text": "sailor and storm"}})
    number = keep_codes(tmp_path / "library", EFFICIENT)
    assert ask(finder, "facets", {"query": {"text": "sailor and storm"}}) == before
    assert finder.searcher.snapshot().generation.number == number
    assert finder.searcher.snapshot().generation.codes == EFFICIENT
    assert keep_codes(tmp_path / "library", EFFICIENT) == number  # nothing to do
    finder.close()


def test_a_library_without_concepts_has_empty_views(tmp_path: Path, tiny_encoder: Encoder) -> None:
    make_shelf(tmp_path / "library", tiny_encoder, made_items(tiny_encoder, 4)).close()
    finder = Finder(tmp_path / "library", tiny_encoder)
    try:
        query = {"query": {"text": "ship"}}
        assert ask(finder, "query_concepts", query) == ask(finder, "facets", query) == {"concepts": []}
        assert ask(finder, "concept_map", {}) == {"points": []}
        with pytest.raises(NotFound):
            ask(finder, "concept", {"id": 0})
    finally:
        finder.close()
