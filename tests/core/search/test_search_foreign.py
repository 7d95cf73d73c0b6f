"""An encoder is trusted less with what is in languages that it was not made for; the parts still add up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.types import BM25, DENSE, Query
from core.encode.encoder import Encoder
from core.search import foreign
from core.search.fuse import Fusing
from core.search.searcher import Searcher
from tests.shelf import Item, Shelf
from tests.tiny import ID

GERMAN = "Der Bienenstock steht im Garten", "Im Garten wachsen Rosen", "Die Rosen brauchen Wasser"
ENGLISH = "the hive of the bee and honey", "a ship in the harbour", "the harbour has a crew"


@given(st.lists(st.sampled_from(["en", "de", "fr", ""]), max_size=12))
def test_trust_falls_with_the_share_of_unknown_languages(found: list[str]) -> None:
    unknown = frozenset({"de", "fr"})
    value = foreign.trust(found, unknown)
    assert foreign.LEAST <= value <= 1.0
    assert foreign.trust([*found, "en"], unknown) >= value >= foreign.trust([*found, "de"], unknown)
    assert foreign.trust(found, frozenset()) == 1.0


def test_a_wrongly_detected_language_or_two_change_nothing() -> None:
    assert foreign.trust(["en"] * 8 + ["la", "nl"], {"la", "nl"}) == 1.0
    assert foreign.trust(["ar"] * 10, {"ar"}) == foreign.LEAST


def test_an_encoder_that_names_no_language_is_held_to_none() -> None:
    assert foreign.strange(frozenset(), ["de", "ar"]) == frozenset()
    assert foreign.strange({"en"}, ["de", "en", ""]) == {"de"}


@pytest.fixture
def searcher(tmp_path: Path, tiny_home: Path, tiny_encoder: Encoder) -> Iterator[Searcher]:
    """A library of both languages; the tiny encoder's bundle names English."""
    texts = {**dict.fromkeys(GERMAN, "de"), **dict.fromkeys(ENGLISH, "en")}
    vectors = tiny_encoder.encode(list(texts))
    shelf = Shelf(tmp_path / "library", tiny_encoder.id, tiny_encoder.dimension)
    made = zip(texts.items(), vectors, strict=True)
    shelf.add([Item(f"/shelf/{text}", text, vector, language=language) for (text, language), vector in made])
    searcher = Searcher(shelf.folder, tiny_encoder)
    yield searcher
    searcher.close()
    shelf.close()


def weights(searcher: Searcher, text: str) -> dict[str, float]:
    hits = searcher.search(Query(text, literal=True)).hits
    for hit in hits:
        assert sum(part.contribution for part in hit.parts) == hit.score
        context = searcher.context(Query(text, literal=True), hit.passage.id)
        assert context.parts == hit.parts
    return {part.channel: part.weight for part in hits[0].parts}


def test_meaning_counts_less_where_the_words_lead_to_an_unknown_language(searcher: Searcher) -> None:
    german, english = weights(searcher, "Rosen im Garten"), weights(searcher, "ship in the harbour")
    assert german[DENSE] == foreign.LEAST
    assert english[DENSE] == 1.0
    assert weights(searcher, "Rosen harbour")[DENSE] == 1.0


def test_words_are_not_discounted_for_a_meaning_that_is_not_trusted(searcher: Searcher) -> None:
    """A question that no passage meets well."""
    asked = "Rosen Tomaten Gurken Zwiebeln Kartoffeln Karotten"
    gated = weights(searcher, asked)[BM25]
    searcher._strange = frozenset()
    assert weights(searcher, asked + " ")[BM25] < gated <= 1.0


def test_a_rule_that_does_not_adapt_keeps_its_weights(searcher: Searcher, tiny_encoder: Encoder) -> None:
    plain = Searcher(searcher._library, tiny_encoder, Fusing(adaptive=False))
    assert weights(plain, "Rosen im Garten") == {BM25: 1.0, DENSE: 1.0}
    plain.close()


def test_a_person_is_told_that_another_encoder_would_serve_better(searcher: Searcher) -> None:
    few = Query("Rosen im Garten", k=2)
    assert f"{ID} was not made for the language of these passages (de)" in searcher.search(few).notice
    assert searcher.search(replace(few, text="harbour")).notice == ""
    assert searcher.search(replace(few, channels=(BM25,))).notice == ""
