import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import BadQuery, NotALibrary, NotFound
from core.base.types import BM25, DENSE, Filters, Query, Turn
from core.encode.encoder import Encoder
from core.index import generation
from core.index.writer import rebuild
from core.search import searcher as searching
from core.search.searcher import Searcher
from tests.shelf import Item, Shelf
from tests.tiny import sentence, topics


def made_items(encoder: Encoder, count: int = 96) -> list[Item]:
    luck = random.Random(3)
    themes = list(topics().values())
    texts = [" ".join(sentence(themes[n % len(themes)], luck) for _ in range(3)) for n in range(count)]
    vectors = encoder.encode(texts)
    return [Item(f"/shelf/{n:03d}.txt", text, v) for n, (text, v) in enumerate(zip(texts, vectors, strict=True))]


@pytest.fixture(scope="module")
def made(tiny_encoder: Encoder) -> list[Item]:
    return made_items(tiny_encoder)


@pytest.fixture
def shelf(tmp_path: Path, tiny_encoder: Encoder, made: list[Item]) -> Shelf:
    shelf = Shelf(tmp_path / "library", tiny_encoder.id, tiny_encoder.dimension)
    shelf.add(made[:50])
    shelf.add(made[50:])
    return shelf


@pytest.fixture
def searcher(shelf: Shelf, tiny_encoder: Encoder) -> Iterator[Searcher]:
    searcher = Searcher(shelf.folder, tiny_encoder)
    yield searcher
    searcher.close()


QUERY = Query("the ship in the harbour with cargo", k=12)


def test_hits_are_ranked_and_their_parts_add_up(searcher: Searcher) -> None:
    result = searcher.search(QUERY)
    assert [hit.rank for hit in result.hits] == list(range(1, 13))
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert result.generation == 2
    assert set(result.milliseconds) == {"open", "filter", "encode", "rank", "fetch", "total"}
    for hit in result.hits:
        assert [part.channel for part in hit.parts] == [BM25, DENSE]
        assert sum(part.contribution for part in hit.parts) == hit.score
        assert all(part.contribution >= 0 for part in hit.parts)
    assert result.hits[0].parts[0].rank is not None
    assert result.notice == ""


def test_matched_words_are_marked(searcher: Searcher) -> None:
    hit = searcher.search(replace(QUERY, text="ships of harbours")).hits[0]
    words = {hit.passage.text[s.start : s.end] for s in hit.spans}
    assert words
    assert words <= {"ship", "harbour"}
    assert hit.snippet.start <= hit.spans[0].start < hit.snippet.end


def test_a_single_channel_gives_raw_scores(searcher: Searcher) -> None:
    for channel in (BM25, DENSE):
        result = searcher.search(replace(QUERY, channels=(channel,), weights={channel: 3.0}))
        for place, hit in enumerate(result.hits, 1):
            (part,) = hit.parts
            assert part.channel == channel
            assert part.score == part.contribution == hit.score
            assert part.rank == place


def test_weights_move_hits(searcher: Searcher) -> None:
    words = [h.passage.id for h in searcher.search(replace(QUERY, weights={DENSE: 0.0})).hits]
    alone = searcher.search(replace(QUERY, channels=(BM25,))).hits
    matching = [h.passage.id for h in alone if h.score > 0]
    assert words[: len(matching)] == matching[:12]


def test_filters_restrict_and_are_counted(searcher: Searcher, shelf: Shelf) -> None:
    everything = searcher.search(QUERY)
    first = everything.hits[0].passage
    result = searcher.search(replace(QUERY, filters=Filters(documents=(first.document_id,))))
    assert [hit.passage.id for hit in result.hits] == [first.id]
    assert result.filtered_out == 95
    nothing = searcher.search(replace(QUERY, filters=Filters(folders=("/elsewhere",))))
    assert nothing.hits == ()
    assert nothing.filtered_out == 96
    assert everything.filtered_out == 0


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_query_is_refused(searcher: Searcher, text: str) -> None:
    with pytest.raises(BadQuery):
        searcher.search(Query(text))


@pytest.mark.parametrize("channels", [("telepathy",), ("bm25", "telepathy")])
def test_unknown_channels_are_refused(searcher: Searcher, channels: tuple[str, ...]) -> None:
    with pytest.raises(BadQuery):
        searcher.search(Query("ship", channels=channels))


def test_a_very_long_query_is_cut_and_says_so(searcher: Searcher) -> None:
    luck = random.Random(1)
    words = ["".join(luck.choices("abcdefghij", k=6)) for _ in range(14_000)]
    result = searcher.search(Query("ship " + " ".join(words)))
    assert "very long" in result.notice
    assert result.hits


def test_a_query_of_signs_only_is_searched_by_meaning(searcher: Searcher) -> None:
    result = searcher.search(Query("?!", k=3))
    assert len(result.hits) == 3
    assert all(hit.parts[0].score == 0 for hit in result.hits)


def test_an_empty_library_has_no_hits(tmp_path: Path, tiny_encoder: Encoder) -> None:
    Shelf(tmp_path / "empty").close()
    searcher = Searcher(tmp_path / "empty", tiny_encoder)
    assert searcher.search(QUERY).hits == ()
    searcher.close()


def test_no_library(tmp_path: Path, tiny_encoder: Encoder) -> None:
    with pytest.raises(NotALibrary):
        Searcher(tmp_path, tiny_encoder).search(QUERY)


def test_commits_and_deletes_are_seen(searcher: Searcher, shelf: Shelf, tiny_encoder: Encoder) -> None:
    first = searcher.search(QUERY).hits[0].passage
    shelf.remove(first.path)
    assert first.id not in [hit.passage.id for hit in searcher.search(QUERY).hits]
    text = "the ship in the harbour with cargo and a unicorn"
    (new,) = shelf.add([Item("/shelf/new.txt", text, tiny_encoder.encode([text])[0])])
    result = searcher.search(QUERY)
    assert result.generation == 3
    assert result.hits[0].passage.id == new


def test_a_damaged_dense_file_leaves_the_words(searcher: Searcher, shelf: Shelf, tiny_encoder: Encoder) -> None:
    before = searcher.search(QUERY)
    current = generation.current(shelf.folder)
    assert current is not None
    path = shelf.folder / current.segments[0].dense_path
    path.write_bytes(path.read_bytes()[:100])
    searcher.reopen()
    result = searcher.search(QUERY)
    assert searcher.damaged
    assert "damaged" in result.notice
    assert {part.channel for hit in result.hits for part in hit.parts} == {BM25}
    rebuild(shelf.folder, shelf.db, tiny_encoder)
    searcher.reopen()
    again = searcher.search(QUERY)
    assert not searcher.damaged
    assert [(h.passage.id, h.score, h.parts) for h in again.hits] == [
        (h.passage.id, h.score, h.parts) for h in before.hits
    ]


def test_a_lost_manifest_is_told(searcher: Searcher, shelf: Shelf, tiny_encoder: Encoder) -> None:
    (shelf.folder / "generations" / "0002" / "manifest.json").write_text("{")
    result = searcher.search(QUERY)
    assert result.hits == ()
    assert searcher.damaged
    assert "rebuilt" in result.notice
    rebuild(shelf.folder, shelf.db, tiny_encoder)
    assert searcher.search(QUERY).hits


def test_another_encoder_leaves_the_words(shelf: Shelf, tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.db.execute("UPDATE segment SET encoder = 'older'")
    current = generation.current(shelf.folder)
    assert current is not None
    generation.write(shelf.folder, replace(current, encoder="older"))
    searcher = Searcher(shelf.folder, tiny_encoder)
    result = searcher.search(QUERY)
    assert "another encoder" in result.notice
    assert {part.channel for hit in result.hits for part in hit.parts} == {BM25}
    searcher.close()


def test_the_context_of_a_hit_is_that_of_the_search(searcher: Searcher) -> None:
    hit = searcher.search(QUERY).hits[3]
    context = searcher.context(QUERY, hit.passage.id)
    assert (context.score, context.parts, context.passage) == (hit.score, hit.parts, hit.passage)
    assert sum(match.weight for match in context.terms) == pytest.approx(hit.parts[0].score, rel=1e-12)
    assert context.query_vector is not None
    assert context.passage_vector is not None
    assert context.dense_score == pytest.approx(float(context.query_vector @ context.passage_vector), abs=1e-6)
    assert context.dense_score == hit.parts[1].score


def test_parts_of_german_compounds_find_and_are_told_as_what_they_are(tmp_path: Path, tiny_encoder: Encoder) -> None:
    texts = {"de": "Das Kraftwerk liegt am Fluss.", "en": "Kraftwerk plays tonight.", "": "Nothing of the kind."}
    vectors = tiny_encoder.encode(list(texts.values()))
    made = [
        Item(f"/shelf/{n}.txt", text, vector, title="note", language=language)
        for n, ((language, text), vector) in enumerate(zip(texts.items(), vectors, strict=True))
    ]
    shelf = Shelf(tmp_path / "library", tiny_encoder.id, tiny_encoder.dimension)
    shelf.add(made)
    searcher = Searcher(shelf.folder, tiny_encoder)
    query = Query("Kernkraftwerk", channels=(BM25,))
    (hit,) = searcher.search(query).hits
    assert hit.passage.text == texts["de"]  # the same word in a passage of another language is untouched
    assert hit.spans == ()
    context = searcher.context(query, hit.passage.id)
    assert {(t.term, t.part_of) for t in context.terms} == {("kraft", "kernkraftwerk"), ("werk", "kernkraftwerk")}
    assert {texts["de"][s.start : s.end] for t in context.terms for s in t.spans} == {"Kraftwerk"}
    assert sum(t.weight for t in context.terms) == pytest.approx(hit.score, rel=1e-12)
    whole = searcher.search(Query("Kraftwerk", channels=(BM25,))).hits
    assert [h.passage.language for h in whole] == ["de", "en"]  # the word, and in German its parts
    searcher.close()


def test_the_context_of_a_passage_the_search_did_not_return(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "DEPTH", 5)
    query = replace(QUERY, k=5)
    found = {hit.passage.id for hit in searcher.search(query).hits}
    other = next(i for i in searcher.snapshot().ids().tolist()[::-1] if i not in found)
    context = searcher.context(query, other)
    assert sum(part.contribution for part in context.parts) == context.score
    assert [part.rank for part in context.parts] == [None, None]


def test_the_context_of_one_channel_still_has_the_vectors(searcher: Searcher) -> None:
    context = searcher.context(replace(QUERY, channels=(BM25,)), 1)
    assert [part.channel for part in context.parts] == [BM25]
    assert context.passage_vector is not None


def test_no_such_passage(searcher: Searcher) -> None:
    with pytest.raises(NotFound):
        searcher.context(QUERY, 12345)


def test_words_of_several_languages_find_their_forms(tmp_path: Path, tiny_encoder: Encoder) -> None:
    texts = [("Die Brücken der Stadt", "de"), ("Bridges of the town", "en"), ("都市の橋と港", "ja")]
    vectors = np.tile(tiny_encoder.encode(["town"]), (3, 1))
    shelf = Shelf(tmp_path / "mixed", tiny_encoder.id, tiny_encoder.dimension)
    shelf.add(
        [
            Item(f"/shelf/{n}", text, v, language=code)
            for n, ((text, code), v) in enumerate(zip(texts, vectors, strict=True))
        ]
    )
    searcher = Searcher(shelf.folder, tiny_encoder)
    for text, expected, marked in (
        ("Brücke", 0, "Brücken"),
        ("bridge", 1, "Bridges"),
        ("橋", 2, "橋"),
        ("brucke", 0, "Brücken"),
    ):
        result = searcher.search(Query(text, channels=(BM25,)))
        assert [h.passage.path for h in result.hits] == [f"/shelf/{expected}"]
        passage = result.hits[0].passage
        assert [passage.text[s.start : s.end] for s in result.hits[0].spans] == [marked]
    searcher.close()


def test_retrieve_searches_for_the_whole_question(searcher: Searcher) -> None:
    turn = Turn("Which ship lies in the harbour?", "A vessel with cargo.")
    result = searcher.retrieve("And what about its anchor?", [turn], Filters(), 5)
    assert "harbour" in result.query.text
    assert len(result.hits) == 5
    alone = searcher.retrieve("Which orchestra plays the concert?", [turn], Filters(), 5)
    assert alone.query.text == "Which orchestra plays the concert?"


def test_the_rarest_of_many_languages_is_not_lost(tmp_path: Path, tiny_encoder: Encoder) -> None:
    codes = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "fi", "no", "ru"]
    texts = [(f"word {n}", code) for code in codes for n in range(2)] + [
        ("وعليه فإن الحكومة المصرية تضع البرنامج", "ar")
    ]
    vectors = np.tile(tiny_encoder.encode(["town"]), (len(texts), 1))
    shelf = Shelf(tmp_path / "many", tiny_encoder.id, tiny_encoder.dimension)
    shelf.add(
        [
            Item(f"/shelf/{n:02d}", text, v, language=code)
            for n, ((text, code), v) in enumerate(zip(texts, vectors, strict=True))
        ]
    )
    searcher = Searcher(shelf.folder, tiny_encoder)
    result = searcher.search(Query("الحكومة المصرية", channels=(BM25,)))
    searcher.close()
    assert [h.passage.path for h in result.hits] == ["/shelf/24"]
