"""Folded hits: the newest version is shown, the others are its copies, and k hits remain."""

from dataclasses import replace

import numpy as np
import pytest

from core.base.types import Filters, Query
from core.search.searcher import Searcher
from core.store.database import transaction
from tests.shelf import DIMENSION, ENCODER, Item, Shelf, unit_vectors

TEXT = "amber birch cedar delta ember fjord grove heath islet juniper"


class Given:
    """An encoder for queries whose vector does not matter here."""

    id, dimension, max_tokens = ENCODER, DIMENSION, 64
    heads = frozenset({"dense"})

    def encode(self, texts, *, kind="passage", control=None):
        return np.stack([unit_vectors(1, 7)[0] for _ in texts])


@pytest.fixture
def shelf(tmp_library):
    made = Shelf(tmp_library)
    yield made
    made.close()


def family(shelf, names, number, *, first_mtime=10):
    with transaction(shelf.db):
        for place, name in enumerate(names):
            shelf.db.execute("UPDATE document SET family = ? WHERE path = ?", (number, name))
            shelf.db.execute("UPDATE file SET mtime_ns = ? WHERE path = ?", ((first_mtime + place) * 10**9, name))


def versions(count, words=TEXT, name="v"):
    vectors = unit_vectors(count, 3)
    return [Item(f"/shelf/{name}{n}.txt", f"{words} extra{n}", v, title=f"{name}{n}") for n, v in enumerate(vectors)]


def search(shelf, text, k=5, **more):
    searcher = Searcher(shelf.folder, Given())
    try:
        return searcher.search(Query(text, k=k, **more)).hits
    finally:
        searcher.close()


def test_versions_fold_into_the_newest(shelf):
    rows = versions(3)
    ids = shelf.add([*rows, Item("/shelf/else.txt", "amber nectar", unit_vectors(1)[0])])
    family(shelf, [i.name for i in rows], 1)
    hits = search(shelf, "amber birch cedar")
    assert [h.passage.path for h in hits] == ["/shelf/v2.txt", "/shelf/else.txt"]
    assert [(c.path, c.exact, c.passage_id) for c in hits[0].copies] == [
        ("/shelf/v1.txt", False, ids[1]), ("/shelf/v0.txt", False, ids[0])
    ]  # fmt: skip
    assert hits[0].copies[0].modified == "1970-01-01T00:00:11+00:00"
    assert len(search(shelf, "amber birch cedar", fold=False)) == 4


def test_the_parts_are_those_of_the_passage_shown_and_order_is_by_score(shelf):
    rows = versions(3)
    shelf.add([*rows, *(Item(f"/shelf/x{n}.txt", f"amber birch x{n}", v) for n, v in enumerate(unit_vectors(4, 5)))])
    family(shelf, [i.name for i in rows], 1)
    plain = {h.passage.id: h for h in search(shelf, "amber birch cedar", k=50, fold=False)}
    hits = search(shelf, "amber birch cedar", k=50)
    assert len(hits) == 5
    for hit in hits:
        assert (hit.score, hit.parts) == (plain[hit.passage.id].score, plain[hit.passage.id].parts)
        assert hit.score == sum(p.contribution for p in hit.parts)
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)


def test_versions_have_the_place_of_the_one_that_was_read_closely(shelf):
    """The newest, which is shown, ranks lower by itself, and there was no time to read it."""

    class Hurried:
        id = "hurried"

        def score(self, question, passages, *, until, control):
            return np.array([1.0, 0.0, *[np.nan] * (len(passages) - 2)], np.float32)

    rows = versions(2, TEXT + " kelp lagoon")
    rows = [rows[0], replace(rows[1], text=TEXT, vector=-rows[0].vector)]
    rows[0] = replace(rows[0], vector=Given().encode([""])[0])
    ids = shelf.add([*rows, *(Item(f"/shelf/x{n}.txt", f"{TEXT} {n}", v) for n, v in enumerate(unit_vectors(8, 5)))])
    family(shelf, [i.name for i in rows], 1)
    searcher = Searcher(shelf.folder, Given(), rerankers=lambda name: Hurried())
    query = Query(f"{TEXT} kelp lagoon", k=9)
    assert searcher.ranking(query, 20).ids[0] == ids[0]
    hits = searcher.search(query).hits
    searcher.close()
    assert [hits[0].passage.path, *(c.path for c in hits[0].copies)] == ["/shelf/v1.txt", "/shelf/v0.txt"]
    assert hits[0].score < hits[1].score


def test_passages_of_one_family_that_differ_stay_apart(shelf):
    rows = [*versions(2), *versions(1, "amber " + " ".join(f"word{n}" for n in range(12)), "w")]
    shelf.add(rows)
    family(shelf, [i.name for i in rows], 1)
    assert [h.passage.path for h in search(shelf, "amber")] in (
        ["/shelf/v1.txt", "/shelf/w0.txt"], ["/shelf/w0.txt", "/shelf/v1.txt"]
    )  # fmt: skip


def test_equal_passages_of_one_document_are_hits_of_their_own(shelf):
    shelf.add([Item("/shelf/a.txt", "amber birch", v, title="same") for v in unit_vectors(1)])
    other = Item("/shelf/b.txt", "amber birch", unit_vectors(1)[0], title="same")
    shelf.add([other])
    hits = search(shelf, "amber")  # the shelf's hashes name the file: nothing says that these are the same
    assert len(hits) == 2
    shelf.db.execute("UPDATE passage SET hash = 'one'")
    shelf.db.execute("UPDATE vector SET hash = 'one' WHERE hash LIKE '/shelf/a%'")
    assert [len(h.copies) for h in search(shelf, "amber")] == [1]


def test_k_hits_remain_when_hundreds_fold_into_one(shelf):
    rows = versions(450)
    others = [Item(f"/shelf/z{n}.txt", f"amber z{n} " + "prairie " * 20, v) for n, v in enumerate(unit_vectors(6, 9))]
    shelf.add([*rows, *others])
    family(shelf, [i.name for i in rows], 1)
    hits = search(shelf, "amber birch cedar", k=5)
    assert len(hits) == 5
    assert max(len(h.copies) for h in hits) > 200
    searcher = Searcher(shelf.folder, Given())
    for hit in hits:  # an explanation takes apart the same score
        assert searcher.context(Query("amber birch cedar", k=5), hit.passage.id).score == pytest.approx(hit.score)
    searcher.close()


def test_a_filter_shows_and_lists_only_what_it_lets_through(shelf):
    rows = versions(3)
    shelf.add(rows)
    family(shelf, [i.name for i in rows], 1)
    names = (rows[0].name, rows[1].name)
    ids = [r[0] for r in shelf.db.execute("SELECT id FROM document WHERE path IN (?, ?)", names).fetchall()]
    (hit,) = search(shelf, "amber", filters=Filters(documents=tuple(ids)))
    assert (hit.passage.path, [c.path for c in hit.copies]) == (rows[1].name, [rows[0].name])
