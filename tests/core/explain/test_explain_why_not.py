"""Why not this one: places that the search would give, what bars a passage, lifts that hold when they are done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import Cancelled, NotFound
from core.base.events import Control
from core.base.types import BM25, DENSE, RERANK, ConceptShare, Filters, Level, Query, Standing, WhyNot
from core.encode.encoder import Encoder
from core.explain.absence import absence
from core.explain.why_not import why_not
from core.search.fuse import Fusing
from core.search.searcher import Searcher
from tests.core.explain.conftest import Fitted
from tests.shelf import Item, Shelf

QUERY = Query("the ship in the harbour with cargo", k=3)


@pytest.fixture(scope="module")
def asked(fitted: Fitted, searcher: Searcher) -> list[WhyNot]:
    """Of passages at all heights of the ranking, and of some beyond."""
    ranking = searcher.ranking(QUERY, 200).ids.tolist()
    beyond = [i for i in searcher.snapshot().ids().tolist() if i not in ranking]
    return [why_not(searcher, fitted[1], fitted[2], QUERY, i) for i in (*ranking[::25], *beyond[:2])]


def test_the_rank_is_that_of_a_search_that_goes_so_far(asked: list[WhyNot], searcher: Searcher) -> None:
    everything = {hit.passage.id: hit for hit in searcher.search(replace(QUERY, k=500)).hits}
    assert len({w.rank for w in asked}) > 3
    for w in asked:
        hit = everything.get(w.passage.id)
        assert w.rank == (hit.rank if hit else None)
        if hit is not None:
            assert w.score == pytest.approx(hit.score, abs=1e-9)
        assert w.last == searcher.search(QUERY).hits[-1].score


def test_standings_are_ranks_in_one_channel(asked: list[WhyNot], searcher: Searcher) -> None:
    hits = searcher.search(QUERY).hits
    for w in asked:
        assert [s.channel for s in w.standings] == [BM25, DENSE]
        assert sum(s.contribution for s in w.standings) == pytest.approx(w.score, abs=1e-9)
        for s in w.standings:
            alone = searcher.search(replace(QUERY, channels=(s.channel,), k=500, fold=False)).hits
            places = {hit.passage.id: hit.rank for hit in alone}
            assert s.rank == places.get(w.passage.id)
            assert s.best == next(p.contribution for p in hits[0].parts if p.channel == s.channel)
            assert s.last == next(p.contribution for p in hits[-1].parts if p.channel == s.channel)


def test_missing_words_are_those_that_do_not_stand_there(asked: list[WhyNot]) -> None:
    assert any(w.missing_words for w in asked)
    assert any(len(w.missing_words) < 3 for w in asked)
    for w in asked:
        for word in ("ship", "harbour", "cargo"):
            assert (word in w.missing_words) == (word not in w.passage.text.casefold())


def test_missing_concepts_are_active_in_the_hits_and_not_there(
    asked: list[WhyNot], fitted: Fitted, searcher: Searcher
) -> None:
    model, snapshot = fitted[1], searcher.snapshot()
    hits = model.encode(snapshot.vectors(np.array([h.passage.id for h in searcher.search(QUERY).hits])))
    assert any(w.missing_concepts for w in asked)
    for w in asked:
        own = model.encode(snapshot.vector(w.passage.id)[None])[0]
        for concept in w.missing_concepts:
            assert own[concept.id] < 0.2 * hits[:, concept.id].mean()
            assert concept.passage_activation == pytest.approx(float(own[concept.id]))
            assert concept.contribution > 0
            assert concept.label == fitted[2][concept.id]
    at_first = why_not(searcher, model, fitted[2], QUERY, searcher.search(QUERY).hits[0].passage.id)
    far = next(w for w in asked if w.rank is None or w.rank > 50)
    assert len(at_first.missing_concepts) < len(far.missing_concepts)


def test_lifts_hold_when_they_are_done(asked: list[WhyNot], searcher: Searcher) -> None:
    done = 0
    for w in asked:
        for lift in w.lifts:
            assert lift.rank is not None
            assert w.rank is None or lift.rank < w.rank
            if lift.kind == "word":
                changed = replace(QUERY, text=f"{QUERY.text} {lift.what}", k=500)
            elif lift.kind == "channel":
                changed = replace(QUERY, channels=(lift.what,), k=500)
            else:
                changed = replace(QUERY, boosts={lift.id: 2.0}, k=500)
            hits = searcher.search(changed).hits
            assert next(hit.rank for hit in hits if hit.passage.id == w.passage.id) == lift.rank
            done += 1
    assert done > 5


def test_what_keeps_a_passage_out_is_told_and_lifted(fitted: Fitted, searcher: Searcher) -> None:
    _, model, labels = fitted
    best = searcher.search(QUERY).hits[0].passage
    barred = {
        f'{QUERY.text} "no such words"': ('"no such words"',),
        f"{QUERY.text} -{best.text.split()[0]}": (f"-{best.text.split()[0]}",),
        f"{QUERY.text} type:pdf type:docx": ("type:pdf", "type:docx"),
        f"{QUERY.text} type:pdf type:txt": (),
        f"{QUERY.text} type:pdf type:txt before:2001": ("before:2001",),
        f"{QUERY.text} -type:txt": ("-type:txt",),
        f"{QUERY.text} before:2001 lang:en": ("before:2001",),
    }
    for text, excluded in barred.items():
        found = why_not(searcher, model, labels, replace(QUERY, text=text), best.id)
        assert found.excluded == excluded, text
        assert (found.rank is None) == bool(excluded)
        if excluded:
            (lift,) = found.lifts
            assert (lift.kind, lift.what) == ("filter", " ".join(excluded))
            assert lift.rank is not None
            assert lift.rank <= 3
            assert all(word in found.sentence for word in excluded)


def test_filters_that_were_set_are_written_as_one_writes_them(fitted: Fitted, searcher: Searcher) -> None:
    best = searcher.search(QUERY).hits[0].passage
    filters = Filters(languages=("fr",), folders=("/shelf",), also=(Filters(after="2030"),))
    found = why_not(searcher, fitted[1], fitted[2], replace(QUERY, filters=filters), best.id)
    assert found.excluded == ("lang:fr", "after:2030")
    assert found.lifts[0].rank == 1
    negative = replace(QUERY, filters=Filters(none=(Filters(languages=("en",)),)))
    assert why_not(searcher, fitted[1], fitted[2], negative, best.id).excluded == ("-(lang:en)",)


def test_a_concept_that_is_required_keeps_a_passage_out(fitted: Fitted, searcher: Searcher) -> None:
    _, model, labels = fitted
    best = searcher.search(QUERY).hits[0].passage
    active = model.encode(searcher.snapshot().vector(best.id)[None])[0]
    absent = next(i for i in labels if active[i] == 0)
    own = next(i for i in np.argsort(-active).tolist() if i in labels)
    found = why_not(searcher, model, labels, replace(QUERY, required=(own, absent)), best.id)
    assert found.excluded == (f"«{labels[absent]}»",)
    (lift,) = found.lifts
    assert (lift.kind, lift.what) == ("filter", f"«{labels[absent]}»")
    hits = searcher.search(replace(QUERY, required=(own,), k=500)).hits
    assert lift.rank == next(hit.rank for hit in hits if hit.passage.id == best.id)


def test_a_passage_has_the_rank_of_its_document(fitted: Fitted, searcher: Searcher) -> None:
    query = replace(QUERY, level=Level.DOCUMENT)
    ids = searcher.ranking(QUERY, 200).ids.tolist()
    everything = {i: hit.rank for hit in searcher.search(replace(query, k=500)).hits for i in hit.within}
    for passage in ids[::30]:
        assert why_not(searcher, fitted[1], fitted[2], query, passage).rank == everything[passage]


def test_it_works_without_concepts_and_without_hits(fitted: Fitted, searcher: Searcher) -> None:
    passage = int(searcher.snapshot().ids()[0])
    assert why_not(searcher, None, {}, QUERY, passage).missing_concepts == ()
    nothing = why_not(searcher, None, {}, replace(QUERY, text=f"{QUERY.text} in:nowhere"), passage)
    assert nothing.excluded == ("in:nowhere",)
    assert nothing.last == 0.0
    with pytest.raises(NotFound):
        why_not(searcher, None, {}, QUERY, 99_999)


def test_it_can_be_cancelled(fitted: Fitted, searcher: Searcher) -> None:
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        why_not(searcher, fitted[1], fitted[2], QUERY, int(searcher.snapshot().ids()[0]), control=control)


@pytest.fixture
def copied(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Encoder) -> Iterator[tuple[Searcher, list[int]]]:
    """Two documents of one family with equal words, among others."""
    texts = ["The ship is in the harbour with cargo and an anchor.", "A baker sold bread.", "Snow and wind came today."]
    texts.append(texts[0].replace(".", "!"))
    vectors = tiny_encoder.encode(texts)
    shelf = Shelf(tmp_path_factory.mktemp("copied") / "library", tiny_encoder.id, tiny_encoder.dimension)
    ids = shelf.add([Item(f"/shelf/{n}.txt", t, v) for n, (t, v) in enumerate(zip(texts, vectors, strict=True))])
    for name in ("/shelf/0.txt", "/shelf/3.txt"):
        shelf.db.execute("UPDATE document SET family = 1 WHERE path = ?", (name,))
    shelf.db.conn.commit()
    found = Searcher(shelf.folder, tiny_encoder)
    yield found, ids
    found.close()
    shelf.close()


def test_equal_text_shown_in_its_place_is_told(copied: tuple[Searcher, list[int]]) -> None:
    searcher, ids = copied
    query = Query("ship in the harbour", k=2)
    shown = searcher.search(query).hits[0]
    hidden = next(i for i in (ids[0], ids[3]) if i != shown.passage.id)
    found = why_not(searcher, None, {}, query, hidden)
    assert found.instead == shown.passage.document_id
    assert found.rank == 1
    assert "another document" in found.sentence
    assert why_not(searcher, None, {}, query, shown.passage.id).instead == 0


def test_sentences_say_what_matters_most() -> None:
    sheds = ConceptShare(1, "sheds", 0.1, 0.1, 0.0, 0.0)
    near = Standing(DENSE, 0.3, 700, 0.1, 0.5, 0.9)
    assert absence(None, 5, ("type:pdf",), 0, (), (), ()) == "It is kept out by type:pdf."
    assert absence(None, 5, ("a", "b"), 0, (), (), ()) == "It is kept out by a and b."
    assert absence(2, 5, (), 0, ("roof",), (), ()) == "It is among the hits, at place 2."
    assert absence(2, 5, (), 7, (), (), ()) == "The same text is shown at place 2, in another document."
    assert absence(9, 5, (), 0, ("roof",), (sheds,), ()) == (
        "It stands at place 9, behind the 5 hits shown: "
        "it lacks the word roof and is not about «sheds», as some of the hits are."
    )
    assert absence(None, 5, (), 0, (), (), (near,)) == "It is no candidate: its best rank is 700, by meaning."
    assert absence(None, 5, (), 0, (), (), (replace(near, rank=None),)) == (
        "It is not among the best 2,000 passages by meaning."
    )
    assert absence(7, 5, (), 7, (), (), ()) == (
        "The same text stands at place 7, in another document, behind the 5 hits shown."
    )
    assert absence(None, 5, ("«roofs»", "type:pdf", "«sheds»"), 0, (), (), ()) == (
        "It is kept out by type:pdf and what must be there: «roofs» and «sheds»."
    )


class Hates:
    """A reranker that puts what holds a word last."""

    id = "hates"

    def __init__(self, word: str) -> None:
        self._word = word

    def score(
        self, query: str, passages: list[str], *, until: float | None = None, control: Control | None = None
    ) -> np.ndarray:
        return np.array([float(self._word not in text) for text in passages], np.float32)


def test_what_only_goes_without_close_reading_is_no_lift(fitted: Fitted, tiny_encoder: Encoder) -> None:
    """A reranker pulls the best passages down: every search that is not read closely would seem to lift them."""
    plain = Searcher(fitted[0].folder, tiny_encoder)
    first = plain.search(QUERY).hits[0].passage
    searcher = Searcher(
        fitted[0].folder, tiny_encoder, Fusing(weights={RERANK: 50.0}), lambda name: Hates(first.text[:30])
    )
    found = why_not(searcher, fitted[1], fitted[2], QUERY, first.id)
    assert found.rank is not None
    assert found.rank > 10
    assert found.lifts == ()  # it is the first one already when nothing is read closely
    searcher.close()
    plain.close()
