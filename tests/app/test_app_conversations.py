"""Conversations on the Ask page: found, renamed, pinned, deleted and brought back, branched, compared, exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pages_fixtures
import pytest
from pages_fixtures import Desk
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.views.ask_conversations import NameSheet
from app.views.ask_export import export
from app.views.ask_page import AskPage
from core.base.types import (
    Answer,
    AnswerMode,
    AnswerRecord,
    AnswerSentence,
    Citation,
    Filters,
    Support,
)  # fmt: skip
from core.library import Format

desk, template = pages_fixtures.desk, pages_fixtures.template
DUES = "Every boat that stays overnight pays harbour dues of 12 crowns."


def answer(question: str, text: str = DUES, **record: object) -> Answer:
    citation = Citation(1, 900, 1, "/docs/handbook.pdf", "Handbook", "", 1, 0, 9, text)
    kept = replace(AnswerRecord(passages=(900,), hashes=("old",)), **record)  # type: ignore[arg-type]
    return Answer(
        question, AnswerMode.EXTRACTIVE, text, (AnswerSentence(text, Support.SUPPORTED, (citation,)),), record=kept
    )


@pytest.fixture
def open_page(desk: Desk, qtbot: QtBot) -> Callable[[], AskPage]:
    """Opens the page over what the library holds by then."""

    def opened() -> AskPage:
        page = AskPage(desk.context)
        qtbot.addWidget(page)
        page.resize(1100, 760)
        page.show()
        return page

    return opened


def keep(desk: Desk, *questions: str, **record: object) -> int:
    """A conversation in which these were asked."""
    number = None
    for question in questions:
        number = desk.context.library.save_turn(number, question, answer(question, **record))
    assert number is not None
    return number


def asked(page: AskPage) -> list[str]:
    return [turn.question for turn in page.conversation.turns]


def titles(page: AskPage) -> list[str]:
    return [page.history.list.item(i).text() for i in range(page.history.list.count())]


def idle(page: AskPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page._flow.busy, timeout=15_000)


def test_conversations_are_found_by_what_was_said_in_them(
    open_page: Callable[[], AskPage], desk: Desk, qtbot: QtBot
) -> None:
    ice = keep(desk, "When does the ice go?", "And where is the lamp?")
    first = desk.context.library.turns(ice)[0]
    desk.context.library.save_turn(ice, "", answer("When does the ice come?", "It comes in December."), None)
    keep(desk, "Who rows?")
    page = open_page()
    page.history.search.setText("LAMP")
    found = ["When does the ice go?\nAnd where is the lamp?"]
    qtbot.waitUntil(lambda: titles(page) == found, timeout=3000)
    page.history.list.itemActivated.emit(page.history.list.item(0))  # it is on a branch that was not shown
    assert asked(page) == ["When does the ice go?", "And where is the lamp?"]
    assert page.conversation.turns[0].branches.told.text() == "1 of 2"
    assert page.conversation.turns[0].stored is not None
    assert page.conversation.turns[0].stored.id == first.id
    page.history.search.setText("zebra")
    qtbot.waitUntil(lambda: titles(page) == [], timeout=3000)
    assert page.history.nothing.isVisibleTo(page)


def test_delete_is_undone_by_the_message_and_by_the_keyboard(
    open_page: Callable[[], AskPage], desk: Desk, qtbot: QtBot
) -> None:
    number = keep(desk, "What are the dues?", "And in winter?")
    keep(desk, "Who rows?")
    page = open_page()
    page.open_conversation(number)
    page.history.list.setFocus()
    QTest.keyClick(page.history.list, Qt.Key.Key_Delete)
    assert titles(page) == ["Who rows?"]
    assert asked(page) == []
    message = desk.messages[-1]
    assert message.action == "Undo"
    message.on_action()
    assert titles(page) == ["Who rows?", "What are the dues?"]
    assert asked(page) == ["What are the dues?", "And in winter?"]  # open again, as it was
    page.history.list.setFocus()
    QTest.keyClick(page.history.list, Qt.Key.Key_Delete)
    QTest.keyClick(page.history.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert titles(page) == ["Who rows?", "What are the dues?"]


def test_rename_and_pin(open_page: Callable[[], AskPage], desk: Desk, qtbot: QtBot) -> None:
    keep(desk, "What are the dues?")
    keep(desk, "Who rows?")
    page = open_page()
    page.history.list.setCurrentRow(1)
    page.history.list.setFocus()
    QTest.keyClick(page.history.list, Qt.Key.Key_F2)
    sheet = page.findChild(NameSheet)
    assert sheet is not None
    sheet.field.setText("")
    assert not sheet.yes.isEnabled()
    sheet.field.setText("  Dues &  co ")
    sheet.yes.click()
    assert titles(page) == ["Who rows?", "Dues & co"]
    desk.messages[-1].on_action()
    assert titles(page) == ["Who rows?", "What are the dues?"]
    page.history.list.setCurrentRow(1)
    menu = page.history.menu()
    assert menu is not None
    next(a for a in menu.actions() if a.text() == "Keep at the top").trigger()
    menu.deleteLater()
    assert titles(page) == ["What are the dues?", "Who rows?"]
    spoken = page.history.list.item(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "What are the dues?, kept at the top"


def test_an_edited_question_is_a_version_and_the_old_one_can_be_gone_back_to(
    open_page: Callable[[], AskPage], desk: Desk, qtbot: QtBot
) -> None:
    number = keep(desk, "What are the dues?", "And in winter?")
    page = open_page()
    page.open_conversation(number)
    turn = page.conversation.turns[0]
    turn._edit.click()
    assert page.box.field.toPlainText() == "What are the dues?"
    assert page.box.editing_note.isVisibleTo(page)
    assert page.escape()
    assert (page.box.field.toPlainText(), page.box.editing_note.isVisibleTo(page)) == ("", False)
    turn._edit.click()
    page.box.field.setPlainText("What are the harbour dues?")
    QTest.keyClick(page.box.field, Qt.Key.Key_Return)
    idle(page, qtbot)
    assert asked(page) == ["What are the harbour dues?"]
    assert page.conversation.turns[0].search_text == "What are the harbour dues?"  # nothing of the old branch in it
    branches = page.conversation.turns[0].branches
    assert (branches.told.text(), branches.later.isEnabled()) == ("2 of 2", False)
    branches.earlier.click()
    assert asked(page) == ["What are the dues?", "And in winter?"]
    later = page.conversation.turns[0].branches.later
    qtbot.waitUntil(lambda: page.focusWidget() is later, timeout=3000)
    page.conversation.turns[0].branches.later.click()
    assert asked(page) == ["What are the harbour dues?"]
    assert titles(page) == ["What are the dues?"]  # one conversation


def test_the_last_question_comes_back_into_an_empty_box(
    open_page: Callable[[], AskPage], desk: Desk, qtbot: QtBot
) -> None:
    page = open_page()
    page.open_conversation(keep(desk, "What are the dues?", "And in winter?"))
    QTest.keyClick(page.box.field, Qt.Key.Key_Up)
    assert page.box.field.toPlainText() == "And in winter?"
    page.box.field.setPlainText("And in summer harbour?")
    QTest.keyClick(page.box.field, Qt.Key.Key_Return)
    idle(page, qtbot)
    assert asked(page) == ["What are the dues?", "And in summer harbour?"]


def test_a_branch_that_is_stopped_before_an_answer_leaves_what_was_there(
    open_page: Callable[[], AskPage], desk: Desk, qtbot: QtBot
) -> None:
    page = open_page()
    page.open_conversation(keep(desk, "What are the dues?", "And in winter?"))
    page._edit(page.conversation.turns[0])
    page.ask("What are slow harbour dues?")
    assert asked(page) == ["What are slow harbour dues?"]
    assert page.escape()
    assert asked(page) == ["What are the dues?", "And in winter?"]


def test_asking_again_keeps_filters_and_kind_and_tells_what_changed(
    open_page: Callable[[], AskPage], desk: Desk, qtbot: QtBot
) -> None:
    filters = Filters(types=("application/pdf",))
    number = keep(desk, "What are the harbour dues?", filters=filters, asked_mode="extractive", encoder="e5")
    page = open_page()
    page.open_conversation(number)
    heard: list[object] = []
    page._flow.found.connect(lambda result: heard.append(result.query.filters))
    menu = page.do.menu(page.conversation.turns[0])
    next(a for a in menu.actions() if a.text() == "Ask again in the same way").trigger()
    menu.deleteLater()
    idle(page, qtbot)
    turn = page.conversation.turns[0]
    assert heard == [filters]
    assert turn.answer is not None
    assert turn.answer.mode is AnswerMode.EXTRACTIVE  # no model was asked
    assert turn.branches.told.text() == "2 of 2"
    told = turn.comparison.text()
    assert turn.comparison.isVisibleTo(page)
    assert "The answer has changed." in told
    assert DUES in told  # what went is told
    page.do.compare(turn, turn.stored.id if turn.stored else None)
    assert turn.comparison.text().startswith("The same answer as before, made in the same way.")


def test_answers_are_copied_and_exported_with_what_they_cite(
    open_page: Callable[[], AskPage], desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    page = open_page()
    page.open_conversation(keep(desk, "What are the dues?"))
    turn = page.conversation.turns[0]
    turn.copy()
    copied = QGuiApplication.clipboard().mimeData()
    assert "[1] Handbook, page 1" in copied.text()
    assert "<h2" in copied.html()
    page.do.copy(turn, Format.BIBTEX)
    assert QGuiApplication.clipboard().text().startswith("@misc{")
    for kind in Format:
        export(desk.context, tmp_path / f"a{kind.suffix}", kind, "Dues", page.context.library.turns(1))
        assert (tmp_path / f"a{kind.suffix}").stat().st_size > 80
    assert desk.messages[-1].text == "Exported."
    for typed, kind, name in (
        ("b", Format.DOCX, "b.docx"), ("c.html", Format.DOCX, "c.html"), ("d.json", Format.CSL, "d.json"),
        ("dr. who", Format.MARKDOWN, "dr. who.md"),
    ):  # fmt: skip
        export(desk.context, tmp_path / typed, kind, "Dues", page.context.library.turns(1))
        assert (tmp_path / name).exists()
    assert (tmp_path / "c.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "d.json").read_text().startswith("[")
    (tmp_path / "file").touch()
    export(desk.context, tmp_path / "file" / "x.md", Format.MARKDOWN, "Dues", page.context.library.turns(1))
    assert desk.messages[-1].tone == "warning"  # told, not thrown
    page.do.export(turn)
    dialog = page.findChild(QFileDialog)
    assert dialog is not None
    assert len(dialog.nameFilters()) == len(Format)
    dialog.reject()


def test_the_menu_of_an_answer_opens_at_its_button(open_page: Callable[[], AskPage], desk: Desk, qtbot: QtBot) -> None:
    page = open_page()
    page.open_conversation(keep(desk, "What are the dues?"))
    asked_at: list[QPoint] = []
    page.conversation.more.disconnect(page.do.popup)
    page.conversation.more.connect(lambda _, at: asked_at.append(at))
    page.conversation.turns[0]._more.click()
    assert len(asked_at) == 1
    for button in (page.conversation.turns[0]._more, page.conversation.turns[0]._edit, page.history.more):
        assert button.accessibleName()
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
