"""Answers about the whole library in the window: headings, quotes, the count while passages are read, Stop."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextBlock
from pytestqt.qtbot import QtBot

from app.widgets.answer_parts import copy_text, mode_text, pieces
from app.widgets.answer_turn import MOST_SOURCES, TurnView
from core.base.types import Answer, AnswerGroup, AnswerMode, AnswerSentence, Citation, Support


def citation(number: int) -> Citation:
    quote = f"Pier {number} costs {number + 3} crowns."
    return Citation(number, number, number, f"/d/{number}.txt", f"d{number}", "", None, 0, len(quote), quote)


def answer(documents: int, read: int, matching: int, mode: AnswerMode = AnswerMode.EXTRACTIVE) -> Answer:
    quotes = [citation(n) for n in range(1, documents + 1)]
    lead = AnswerSentence(f"{documents} documents in all.", Support.SUPPORTED)
    sentences = (lead, *(AnswerSentence(c.quote, Support.SUPPORTED, (c,)) for c in quotes))
    groups = tuple(AnswerGroup(c.title, n, n + 1) for n, c in enumerate(quotes, 1))
    return Answer(
        "How many?", mode, "", sentences, reason=f"{read} of {matching} passages.", groups=groups, read=read,
        matching=matching,
    )  # fmt: skip


@pytest.fixture
def turn(qtbot: QtBot) -> TurnView:
    made = TurnView("How many documents mention a pier?")
    qtbot.addWidget(made)
    made.resize(700, 500)
    made.show()
    return made


def blocks(turn: TurnView) -> list[QTextBlock]:
    found, block = [], turn.text.document().begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def test_groups_stand_under_headings_and_quotes_alone_have_marks(turn: TurnView) -> None:
    turn.show_answer(answer(2, 2, 2))
    lines = [block.text().replace("\N{NO-BREAK SPACE}", " ") for block in blocks(turn)]
    assert lines == [
        "2 documents in all.", "d1", "“Pier 1 costs 4 crowns.” [1]", "d2", "“Pier 2 costs 5 crowns.” [2]",
    ]  # fmt: skip
    assert [block.text() for block in blocks(turn) if block.blockFormat().headingLevel() == 3] == ["d1", "d2"]
    assert [c.marker for c in turn.text.chips] == [1, 2]
    assert turn.status == "Quoted from your documents · Read 2 of 2 passages"


def test_what_a_model_wrote_keeps_its_headings_and_has_no_marks(turn: TurnView) -> None:
    turn.show_answer(answer(2, 2, 2, AnswerMode.GENERATED))
    assert [b.text().replace("\N{NO-BREAK SPACE}", " ") for b in blocks(turn)][1:3] == [
        "d1",
        "Pier 1 costs 4 crowns. [1]",
    ]


def test_a_heading_moves_to_the_first_sentence_that_is_shown() -> None:
    made = answer(2, 2, 2)
    hidden = AnswerSentence("Unsupported.", Support.UNSUPPORTED)
    sentences = (made.sentences[0], hidden, *made.sentences[1:])
    shifted = Answer(
        "?", AnswerMode.GENERATED, "", sentences, groups=(AnswerGroup("both", 1, 4), AnswerGroup("none", 1, 2)), read=1,
        matching=1,
    )  # fmt: skip
    assert [(p.heading, p.own) for p in pieces(shifted)] == [("", True), ("both", False), ("", False)]


def test_the_count_is_seen_while_passages_are_read_and_stays_when_stopped(turn: TurnView) -> None:
    turn.show_draft(answer(1, 12, 35))
    assert turn.status == "Read 12 of 35 passages…"
    turn.show_draft(answer(2, 35, 35))
    assert turn.status == "The local model is writing…"
    turn.show_draft(answer(1, 12, 35))
    turn.show_stopped()
    assert turn.status == "Quoted from your documents · Read 12 of 35 passages"
    assert turn._reason.isVisibleTo(turn)
    assert turn._copy.isVisibleTo(turn)


def test_many_sources_are_not_all_listed_twice(turn: TurnView) -> None:
    turn.show_answer(answer(40, 40, 40))
    assert len(turn.sources.rows) == MOST_SOURCES
    assert len(turn.text.chips) == 40


def test_a_copy_has_headings_markers_and_how_much_was_read() -> None:
    made = answer(2, 2, 2)
    text = copy_text(made)
    assert "2 documents in all.\n\nd1\n- Pier 1 costs 4 crowns. [1]\n\nd2\n- Pier 2" in text
    assert "Read 2 of 2 passages" in text
    assert text.rstrip().endswith("“Pier 2 costs 5 crowns.”")


def test_an_answer_from_the_best_passages_says_nothing_of_a_count() -> None:
    assert mode_text(Answer("?", AnswerMode.EXTRACTIVE, "", ())) == "Quoted from your documents"
