"""What the filters hide is offered, the filters in force are shown, and a follow-up is written out by the model."""

from __future__ import annotations

from typing import Any

import pages_fixtures
import pytest
from pages_fixtures import Desk
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.views.ask_page import AskPage
from app.widgets.answer_wider import within
from core.base.types import AnswerMode, Filters

desk, template = pages_fixtures.desk, pages_fixtures.template
NOWHERE = Filters(types=("application/x-nothing",))


@pytest.fixture
def page(desk: Desk, qtbot: QtBot) -> AskPage:
    made = AskPage(desk.context)
    qtbot.addWidget(made)
    made.resize(1100, 760)
    made.show()
    return made


def ask(page: AskPage, qtbot: QtBot, question: str) -> Any:
    page.box.field.setPlainText(question)
    QTest.keyClick(page.box.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not page._flow.busy, timeout=15_000)
    return page.conversation.turns[-1]


def calls(page: AskPage) -> list[tuple[str, str, dict[str, Any]]]:
    """The calls that the flow starts from now on."""
    made: list[tuple[str, str, dict[str, Any]]] = []
    start = page._flow._latest.start
    page._flow._latest.start = lambda role, op, args: (made.append((role, op, args)), start(role, op, args))[1]
    return made


def test_what_the_filters_hide_is_offered_and_found_without_them(page: AskPage, qtbot: QtBot) -> None:
    page.filters.set_filters(NOWHERE)
    drafts: list[object] = []
    page._flow.drafted.connect(drafts.append)
    turn = ask(page, qtbot, "What are the harbour dues?")
    assert turn.answer.mode is AnswerMode.ABSTAINED
    assert turn.answer.hidden
    assert drafts == []  # what was only tried is not shown as an answer
    assert turn.wider_offer.isVisibleTo(turn)
    assert turn.wider_offer.places.text().startswith("• ")
    assert turn._within.text() == "Searched only: Type: application/x-nothing"
    turn.wider_offer.button.click()
    qtbot.waitUntil(lambda: not page._flow.busy, timeout=15_000)
    again = page.conversation.turns[-1]
    assert again.answer.mode is AnswerMode.GENERATED
    assert not again.wider_offer.isVisibleTo(again)
    assert page.filters.filters() == Filters()


def test_nothing_is_offered_where_nothing_is_hidden(page: AskPage, qtbot: QtBot) -> None:
    turn = ask(page, qtbot, "What is unknown?")
    assert turn.answer.mode is AnswerMode.ABSTAINED
    assert turn.answer.hidden == ()
    assert not turn.wider_offer.isVisibleTo(turn)
    assert not turn._within.isVisibleTo(turn)


def test_neither_is_it_where_all_documents_do_not_say_either(page: AskPage, qtbot: QtBot) -> None:
    page.filters.set_filters(NOWHERE)
    turn = ask(page, qtbot, "What are the unknown harbour dues?")
    assert turn.answer.mode is AnswerMode.ABSTAINED
    assert not turn.wider_offer.isVisibleTo(turn)


def test_stopped_while_it_is_looked_the_answer_stays(page: AskPage, qtbot: QtBot) -> None:
    page.filters.set_filters(NOWHERE)
    start = page._flow._search

    def stopped(question: str, history: Any, filters: Filters) -> None:
        start(question, history, filters)
        if not filters:
            page._flow.stop()

    page._flow._search = stopped
    turn = ask(page, qtbot, "What are the harbour dues?")
    assert turn.answer.mode is AnswerMode.ABSTAINED
    assert turn.answer.hidden == ()
    assert not page._flow.busy


def test_a_follow_up_is_searched_as_the_model_writes_it_out(page: AskPage, qtbot: QtBot) -> None:
    ask(page, qtbot, "What are the harbour dues?")
    made = calls(page)
    turn = ask(page, qtbot, "And for them, written out?")
    assert [op for _, op, _ in made] == ["stand_alone", "retrieve", "ask"]
    assert made[1][2]["question"] == "What do guests pay at the harbour?"
    assert turn.search_text == "What do guests pay at the harbour?"
    assert turn.question == made[2][2]["question"] == "And for them, written out?"
    assert turn._searched.isVisibleTo(turn)


def test_by_rules_where_the_model_does_not_or_is_not_wanted(page: AskPage, qtbot: QtBot) -> None:
    ask(page, qtbot, "What are the harbour dues?")
    made = calls(page)
    ask(page, qtbot, "And in winter?")
    assert made[1][2]["question"] == "And in winter?"
    assert len(made[1][2]["history"]) == 1
    made.clear()
    page.box.quotes_only.setChecked(True)
    ask(page, qtbot, "And in summer, written out?")
    assert [op for _, op, _ in made] == ["retrieve", "ask"]


def test_filters_are_said_in_words() -> None:
    assert within(Filters()) == ""
    said = within(Filters(folders=("/home/me/ships",), languages=("de",), after="2024-01-01"))
    assert said == "Searched only: Folder: ships; Language: German; since 2024-01-01"
    assert within(Filters(documents=(3,))) == "Only some documents were searched"
