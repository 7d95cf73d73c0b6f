"""What a narrow window, a small screen and long paths do to the layout."""

from __future__ import annotations

from pathlib import Path

import test_app_window
from pytestqt.qtbot import QtBot

from app.context import Place
from app.views.beside import LEAST
from app.views.dialogs import confirm
from app.views.library_page import LibraryPage
from app.views.library_words import outermost
from app.views.main_window import MainWindow

full, open_window, settings = test_app_window.full, test_app_window.open_window, test_app_window.settings


def test_in_a_narrow_window_the_document_takes_the_place_of_the_page(full: MainWindow, qtbot: QtBot) -> None:
    assert full.context is not None
    document = full.context.library.documents()[0]
    full.resize(1240, 800)
    full.navigate("document", Place(document.id))
    assert not full.beside.covers
    assert full.beside.sizes()[1] > LEAST * sum(full.beside.sizes())
    full.resize(860, 800)
    qtbot.waitUntil(lambda: full.beside.covers, timeout=3000)
    full.actions_by_id["escape"].trigger()
    assert not full.beside.is_open
    assert full.stack.isVisible()


def test_folders_within_others_are_not_named(tmp_path: Path) -> None:
    inner = str(tmp_path / "a" / "b.md")
    assert outermost([inner, str(tmp_path / "a"), str(tmp_path / "ab")]) == [str(tmp_path / "a"), str(tmp_path / "ab")]


def test_a_sheet_is_as_high_as_its_words(full: MainWindow, qtbot: QtBot) -> None:
    sheet = confirm(full, "Remove?", "A long explanation of what is removed and what is kept. " * 20, "Remove", str)
    qtbot.waitUntil(sheet.isVisible, timeout=3000)
    assert sheet.height() >= sheet.layout().totalHeightForWidth(sheet.width())
    sheet.reject()


def test_esc_closes_the_document_before_it_leaves_the_page(full: MainWindow, qtbot: QtBot) -> None:
    assert full.context is not None
    document = full.context.library.documents()[0]
    page = full.page("library")
    assert isinstance(page, LibraryPage)
    page.search.setText("x")
    full.navigate("document", Place(document.id))
    page.table.setFocus()
    full.actions_by_id["escape"].trigger()
    assert not full.beside.is_open
    assert page.search.text() == "x"
    full.actions_by_id["escape"].trigger()
    assert not page.search.text()
