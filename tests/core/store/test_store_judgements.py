"""What a person said of passages stays through reading anew, and goes with the documents."""

from __future__ import annotations

import pytest

from core.ingest.removal import delete_documents, remove
from core.library import Library
from core.store import copies, database, judgements, living
from core.store.database import transaction
from tests.core.train.asked import FILLER, Made

NEXT = "Two parts of sugar and one part of water feed a colony once the harvest is over and nights are cold."


@pytest.fixture
def made(tmp_path):
    found = Made(tmp_path / "library")
    yield found
    found.db.conn.close()


@pytest.fixture
def library(made, tmp_path):
    found = Library.open(tmp_path / "library")
    yield found
    found.close()


def said(library: Library) -> list[tuple[str, str, int, int]]:
    return [(one.kind, one.question, one.passage_id, one.gain) for one in library.judgements()]


def test_small_changes_of_the_window(made, library) -> None:
    first, second = made.ids(made.add("/shelf/a.txt", [FILLER, NEXT]))
    assert library.note_opened(" green   book ", first)
    assert library.note_opened("green book", first)  # once more: one row
    library.set_pinned("sugar?", second, on=True)
    library.set_thumb("sugar?", second, up=True)
    library.set_thumb("sugar?", second, up=False)
    assert said(library) == [
        ("opened", "green book", first, 2), ("pinned", "sugar?", second, 2), ("disliked", "sugar?", second, 2),
    ]  # fmt: skip
    library.set_thumb("sugar?", second, up=None)
    library.set_pinned("sugar?", second, on=False)
    library.forget_judgements(kind="opened")
    assert said(library) == []
    assert not library.note_opened("green book", 10**6)
    assert not library.note_opened("  ", first)


def test_opened_results_are_not_recorded_when_the_person_says_so(made, library) -> None:
    (first,) = made.ids(made.add("/shelf/a.txt", [FILLER]))
    assert library.records_opened()
    library.set_records_opened(False)
    assert not library.note_opened("green book", first)
    library.set_pinned("green book", first, on=True)  # what is said outright still counts
    assert [one[0] for one in said(library)] == ["pinned"]
    library.set_records_opened(True)
    assert library.note_opened("green book", first)


def test_a_verdict_takes_the_place_of_the_one_before_and_none_takes_it_back(made, library) -> None:
    first, second = made.ids(made.add("/shelf/a.txt", [FILLER, NEXT]))
    assert library.judge("sugar?", {first: 0, second: 2, 10**6: 1}) == 2
    assert library.judge("sugar?", {second: 1}) == 1
    assert said(library) == [("judged", "sugar?", second, 1)]
    assert library.judge("sugar?", {}) == 0
    assert said(library) == []


def test_it_is_found_again_when_passages_get_other_ids(made, library) -> None:
    number = made.add("/shelf/a.txt", [FILLER, NEXT])
    library.judge("sugar?", {made.ids(number)[1]: 2})
    with transaction(made.db):
        living.repost(made.db, number)
    assert said(library) == [("judged", "sugar?", made.ids(number)[1], 2)]


def test_it_follows_a_passage_whose_words_change_a_little(made, library) -> None:
    number = made.add("/shelf/a.txt", [FILLER, NEXT])
    library.judge("sugar?", {made.ids(number)[1]: 2})
    made.add("/shelf/a.txt", ["An introduction that is new.", FILLER, NEXT.replace("cold", "long")], title="Feeding")
    assert said(library) == [("judged", "sugar?", made.ids(number)[2], 2)]
    made.add("/shelf/a.txt", [FILLER, "Ships lie in the harbour and wait for the tide to come."], title="Feeding")
    assert said(library) == []  # nothing of it is left
    made.add("/shelf/a.txt", [FILLER, NEXT.replace("cold", "long")], title="Feeding")
    assert said(library) == [("judged", "sugar?", made.ids(number)[1], 2)]  # it came back


def test_removing_a_document_removes_what_was_said_of_it(made, library, tmp_path) -> None:
    gone, stays = made.add("/shelf/a.txt", [NEXT]), made.add("/shelf/b.txt", [FILLER])
    library.judge("sugar?", {made.ids(gone)[0]: 2, made.ids(stays)[0]: 0})
    library.note_opened("sweet water", made.ids(gone)[0])
    receipt = remove(made.db, tmp_path.joinpath("/shelf/a.txt"))
    assert receipt.channels["history"] == 0
    assert said(library) == [("judged", "sugar?", made.ids(stays)[0], 0)]
    assert made.db.execute("SELECT count(*) FROM judgement").fetchone()[0] == 1


def test_what_an_equal_passage_still_says_keeps_its_judgement(made, library) -> None:
    one, two = made.add("/shelf/a.txt", [NEXT]), made.add("/shelf/b.txt", [NEXT])
    with transaction(made.db):
        copies.share(made.db, two, one)
    library.judge("sugar?", {made.ids(one)[0]: 2})
    with transaction(made.db):
        delete_documents(made.db, [one])
    assert said(library) == [("judged", "sugar?", made.ids(two)[0], 2)]


def test_within_a_run_it_waits_for_the_file_to_come_back_under_another_name(made, library) -> None:
    gone = made.add("/shelf/a.txt", [NEXT])
    library.judge("sugar?", {made.ids(gone)[0]: 2})
    with transaction(made.db):
        delete_documents(made.db, [gone], keep_vectors=True)
    assert said(library) == []
    back = made.add("/shelf/z.txt", [NEXT])
    assert said(library) == [("judged", "sugar?", made.ids(back)[0], 2)]
    with transaction(made.db):
        assert judgements.drop_orphans(made.db) == 0
        delete_documents(made.db, [back], keep_vectors=True)
        assert judgements.drop_orphans(made.db) == 1
    assert made.db.execute("SELECT count(*) FROM judgement").fetchone()[0] == 0


def test_a_library_of_before_gets_the_table(tmp_path) -> None:
    db = database.create(tmp_path)
    db.execute("DROP TABLE judgement")
    db.execute("DELETE FROM migration WHERE name = '0007-judgements'")
    db.conn.close()
    library = Library.open(tmp_path)
    assert library.judgements() == []
    library.close()
