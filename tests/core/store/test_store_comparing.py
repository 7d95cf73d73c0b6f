"""Two answers to one question held against each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.base.types import (
    Answer,
    AnswerMode,
    AnswerRecord,
    AnswerSentence,
    Citation,
    DocumentState,
    Filters,
    ReadDocument,
    Support,
)  # fmt: skip
from core.library import Change, Library
from core.store import database, documents, passages
from core.store.comparing import filters_text
from core.store.passages import NewPassage


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A document "Dues" whose passages are 1 and 2."""
    made = Library.create(tmp_path / "library")
    db = database.open_writer(made.folder)
    with database.transaction(db):
        root = documents.add_root(db, "/docs", True)
        file = documents.put_file(db, root, "/docs/dues.txt", 1, 1, "h")
        text = "The dues are 12 crowns. Members pay half."
        read = ReadDocument(text=text, pages=(), title="Dues", state=DocumentState.READ, media_type="text/plain")
        number = documents.put_document(db, file, "/docs/dues.txt", "h", read, language="en", size=1)
        rows = [
            NewPassage(text[:23], 0, 23, None, None, (), "en", "h1"),
            NewPassage(text[24:], 24, 41, None, None, (), "en", "h2"),
        ]
        passages.replace_passages(db, number, rows)
    db.conn.close()
    yield made
    made.close()


def answer(
    *texts: str, passages: tuple[int, ...] = (1,), hashes: tuple[str, ...] = ("a",), document: int = 1
) -> Answer:
    sentences = tuple(
        AnswerSentence(t, Support.SUPPORTED, (Citation(1, passages[0], document, "/d", "Dues", "", 3, 0, 5, t),))
        for t in texts
    )
    record = AnswerRecord(passages=passages, hashes=hashes, encoder="e5", searched=("dues",))
    return Answer("What?", AnswerMode.EXTRACTIVE, " ".join(texts), sentences, generation=1, record=record)


def test_the_same_answer_again_is_the_same(library: Library) -> None:
    found = library.compare(answer("One.", "Two."), answer("One.", "Two."))
    assert found.same
    assert (found.kept, [s.change for s in found.sentences]) == (1, [Change.SAME] * 2)


def test_sentences_that_came_and_went_stand_in_their_places(library: Library) -> None:
    found = library.compare(answer("One.", "Two.", "Three."), answer("ONE.", "New.", "Three."))
    assert [(s.text, s.change) for s in found.sentences] == [
        ("ONE.", Change.SAME), ("Two.", Change.WENT), ("New.", Change.CAME), ("Three.", Change.SAME),
    ]  # fmt: skip
    assert not found.same_answer


def test_what_is_left_out_of_an_answer_is_no_part_of_it(library: Library) -> None:
    invented = AnswerSentence("Dogs travel free.", Support.UNSUPPORTED)
    more = answer("One.")
    assert library.compare(answer("One."), replace(more, sentences=(*more.sentences, invented))).same


def test_each_circumstance_that_is_another_is_named(library: Library) -> None:
    before, after = answer("One."), answer("One.")
    assert after.record is not None
    record = replace(after.record, encoder="bge", filters=Filters(types=("pdf", "docx"), after="2020-01-01"))
    found = library.compare(before, replace(after, generation=2, model="Llama", record=record))
    assert [(c.what, c.before, c.after) for c in found.circumstances] == [
        ("model", "", "Llama"), ("generation", "1", "2"), ("encoder", "e5", "bge"),
        ("filters", "", "types=pdf or docx; after=2020-01-01"),
    ]  # fmt: skip
    assert found.same_answer
    assert not found.same


def test_passages_that_came_went_and_changed_are_told_apart(library: Library) -> None:
    before = answer("One.", passages=(90, 2), hashes=("old", "b"))  # 90 is not in the library any more
    after = answer("One.", passages=(1,), hashes=("new",))
    changed, went = library.compare(before, after).passages
    assert (changed.change, changed.passage_id, changed.document_id, changed.title) == (Change.CHANGED, 1, 1, "Dues")
    assert (went.change, went.passage_id, went.stays) == (Change.WENT, 2, True)
    (came,) = library.compare(answer("One.", passages=(1,), hashes=("a",)), answer(
        "One.", passages=(1, 2), hashes=("a", "b")
    )).passages  # fmt: skip
    assert (came.change, came.passage_id, came.title) == (Change.CAME, 2, "Dues")


def test_a_passage_that_was_read_again_under_another_id_is_the_same(library: Library) -> None:
    found = library.compare(answer("One.", passages=(90,), hashes=("a",)), answer("One.", passages=(1,), hashes=("a",)))
    assert (found.passages, found.kept) == ((), 1)


def test_answers_without_a_record_are_compared_by_what_they_cite(library: Library) -> None:
    before = replace(answer("One.", passages=(2,)), record=None)
    found = library.compare(before, answer("One.", passages=(1,)))
    assert [(p.change, p.passage_id) for p in found.passages] == [(Change.WENT, 2), (Change.CAME, 1)]
    assert found.circumstances == ()


def test_abstaining_where_there_was_an_answer_is_a_difference(library: Library) -> None:
    found = library.compare(answer("One."), Answer("What?", AnswerMode.ABSTAINED, "Not said.", (), generation=1))
    assert [s.change for s in found.sentences] == [Change.WENT]
    assert found.circumstances[0].what == "mode"


def test_filters_within_filters_are_told(library: Library) -> None:
    assert filters_text(Filters(none=(Filters(types=("pdf",)),))) == "none=(types=pdf)"
    assert filters_text(Filters()) == ""


def test_a_passage_read_with_other_sentences_around_it_is_the_same_one(library: Library) -> None:
    found = library.compare(answer("a", hashes=("narrow",)), answer("a", hashes=("wide",)))
    assert (found.passages, found.kept) == ((), 1)


def test_what_filters_hid_was_not_given_to_an_answer(library: Library) -> None:
    hidden = answer("a").sentences[0].citations
    abstains = Answer("What?", AnswerMode.ABSTAINED, "", (), hidden=hidden, record=AnswerRecord())
    assert library.compare(abstains, abstains).kept == 0
