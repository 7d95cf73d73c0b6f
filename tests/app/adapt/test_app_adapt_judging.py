"""Judging questions by hand on the Adapt page; and all of the page in a small window with large text."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from test_app_access import check, controls, name

from app.views.adapt_page import AdaptPage
from app.views.main_window import MainWindow

WAIT = 30_000


def test_judging_goes_by_keys_and_can_be_undone(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, kept: list[tuple[str, dict[int, int]]]
) -> None:
    page = open_page()
    page.judge_button.click()
    view = page.judge
    qtbot.waitUntil(lambda: view.judging.item is not None, timeout=WAIT)
    first = view.question.text()
    assert view.amount.text() == "12 of 50 questions"
    for key in (Qt.Key.Key_N, Qt.Key.Key_Y, Qt.Key.Key_P):
        QTest.keyClick(view, key)
    qtbot.waitUntil(lambda: kept == [(first, {0: 0, 1: 2, 2: 1})], timeout=WAIT)
    qtbot.waitUntil(lambda: view.question.text() != first and view.judging.item is not None, timeout=WAIT)
    assert view.amount.text() == "13 of 50 questions"
    QTest.keyClick(view, Qt.Key.Key_U)  # back to the last passage of the first question
    assert view.question.text() == first
    assert view.where.text() == "passage 3 of 3"
    qtbot.waitUntil(lambda: kept[-1] == (first, {}), timeout=WAIT)
    QTest.keyClick(view, Qt.Key.Key_3)
    qtbot.waitUntil(lambda: kept[-1] == (first, {0: 0, 1: 2, 2: 0}), timeout=WAIT)
    QTest.keyClick(view, Qt.Key.Key_S)  # nothing said: nothing kept
    assert len(kept) == 3
    qtbot.waitUntil(lambda: view.judging.item is not None, timeout=WAIT)
    QTest.keyClick(view, Qt.Key.Key_Y)
    assert page.escape()
    assert page.scroller.isVisible()
    qtbot.waitUntil(lambda: len(kept) == 4, timeout=WAIT)
    assert list(kept[-1][1].values()) == [2]  # an unfinished question counts as far as it went
    qtbot.waitUntil(lambda: page.said.amount.text() == "2 questions judged", timeout=WAIT)


def test_judging_ends_with_thanks(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, kept: list[tuple[str, dict[int, int]]]
) -> None:
    page = open_page()
    page.judge_button.click()
    view = page.judge
    for number in range(4):
        qtbot.waitUntil(lambda n=number: view.question.text().startswith(f"{n + 1}:"), timeout=WAIT)
        QTest.keyClick(view, Qt.Key.Key_Y)
        QTest.keyClick(view, Qt.Key.Key_S)
    qtbot.waitUntil(lambda: view.stack.currentWidget() is view.nothing, timeout=WAIT)
    assert view.nothing.title.text() == "Thank you"
    assert view.amount.text() == "16 of 50 questions"


def test_all_can_be_reached_named_and_seen_in_a_small_window_with_large_text(
    open_page: Callable[..., AdaptPage], window: MainWindow, qtbot: QtBot, kept: list[tuple[str, dict[int, int]]]
) -> None:
    page = open_page("used")
    page.history.lines[0].click()
    check(window)
    there = {name(widget) for widget in controls(window)}
    assert {"Begin: Quick", "Judge questions", "Take it back…"} <= there
    window.resize(900, 650)
    window._theme.set_text_percent(180)
    qtbot.wait(100)
    assert page.scroller.widget().width() <= page.scroller.viewport().width()
    page.judge_button.click()
    qtbot.waitUntil(lambda: page.judge.judging.item is not None, timeout=WAIT)
    qtbot.wait(100)
    check(window)
    inner = page.judge.yes.window()
    for button in (page.judge.yes, page.judge.partly, page.judge.no, page.judge.undo, page.judge.skip):
        assert button.width() >= button.minimumSizeHint().width(), button.text()
        assert button.mapTo(inner, button.rect().topRight()).x() <= inner.width()
    window._theme.set_text_percent(100)
