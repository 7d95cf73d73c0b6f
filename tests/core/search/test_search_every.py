"""All that matches: the line by words is exact, meaning adds the nearest, pages join, filters and copies hold."""

import math

import pytest

from core.base.errors import BadQuery
from core.base.types import Filters
from core.search.every import LINE, every
from core.search.searcher import Searcher
from core.store.database import transaction
from core.text.analyze import term_texts
from tests.core.answer.collection import HashingEncoder
from tests.shelf import Item, Shelf

TEXTS = [
    *(f"Harbour dues of pier {n} are paid in spring." for n in range(30)),
    *(f"Dues for members, class {n}." for n in range(40)),
    "The harbour master keeps bees.",
    *(f"Bread number {n} is baked with rye." for n in range(50)),
]


@pytest.fixture
def shelf(tmp_library):
    encoder = HashingEncoder()
    made = Shelf(tmp_library, encoder.id, encoder.dimension)
    vectors = encoder.encode(TEXTS)
    rows = enumerate(zip(TEXTS, vectors, strict=True))
    made.ids = made.add([Item(f"/shelf/{n:03d}.txt", text, v, title=f"t{n}") for n, (text, v) in rows])
    yield made
    made.close()


@pytest.fixture
def searcher(shelf):
    made = Searcher(shelf.folder, HashingEncoder())
    yield made
    made.close()


def shares(text):
    """An independent slow reference: idf of each word over all texts, summed over those that a text holds."""
    held = [set(term_texts(t, "en")) for t in TEXTS]
    asked = set(term_texts(text, "en"))
    counts = {w: sum(w in words for words in held) for w in asked}
    idf = {w: math.log(1 + (len(TEXTS) - n + 0.5) / (n + 0.5)) for w, n in counts.items()}
    return [sum(idf[w] for w in asked & words) / sum(idf.values()) for words in held]


@pytest.mark.parametrize("line", [LINE, 0.75])
@pytest.mark.parametrize(
    "text", ["harbour dues", "rye bread", "harbour", "pier harbour unicorns", "bees members spring"]
)
def test_words_match_from_the_line_on(searcher, shelf, text, line):
    expected = shares(text)
    found = every(searcher, text, Filters(), near=0, line=line)
    got = {m.passage.id: m.share for m in found.matches}
    assert set(got) == {i for i, share in zip(shelf.ids, expected, strict=True) if share >= line - 1e-9}
    for i, share in zip(shelf.ids, expected, strict=True):
        assert got.get(i, share) == pytest.approx(share)
    assert found.total == len(got)
    assert [m.share for m in found.matches] == sorted(got.values(), reverse=True)
    assert sum(word.share for word in found.words) == pytest.approx(1.0)


def test_all_of_many_are_handed_over_and_pages_join(searcher):
    whole = every(searcher, "rye bread", Filters(), near=0)
    assert whole.total == 50
    assert whole.searched == len(TEXTS)
    parts = [every(searcher, "rye bread", Filters(), first=n, count=20, near=0) for n in (0, 20, 40)]
    assert [len(p.matches) for p in parts] == [20, 20, 10]
    assert [p.total for p in parts] == [50, 50, 50]
    assert tuple(m.passage.id for p in parts for m in p.matches) == tuple(m.passage.id for m in whole.matches)


def test_the_nearest_in_meaning_follow_those_found_by_words(searcher):
    found = every(searcher, "bees", Filters())
    assert found.matches[0].passage.text == "The harbour master keeps bees."
    assert found.matches[0].share == 1.0
    rest = found.matches[1:]
    assert rest
    assert all(m.share == 0.0 and m.cosine is not None for m in rest)


def test_without_words_all_that_the_filters_let_through(searcher, shelf):
    assert every(searcher, "", Filters()).total == len(TEXTS)
    one = every(searcher, " ", Filters(names=("007",)))
    assert [m.passage.id for m in one.matches] == [shelf.ids[7]]
    assert every(searcher, "rye bread", Filters(names=("007",)), near=0).total == 0
    assert every(searcher, "harbour dues", Filters(names=("007",))).searched == 1
    with pytest.raises(BadQuery):
        every(searcher, "", Filters(after="yesterday"))


def test_copies_are_one_match(searcher, shelf):
    with transaction(shelf.db):
        shelf.db.execute("UPDATE passage SET hash = 'same' WHERE id IN (?, ?)", tuple(shelf.ids[:2]))
    found = every(searcher, "harbour dues", Filters(), near=0, line=0.75)
    assert found.total == 29
    assert sum(len(m.copies) for m in found.matches) == 1


def test_an_unknown_word_counts_against_a_match_and_is_told(searcher):
    found = every(searcher, "unicorns", Filters(), near=0)
    assert (found.total, [w.passages for w in found.words]) == (0, [0])


def test_an_empty_library_has_no_matches(tmp_path):
    Shelf(tmp_path / "empty").close()
    searcher = Searcher(tmp_path / "empty", HashingEncoder())
    try:
        for text in ("rye", ""):
            assert every(searcher, text, Filters()).total == 0
    finally:
        searcher.close()
