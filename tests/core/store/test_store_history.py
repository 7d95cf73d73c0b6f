"""Conversations: branches, searching, names, pins, deletion with a way back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from core.base.errors import BadSetting, NotFound
from core.base.types import Answer, AnswerGroup, AnswerMode, AnswerRecord, AnswerSentence, Citation, Support
from core.base.wire import to_plain
from core.library import Library
from core.store import database, history, migrations
from core.store.database import transaction

PLACE = Citation(1, 5, 7, "/dues.txt", "Dues", "", None, 0, 24, "The dues are 12 crowns.")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library.create(tmp_path / "library")
    yield made
    made.close()


@pytest.fixture
def db(library: Library) -> Iterator[Database]:
    made = database.open_writer(library.folder)
    yield made
    made.conn.close()


def answer(question: str, text: str = "The dues are 12 crowns.", *citations: Citation) -> Answer:
    sentence = AnswerSentence(text, Support.SUPPORTED, citations)
    return Answer(question, AnswerMode.EXTRACTIVE, text, (sentence,))


def asked(library: Library, conversation: int) -> list[str]:
    return [turn.question for turn in library.turns(conversation)]


def test_an_edited_question_is_a_branch_and_the_old_one_can_be_gone_back_to(library: Library) -> None:
    number = library.save_turn(None, "", answer("one"))
    library.save_turn(number, "", answer("two"))
    library.save_turn(number, "", answer("three"))
    first, second, third = library.turns(number)
    library.save_turn(number, "", answer("two, edited"), after=first.id)
    assert asked(library, number) == ["one", "two, edited"]
    edited = library.turns(number)[1]
    assert edited.branches == (second.id, edited.id)
    assert library.show_branch(second.id) == number
    assert asked(library, number) == ["one", "two", "three"]  # up to what was asked last on it
    library.save_turn(number, "", answer("four"))  # goes on with the branch that is shown
    assert asked(library, number) == ["one", "two", "three", "four"]
    library.show_branch(edited.id)
    assert asked(library, number) == ["one", "two, edited"]
    assert third.branches == (third.id,)


def test_the_first_question_can_be_edited_too(library: Library) -> None:
    number = library.save_turn(None, "", answer("one"))
    library.save_turn(number, "", answer("two"))
    library.save_turn(number, "", answer("another one"), after=None)
    assert asked(library, number) == ["another one"]
    assert len(library.turns(number)[0].branches) == 2


def test_branches_of_other_conversations_are_not_mixed_in(library: Library) -> None:
    first = library.save_turn(None, "", answer("one"))
    second = library.save_turn(None, "", answer("other"))
    assert len(library.turns(first)[0].branches) == len(library.turns(second)[0].branches) == 1
    stranger = library.turns(second)[0].id
    library.save_turn(first, "", answer("two"), after=stranger)  # no exchange of this conversation
    assert asked(library, first) == ["two"]


def test_search_finds_questions_and_answers_on_all_branches(library: Library) -> None:
    dues = library.save_turn(None, "", answer("What does a berth cost?", "Die Gebühren sind 12 Kronen."))
    other = library.save_turn(None, "", answer("Who rows?", "The second crew rows."))
    library.save_turn(other, "", answer("And who steers in the Ålesund race?", "Ada steers."), after=None)
    library.save_turn(other, "", answer("日本語の質問", "港の料金は十二です。"))

    def found(text: str) -> list[int]:
        return [one.conversation.id for one in library.find_conversations(text)]

    assert found("GEBUHREN kronen") == [dues]
    assert found("berth crew") == []  # all words in one conversation
    assert found("crew alesund") == [other]  # on two branches of it
    assert found("料金") == [other]
    assert found("%") == []
    assert found("  ") == [other, dues]
    hit = library.find_conversations("kronen")[0]
    assert (hit.turn_id, hit.text) == (library.turns(dues)[0].id, "Die Gebühren sind 12 Kronen.")


def test_a_long_sentence_is_cut_to_what_was_found(library: Library) -> None:
    library.save_turn(None, "", answer("Why?", "word " * 100 + "harbour at last"))
    assert len(library.find_conversations("harbour")[0].text) < 90
    assert library.find_conversations("harbour")[0].text.endswith("harbour at last")


def test_titles_and_pins(library: Library) -> None:
    old = library.save_turn(None, "", answer("old"))
    new = library.save_turn(None, "", answer("new"))
    assert library.rename_conversation(old, "  The \n dues ") == "old"
    library.pin_conversation(old)
    assert [(c.id, c.title, c.pinned) for c in library.conversations()] == [
        (old, "The dues", True), (new, "new", False),
    ]  # fmt: skip
    assert [one.turn_id for one in library.find_conversations("dues the")][-1] != 0
    assert library.find_conversations("the dues")[0].conversation.id == old
    library.pin_conversation(old, False)
    assert [c.id for c in library.conversations()] == [new, old]
    with pytest.raises(BadSetting):
        library.rename_conversation(old, " ")
    with pytest.raises(NotFound):
        library.rename_conversation(99, "x")
    with pytest.raises(NotFound):
        library.pin_conversation(99)
    with pytest.raises(NotFound):
        library.show_branch(99)


def test_a_deleted_conversation_comes_back_as_it_was(library: Library) -> None:
    number = library.save_turn(None, "", answer("one"))
    library.save_turn(number, "", answer("two"))
    first = library.turns(number)[0]
    library.save_turn(number, "", answer("two, edited"), after=first.id)
    library.pin_conversation(number)
    before = library.conversations(), library.turns(number)
    deleted = library.delete_conversation(number)
    assert (library.conversations(), library.turns(number), library.find_conversations("two")) == ([], [], [])
    library.restore_conversation(deleted)
    library.restore_conversation(deleted)  # twice is as once
    assert (library.conversations(), library.turns(number)) == before
    assert library.find_conversations("edited")[0].conversation.id == number


def test_what_was_removed_of_the_documents_stays_removed_when_a_conversation_comes_back(library: Library) -> None:
    number = library.save_turn(None, "", answer("one", PLACE.quote, PLACE))
    deleted = library.delete_conversation(number)
    library.restore_conversation(deleted)  # there is no document 7
    (citation,) = library.turns(number)[0].answer.sentences[0].citations
    assert (citation.document_id, citation.title, citation.quote) == (0, history.REMOVED_TITLE, "")


def test_what_a_purge_took_meanwhile_stays_gone_when_a_conversation_comes_back(library: Library, db: Database) -> None:
    number = library.save_turn(None, "", answer("one", PLACE.quote, PLACE))
    library.restore_conversation(library.delete_conversation(number))
    assert library.turns(number)[0].answer.sentences[0].text == PLACE.quote  # until it is purged
    deleted = library.delete_conversation(number)
    with transaction(db):
        history.purge(db)
    library.restore_conversation(deleted)
    assert library.turns(number)[0].answer.sentences[0].text == history.REMOVED_SENTENCE
    assert library.find_conversations("crowns") == []


def test_a_purge_takes_what_was_said_out_of_the_search_too(library: Library, db: Database) -> None:
    record = AnswerRecord(searched=("dues of 12 crowns",), passages=(5,), hashes=("abc",))
    said = answer("What?", PLACE.quote, PLACE)
    number = library.save_turn(None, "", replace(said, record=record, groups=(AnswerGroup("Dues", 0, 1),)))
    library.save_turn(number, "", replace(answer("Later?", "Something else."), record=record))
    with transaction(db):
        history.forget(db, {7: None})
        assert history.purge(db) == 1
    assert library.find_conversations("crowns") == []
    assert library.find_conversations("something else")[0].conversation.id == number
    for turn in library.turns(number):
        assert turn.answer.record is not None
        assert turn.answer.record.searched == ()
    first = library.turns(number)[0].answer
    assert first.record is not None
    assert (first.record.hashes, first.groups[0].heading) == ((), history.REMOVED_TITLE)


def test_a_purge_leaves_no_name_of_a_document_in_an_answer_about_the_whole(library: Library, db: Database) -> None:
    other = replace(PLACE, document_id=8, title="Bread", quote="Bread is rye.")
    said = Answer(
        "How many?", AnswerMode.EXTRACTIVE,
        "2 documents in all.\n\nDues\n- The dues are 12 crowns. [1]\n\nBread\n- Bread is rye. [2]",
        (
            AnswerSentence("2 documents in all.", Support.SUPPORTED),
            AnswerSentence(PLACE.quote, Support.SUPPORTED, (PLACE,)),
            AnswerSentence(other.quote, Support.SUPPORTED, (other,)),
        ),
        groups=(AnswerGroup("Dues", 1, 2), AnswerGroup("Bread", 2, 3)), read=2, matching=2,
    )  # fmt: skip
    number = library.save_turn(None, "", said)
    with transaction(db):
        history.forget(db, {7: None})
        history.purge(db)
    left = library.turns(number)[0].answer
    assert [group.heading for group in left.groups] == [history.REMOVED_TITLE, "Bread"]
    assert left.sentences[0].text == "2 documents in all."
    assert "Dues" not in left.text
    assert "crowns" not in left.text
    assert "Bread\n- Bread is rye." in left.text


def test_conversations_of_an_older_library_are_one_branch_and_are_found(tmp_path: Path) -> None:
    db = Database(tmp_path / "old.db", recursive_triggers=False)
    steps, moment = dict(migrations.STEPS), "2026-01-01T00:00:00+00:00"
    db.execute("CREATE TABLE migration (name TEXT PRIMARY KEY, applied TEXT NOT NULL)")
    for name in list(steps)[:8]:
        steps[name](db)
        db.execute("INSERT INTO migration VALUES (?, ?)", (name, moment))
    for number in (1, 2):
        db.execute("INSERT INTO conversation VALUES (?, ?, ?, ?)", (number, "old", moment, moment))
    for conversation, question in ((1, "Größe?"), (2, "other"), (1, "two")):
        stored = json.dumps(to_plain(answer(question)))
        db.execute(
            "INSERT INTO turn (conversation_id, question, answer, asked) VALUES (?, ?, ?, ?)",
            (conversation, question, stored, moment),
        )
    db.conn.commit()
    assert migrations.migrate(db) == ["0009-conversations"]
    assert [turn.question for turn in history.turns(db, 1)] == ["Größe?", "two"]
    assert [turn.branches for turn in history.turns(db, 2)] == [(2,)]
    assert db.execute("SELECT words FROM turn WHERE id = 1").fetchone()[0].startswith("grosse?\n")
    db.conn.close()


def test_what_filters_hid_is_forgotten_as_well(library: Library, db: Database) -> None:
    abstains = Answer("What?", AnswerMode.ABSTAINED, "Your documents do not say.", (), hidden=(PLACE,))
    number = library.save_turn(None, "", abstains)
    with transaction(db):
        history.forget(db, {7: None})
    assert "crowns" not in db.execute("SELECT answer FROM turn").fetchone()[0]
    with transaction(db):
        history.purge(db)
    assert library.turns(number)[0].answer.hidden == ()


def test_a_purge_takes_out_a_sentence_that_holds_another_one(library: Library, db: Database) -> None:
    texts = ("Crowns.", "The dues are 12 Crowns.")
    sentences = tuple(AnswerSentence(text, Support.SUPPORTED, (PLACE,)) for text in texts)
    said = Answer("What?", AnswerMode.EXTRACTIVE, " ".join(f"{text} [1]" for text in texts), sentences)
    number = library.save_turn(None, "", said)
    with transaction(db):
        history.forget(db, {7: None})
        history.purge(db)
    assert library.turns(number)[0].answer.text == " ".join([f"{history.REMOVED_SENTENCE} [1]"] * 2)


def test_a_purge_leaves_no_draft_made_of_passages_that_are_gone(library: Library, db: Database) -> None:
    draft = AnswerSentence("The dues were 99 crowns.", Support.UNSUPPORTED)
    said = answer("What?", "Bread is rye.")
    record = AnswerRecord(passages=(5,), hashes=("abc",))  # there is no passage 5
    number = library.save_turn(None, "", replace(said, sentences=(*said.sentences, draft), record=record))
    with transaction(db):
        assert history.purge(db) == 0  # nothing that was shown is another
    stored = db.execute("SELECT answer FROM turn").fetchone()[0]
    assert "99" not in stored
    assert "abc" not in stored
    assert library.turns(number)[0].answer.sentences[0].text == "Bread is rye."


def test_a_purge_takes_what_an_endpoint_said(library: Library, db: Database) -> None:
    record = AnswerRecord(passages=(5,), sent_to="nas:8080")
    failed = replace(answer("What?", "Bread is rye."), reason="nas:8080 refused “12 crowns”.", record=record)
    kept = replace(failed, reason="Quoted.", record=replace(record, sent_to=""))
    number = library.save_turn(None, "", failed)
    library.save_turn(number, "", kept)
    with transaction(db):
        history.purge(db)
    assert [turn.answer.reason for turn in library.turns(number)] == ["", "Quoted."]


def test_a_conversation_of_any_length_is_deleted_and_comes_back(library: Library, db: Database) -> None:
    number = library.save_turn(None, "", answer("one"))
    with transaction(db):
        for _ in range(1100):  # SQLite follows a thousand
            history.add_turn(db, number, "", answer("more"))
    deleted = library.delete_conversation(number)
    assert db.execute("SELECT count(*) FROM turn").fetchone()[0] == 0
    library.restore_conversation(deleted)
    assert len(library.turns(number)) == 1101


def test_two_processes_may_bring_a_library_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def step(db: Database) -> None:
        done.append("step")

    def both(db: Database) -> list[str]:
        """What `applied` said before another process took the step."""
        names = was(db)
        if not done:
            monkeypatch.setattr(migrations, "applied", was)
            assert migrations.migrate(second) == ["9999-new"]
        return names

    was, first, second = migrations.applied, database.create(tmp_path), database.create(tmp_path)
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, ("9999-new", step)))
    monkeypatch.setattr(migrations, "applied", both)
    assert migrations.migrate(first) == []
    assert done == ["step"]
    first.conn.close()
    second.conn.close()


def test_a_step_that_is_cut_off_leaves_the_library_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = migrations.STEPS
    monkeypatch.setattr(migrations, "STEPS", steps[:8])
    db = database.create(tmp_path)
    db.execute("INSERT INTO conversation (title, created, changed) VALUES ('old', '', '')")
    stored = json.dumps(to_plain(answer("one")))
    db.execute("INSERT INTO turn (conversation_id, question, answer, asked) VALUES (1, 'one', ?, '')", (stored,))
    monkeypatch.setattr(migrations, "STEPS", steps)
    with monkeypatch.context() as broken:
        broken.setattr(migrations, "fill_words", lambda db: db.execute("no SQL"))
        with pytest.raises(sqlite3.OperationalError):
            migrations.migrate(db)
    columns = {row[1] for row in db.execute("PRAGMA table_info(turn)").fetchall()}
    assert not columns & {"parent", "words"}
    assert migrations.migrate(db) == ["0009-conversations"]
    assert [turn.question for turn in history.turns(db, 1)] == ["one"]
    db.conn.close()
