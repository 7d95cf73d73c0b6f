"""The Ask page against real child processes: streaming, Stop, citations, follow-ups, history in the library."""

from __future__ import annotations

import pages_fixtures
import pytest
from pages_fixtures import Desk
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.context import Place
from app.views.ask_page import AskPage
from app.views.ask_question import Question
from app.widgets.answer_parts import Piece
from app.widgets.answer_turn import TurnView
from core.base.types import Answer, AnswerMode, Filters, Turn

desk, template = pages_fixtures.desk, pages_fixtures.template


@pytest.fixture
def page(desk: Desk, qtbot: QtBot) -> AskPage:
    return shown(desk, qtbot)


def shown(desk: Desk, qtbot: QtBot) -> AskPage:
    made = AskPage(desk.context)
    qtbot.addWidget(made)
    made.resize(1100, 760)
    made.show()
    return made


def ask(page: AskPage, qtbot: QtBot, question: str) -> TurnView:
    page.box.field.setPlainText(question)
    QTest.keyClick(page.box.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not page._flow.busy, timeout=15_000)
    return page.conversation.turns[-1]


def test_answer_quotes_first_then_streams_then_is_replaced(page: AskPage, qtbot: QtBot) -> None:
    steps: list[str] = []
    page._flow.found.connect(lambda _: steps.append("found"))
    page._flow.drafted.connect(lambda answer: steps.append(answer.mode.value))
    page._flow.token.connect(lambda _: steps.append("token"))
    turn = ask(page, qtbot, "What are the harbour dues?")
    assert steps[:3] == ["found", "extractive", "token"]
    assert turn.answer is not None
    assert turn.answer.mode is AnswerMode.GENERATED
    assert turn.text.toPlainText() == "The dues are 12 crowns a night. [1]"
    assert not turn.draft.isVisibleTo(turn)
    assert turn.status == "Written by the local model SmolLM2-135M-Instruct, checked against your documents"


def test_chip_opens_the_page_with_the_sentence_marked(page: AskPage, desk: Desk, qtbot: QtBot) -> None:
    turn = ask(page, qtbot, "What are the harbour dues?")
    turn.text.setFocus()
    QTest.keyClick(turn.text, Qt.Key.Key_Tab)  # to the first chip
    QTest.keyClick(turn.text, Qt.Key.Key_Return)
    where, place = desk.visits[-1]
    assert (where, place.page) == ("document", 1)
    text = desk.context.library.document_text(place.document_id)[0]
    assert [text[s.start : s.end] for s in place.spans] == [
        "Every boat that stays overnight pays harbour dues of 12 crowns"
    ]


def test_only_the_cited_are_listed_and_each_says_why(page: AskPage, desk: Desk, qtbot: QtBot) -> None:
    turn = ask(page, qtbot, "What are the harbour dues?")
    assert [r.citation.marker for r in turn.sources.rows] == [1]
    turn.sources.rows[0].open()
    assert isinstance(desk.visits[-1][1], Place)
    turn.sources.rows[0].ask_why()
    qtbot.waitUntil(lambda: page.why.panel.explanation is not None, timeout=15_000)
    assert page.why.panel.explanation.passage.id == turn.sources.rows[0].citation.passage_id
    assert page.escape()
    assert not page.why.is_open


def test_unsupported_sentences_are_left_out_and_can_be_seen(page: AskPage, qtbot: QtBot) -> None:
    turn = ask(page, qtbot, "What are the harbour dues? invent")
    assert "Dogs" not in turn.text.toPlainText()
    assert turn._left_out.text() == "2 unsupported sentences left out"
    assert not turn._unsupported.isVisibleTo(turn)
    turn._left_out.click()
    assert turn._unsupported.isVisibleTo(turn)
    assert turn._unsupported.text() == "Members pay less.  (only partly in your documents)\nDogs travel free."


def test_abstaining_says_so_and_shows_the_nearest(page: AskPage, qtbot: QtBot) -> None:
    turn = ask(page, qtbot, "unknown harbour dogs")
    assert turn.status == "Your documents do not say."
    assert not turn.text.isVisibleTo(turn)
    assert len(turn.sources.rows) == 2


def test_stop_stops_at_once_keeps_the_quotes_and_ends_the_work(page: AskPage, desk: Desk, qtbot: QtBot) -> None:
    page.ask("What are slow harbour dues?")
    turn = page.conversation.turns[0]
    qtbot.waitUntil(lambda: turn.draft.toPlainText().count("crowns") > 2, timeout=15_000)
    page.box._stop.click()
    assert not page._flow.busy
    length = len(turn.draft.toPlainText())
    qtbot.waitUntil(lambda: desk.context.engine.in_flight("answer") == 0, timeout=3000)
    assert len(turn.draft.toPlainText()) == length  # nothing was heard after Stop
    assert turn.answer is not None
    assert turn.answer.mode is AnswerMode.EXTRACTIVE
    assert page.box._ask.isVisible()
    assert not page.box._stop.isVisible()


def test_escape_stops_while_searching(page: AskPage, qtbot: QtBot) -> None:
    page.ask("What are slow harbour dues?")
    assert page.escape()
    assert page.conversation.turns[0].status == "Stopped"
    assert desk_is_empty(page)


def desk_is_empty(page: AskPage) -> bool:
    """Nothing without an answer is kept."""
    return page.context.library.conversations() == []


def test_quotes_only_leaves_the_model_out(page: AskPage, qtbot: QtBot) -> None:
    page.box.quotes_only.setChecked(True)
    turn = ask(page, qtbot, "What are the harbour dues?")
    assert turn.answer is not None
    assert turn.answer.mode is AnswerMode.EXTRACTIVE
    assert turn.text.toPlainText().startswith("“Every boat that stays overnight")


def test_follow_up_knows_the_conversation(page: AskPage, qtbot: QtBot) -> None:
    ask(page, qtbot, "What are the harbour dues?")
    assert page.conversation.history() == [
        Turn("What are the harbour dues?", "The dues are 12 crowns a night. [1]", "What are the harbour dues?")
    ]
    turn = ask(page, qtbot, "And who collects them?")
    assert turn.search_text == "What are the harbour dues? And who collects them?"
    assert turn._searched.text() == f"Searched for: {turn.search_text}"


def test_conversations_are_kept_and_reopened(page: AskPage, desk: Desk, qtbot: QtBot) -> None:
    ask(page, qtbot, "What are the harbour dues?")
    ask(page, qtbot, "And in winter?")
    page.new_conversation()
    assert page.conversation.turns == []
    ask(page, qtbot, "Where is the lamp?")
    again = shown(desk, qtbot)  # as after a restart
    assert [again.history.list.item(i).text() for i in range(2)] == ["Where is the lamp?", "What are the harbour dues?"]
    again.history.list.itemActivated.emit(again.history.list.item(1))
    assert [t.question for t in again.conversation.turns] == ["What are the harbour dues?", "And in winter?"]
    assert again.conversation.turns[0].text.chips[0].marker == 1
    assert again.conversation.history()[1].search_text == "What are the harbour dues? And in winter?"


def test_deleting_a_conversation_removes_it(page: AskPage, desk: Desk, qtbot: QtBot) -> None:
    ask(page, qtbot, "What are the harbour dues?")
    page.history.do.delete(desk.context.library.conversations()[0])
    assert desk.context.library.conversations() == []
    assert page.conversation.turns == []


def test_error_is_told_in_its_place_and_tried_again(page: AskPage, desk: Desk, qtbot: QtBot) -> None:
    turn = ask(page, qtbot, "fail")
    assert turn.banner.text() == "The index is damaged."
    assert not turn._card.isVisibleTo(turn)  # no empty answer below it
    turn.banner.acted.emit()
    qtbot.waitUntil(lambda: not page._flow.busy, timeout=15_000)
    assert len(page.conversation.turns) == 1
    assert desk_is_empty(page)


def test_target_brings_its_filters(page: AskPage, qtbot: QtBot) -> None:
    page.show_target(Question("harbour dues", Filters(types=("text/html",))))
    qtbot.waitUntil(lambda: not page._flow.busy, timeout=15_000)
    turn = page.conversation.turns[0]
    assert turn.answer is not None
    assert {c.document.rsplit(".")[-1] for s in turn.answer.sentences for c in s.citations} == {"html"}
    assert page.filters._removed.text() == "2 passages hidden by filters"


def test_markup_of_documents_and_models_is_text(page: AskPage, qtbot: QtBot) -> None:
    ask(page, qtbot, "May I moor overnight harbour? <img src='http://x/y.png'>")
    turn = page.conversation.turns[0]
    assert turn._question.text().endswith("<img src='http://x/y.png'>")
    turn.draft.append_plain("<b>bold</b> \ud800 <img src='file:///etc/passwd'>")
    assert turn.draft.toPlainText().endswith("<b>bold</b> \ufffd <img src='file:///etc/passwd'>")


def test_shift_enter_breaks_the_line_and_an_empty_question_is_not_asked(page: AskPage, qtbot: QtBot) -> None:
    QTest.keyClick(page.box.field, Qt.Key.Key_Return)
    assert page.conversation.turns == []
    low = page.box.field.height()
    for _ in range(3):
        QTest.keyClick(page.box.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert page.box.field.toPlainText() == "\n\n\n"
    assert page.box.field.height() > low


def test_copy_holds_answer_and_sources(page: AskPage, qtbot: QtBot) -> None:
    turn = ask(page, qtbot, "What are the harbour dues?")
    turn._copy.click()
    assert QGuiApplication.clipboard().text().split("\n") == [
        "What are the harbour dues?",
        "",
        "The dues are 12 crowns a night. [1]",
        "",
        "[1] Member handbook of the harbour, page 1: “Every boat that stays overnight pays harbour dues of 12 crowns”",
    ]


def test_view_follows_growth_but_not_someone_who_reads(page: AskPage, qtbot: QtBot) -> None:
    page.resize(1000, 420)
    for _ in range(4):
        page.conversation.add("Question").show_answer(Answer("Question", AnswerMode.ABSTAINED, "", ()))
    page._state()
    bar = page.conversation.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum(), timeout=3000)
    bar.setValue(0)
    page.conversation._scrolled()
    page.conversation.turns[-1].draft.show()
    page.conversation.turns[-1].draft.append_plain("word " * 2000)
    qtbot.wait(50)
    assert bar.value() == 0


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_answer_is_as_high_as_its_text_when_it_has_the_focus_and_becomes_narrower(
    page: AskPage, desk: Desk, qtbot: QtBot, mode: str
) -> None:
    desk.context.theme.set_mode(mode)
    turn = ask(page, qtbot, "What are the harbour dues?")
    turn.text.show_pieces([Piece("A long sentence about the dues of the harbour. " * 6, ())], quoted=True)
    turn.text.setFocus()
    for width in (1100, 700, 420, 900):
        page.resize(width, 760)
        qtbot.wait(30)
        assert turn.text.viewport().height() >= turn.text.document().size().height()
        assert turn.text.verticalScrollBar().value() == 0


def test_a_narrow_conversation_cuts_nothing_off_at_its_side(page: AskPage, qtbot: QtBot) -> None:
    turn = ask(page, qtbot, "What are the harbour dues?")
    assert "SmolLM2" in turn.status
    assert page.conversation.widget().minimumSizeHint().width() < 320


def test_the_exchange_whose_source_is_opened_stays_in_its_place(page: AskPage, qtbot: QtBot) -> None:
    turns = [ask(page, qtbot, "What are the harbour dues?") for _ in range(4)]
    bar = page.conversation.verticalScrollBar()
    bar.setValue(turns[1].y())
    turns[1].sources.rows[0].open()
    page.resize(520, 760)
    qtbot.waitUntil(lambda: bar.value() == turns[1].y(), timeout=3000)


def test_everything_is_read_with_a_count_and_a_stop_keeps_what_was_read(page: AskPage, qtbot: QtBot) -> None:
    page.box.read_all.click()
    turn = ask(page, qtbot, "harbour dues")
    assert turn.answer is not None
    assert (turn.answer.read, turn.answer.matching) == (40, 40)
    assert turn.status.endswith("Read 40 of 40 passages")
    page.ask("slow harbour dues")
    turn = page.conversation.turns[-1]
    qtbot.waitUntil(lambda: turn.answer is not None and turn.answer.read > 2, timeout=15_000)
    assert turn.status.startswith("Read ")
    page.box._stop.click()
    assert turn.answer is not None
    assert 2 < turn.answer.read < 40
    assert turn.status.endswith(f"Read {turn.answer.read} of 40 passages")
    page.box.read_all.click()
    assert ask(page, qtbot, "harbour dues").answer.matching == 0
