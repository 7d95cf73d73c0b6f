"""What an answer is given: parts searched one by one, documents side by side, no doubles, the newest first, wider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.base.types import Filters, ReadDocument
from core.encode.encoder import Encoder
from core.index.writer import IndexPassage
from core.search.asking import MOST_OF_DOCUMENT
from core.search.searcher import Searcher
from core.store import documents
from core.store.database import transaction
from core.store.passages import NewPassage, put_vectors, replace_passages
from tests.shelf import Item, Shelf

SHIP, MUSIC = "ship harbour cargo anchor vessel", "orchestra concert violin music melody"


@pytest.fixture
def shelf(tmp_path: Path, tiny_encoder: Encoder) -> Iterator[Shelf]:
    made = Shelf(tmp_path / "library", tiny_encoder.id, tiny_encoder.dimension)
    yield made
    made.close()


@pytest.fixture
def fill(shelf: Shelf, tiny_encoder: Encoder):
    def add(texts: dict[str, str]) -> list[int]:
        vectors = tiny_encoder.encode(list(texts.values()))
        return shelf.add([Item(n, t, v, title="") for (n, t), v in zip(texts.items(), vectors, strict=True)])

    return add


@pytest.fixture
def book(shelf: Shelf, tiny_encoder: Encoder):
    """A document of several passages, each given as its place in the text and its headings."""

    def add(name: str, text: str, cuts: list[tuple[int, int, tuple[str, ...]]]) -> None:
        with transaction(shelf.db):
            file = documents.put_file(shelf.db, shelf.root, name, 1, 1, "")
            row = documents.put_document(shelf.db, file, name, "", ReadDocument(text), language="en", size=1)
            keys = [f"{name}:{a}" for a, _, _ in cuts]
            vectors = tiny_encoder.encode([text[a:b] for a, b, _ in cuts])
            new = [
                NewPassage(text[a:b], a, b, n + 1, n + 1, head, "en", key)
                for n, ((a, b, head), key) in enumerate(zip(cuts, keys, strict=True))
            ]
            replace_passages(shelf.db, row, new)
            put_vectors(
                shelf.db, shelf.encoder, [(k, v.astype("<f4").tobytes()) for k, v in zip(keys, vectors, strict=True)]
            )
        rows = shelf.db.execute(
            "SELECT id, text FROM passage WHERE document_id = ? ORDER BY ordinal", (row,)
        ).fetchall()
        writer = shelf.writer()
        writer.add([IndexPassage(i, t, (), "", "en") for i, t in rows], np.stack(list(vectors)))
        writer.commit()

    return add


@pytest.fixture
def retrieve(shelf: Shelf, tiny_encoder: Encoder):
    def ask(question: str, k: int = 8, filters: Filters | None = None):
        searcher = Searcher(shelf.folder, tiny_encoder)
        try:
            return searcher.retrieve(question, (), filters or Filters(), k)
        finally:
            searcher.close()

    return ask


def test_both_parts_of_a_question_are_found_among_few(fill, retrieve) -> None:
    fill({f"/shelf/ship{n}": f"{SHIP} number{n} {'quay ' * n}" for n in range(9)})
    fill({"/shelf/music": f"{MUSIC} evening"})
    question = "Which ship carries cargo into the harbour, anchor and vessel, and who plays music?"
    result = retrieve(question, 3)
    assert result.searched[0] == result.query.text == question
    assert len(result.searched) == 3
    assert "/shelf/music" in {hit.passage.path for hit in result.hits}
    assert [hit.rank for hit in result.hits] == [1, 2, 3]


def test_a_single_question_is_searched_once_and_in_order(fill, retrieve) -> None:
    fill({f"/shelf/{n}": f"{SHIP} {'melody ' * n} n{n}" for n in range(6)})
    result = retrieve("ship in the harbour")
    assert result.searched == ("ship in the harbour",)
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(abs(sum(p.contribution for p in hit.parts) - hit.score) < 1e-6 for hit in result.hits)


def test_what_is_said_twice_counts_once(fill, retrieve) -> None:
    said = "The ship lies in the harbour with cargo and an anchor of the old vessel beside the long quay wall."
    fill({"/shelf/a": said, "/shelf/b": said.upper() + " ", "/shelf/c": f"{SHIP} elsewhere"})
    paths = [hit.passage.path for hit in retrieve("ship in the harbour").hits]
    assert len({"/shelf/a", "/shelf/b"} & set(paths)) == 1
    assert "/shelf/c" in paths


def test_one_document_does_not_crowd_out_the_others(book, fill, retrieve) -> None:
    sentences = [f"{SHIP} {word}." for word in ["one", "two", "three", "four", "five", "six", "seven", "eight"]]
    text, cuts = "\n".join(sentences), []
    for sentence in sentences:
        a = text.index(sentence)
        cuts.append((a, a + len(sentence), (sentence[-5:],)))
    book("/shelf/book", text, cuts)
    fill({"/shelf/other": f"{SHIP} {'concert ' * 3}", "/shelf/third": f"{SHIP} {'violin ' * 4}"})
    paths = [hit.passage.path for hit in retrieve("ship harbour cargo anchor vessel", 6).hits]
    assert paths.count("/shelf/book") == MOST_OF_DOCUMENT
    assert {"/shelf/other", "/shelf/third"} <= set(paths)
    only = retrieve("ship harbour cargo anchor vessel", 6, Filters(folders=("/shelf/book",)))
    assert len(only.hits) == 6


def test_the_newer_version_stands_before_the_older_one_and_is_told(shelf, fill, retrieve) -> None:
    old = "The ship takes cargo for twelve crowns into the harbour"
    new = "Cargo of a vessel costs fifteen crowns since the harbour was widened by the new ship owners of the anchor"
    fill({"/shelf/old": old, "/shelf/new": new, "/shelf/else": f"{MUSIC} cargo"})
    before = retrieve("The ship takes cargo for how many crowns into the harbour?")
    assert before.hits[0].passage.path == "/shelf/old"
    assert before.newest == ()
    with transaction(shelf.db):
        shelf.db.execute("UPDATE document SET family = 1 WHERE path IN ('/shelf/old', '/shelf/new')")
        shelf.db.execute("UPDATE file SET mtime_ns = 50 WHERE path = '/shelf/new'")
    after = retrieve("The ship takes cargo for how many crowns into the harbour?")
    assert after.hits[0].passage.path == "/shelf/new"
    assert after.newest == (after.hits[0].passage.id,)


TEXT = (
    "The ship has a name. It is old. The cargo was loaded in the harbour by the anchor. It weighs nine tons. Far off."
)


def test_a_passage_is_widened_within_its_section_and_places_stay_true(book, retrieve, shelf) -> None:
    middle = TEXT.index("The cargo"), TEXT.index(" It weighs")
    head = ("Chapter",)
    book("/shelf/book", TEXT, [(0, middle[0] - 1, head), (*middle, head), (middle[1] + 1, len(TEXT), ("Other",))])
    hit = retrieve("cargo loaded in the harbour by the anchor", 1).hits[0]
    assert hit.passage.text == TEXT[: middle[1]]  # two sentences before, none of the other section
    assert TEXT[hit.passage.start : hit.passage.end] == hit.passage.text
    assert hit.passage.first_page == 1
    marked = {hit.passage.text[s.start : s.end].casefold() for s in hit.spans}
    assert {"cargo", "harbour", "anchor"} <= marked


def test_a_passage_is_not_widened_beyond_its_place(book, retrieve, shelf) -> None:
    cut = TEXT.index("The cargo")
    book("/shelf/book", TEXT, [(0, cut - 1, ()), (cut, len(TEXT), ())])
    question = "cargo loaded in the harbour by the anchor"
    assert {"name.", "cargo"} <= set(retrieve(question, 1).hits[0].passage.text.split())
    shelf.db.execute("UPDATE passage SET place = 'slide ' || ordinal")
    assert retrieve(question, 1).hits[0].passage.text in (TEXT[: cut - 1], TEXT[cut:])


def test_what_another_hit_holds_is_not_taken_twice(book, retrieve) -> None:
    cut = TEXT.index("The cargo")
    book("/shelf/book", TEXT, [(0, cut - 1, ()), (cut, len(TEXT), ())])
    texts = [hit.passage.text for hit in retrieve("ship cargo harbour", 5).hits]
    assert sorted(texts) == sorted([TEXT[: cut - 1], TEXT[cut:]])


def test_filters_hold_for_every_part(fill, retrieve) -> None:
    fill({"/shelf/in/ship": SHIP, "/shelf/out/music": MUSIC})
    result = retrieve("Where is the ship and who plays music?", filters=Filters(folders=("/shelf/in",)))
    assert {hit.passage.path for hit in result.hits} == {"/shelf/in/ship"}
    assert result.query.filters.folders == ("/shelf/in",)
