"""Reading the hits closely beside a person who is at them already: nothing moves, nothing is lost, nothing waits."""

from __future__ import annotations

import pages_fixtures
import pytest
from pages_fixtures import Desk
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.views.closer_search import REST_MS
from app.views.search_page import SearchPage

desk, template = pages_fixtures.desk, pages_fixtures.template
QUESTION = "harbour closely"


@pytest.fixture
def page(desk: Desk, qtbot: QtBot) -> SearchPage:
    made = SearchPage(desk.context)
    qtbot.addWidget(made)
    made.resize(1000, 420)
    made.show()
    return made


def search(page: SearchPage, qtbot: QtBot, text: str = QUESTION) -> list[int]:
    """The first results."""
    page.box.setText(text)
    qtbot.waitUntil(lambda: not page._latest.busy and page._query.text == text, timeout=15_000)
    assert not page._query.rerank
    assert len(page.results.list.hits) > 2
    return shown(page)


def shown(page: SearchPage) -> list[int]:
    return [hit.passage.id for hit in page.results.list.hits]


def offered(page: SearchPage) -> bool:
    return page.results._closer.isVisibleTo(page)


def read(page: SearchPage, qtbot: QtBot) -> None:
    """Until the close reading has ended, in whatever way."""
    closer = page._closer
    qtbot.waitUntil(lambda: not (closer._rest.isActive() or closer._latest.busy), timeout=15_000)


def test_nobody_is_at_the_list_and_it_takes_the_new_order(page: SearchPage, qtbot: QtBot) -> None:
    first = search(page, qtbot)
    assert page._closer._rest.isActive()  # a rest comes before
    assert page._closer._rest.interval() == REST_MS >= 400
    read(page, qtbot)
    assert shown(page) == first[::-1]
    assert page._query.rerank
    assert not offered(page)


def test_who_has_chosen_a_row_is_offered_it_and_keeps_the_row(page: SearchPage, qtbot: QtBot) -> None:
    first = search(page, qtbot)
    page.results.list.enter()
    read(page, qtbot)
    assert shown(page) == first
    assert offered(page)
    page.results._closer.click()
    assert shown(page) == first[::-1]
    assert page.results.list.current_hit().passage.id == first[0]
    assert not offered(page)


def test_who_has_scrolled_is_offered_it_and_stays_there(page: SearchPage, qtbot: QtBot) -> None:
    first = search(page, qtbot)
    bar = page.results.list.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0, timeout=5000)
    bar.setValue(bar.maximum())
    at = bar.value()
    read(page, qtbot)
    assert (shown(page), bar.value()) == (first, at)
    page.results._closer.click()
    assert (shown(page), bar.value()) == (first[::-1], at)


def test_the_reason_stays_with_the_hit_that_was_asked_about(page: SearchPage, qtbot: QtBot) -> None:
    first = search(page, qtbot)
    page._why_current()  # no row is chosen: it is that of the first
    qtbot.waitUntil(lambda: page.why.panel.explanation is not None, timeout=5000)
    read(page, qtbot)
    assert shown(page) == first
    page.results._closer.click()
    assert shown(page) == first[::-1]
    qtbot.waitUntil(lambda: not page.why.panel._latest.busy, timeout=5000)
    assert page.why.panel.explanation.passage.id == first[0]
    assert page.why.panel._asked == (page._query, first[0])


def test_another_question_starts_anew(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot)
    page.results.list.enter()
    read(page, qtbot)
    assert offered(page)
    first = search(page, qtbot, "harbour dues closely")
    assert not offered(page)
    read(page, qtbot)
    assert shown(page) == first[::-1]


def test_typing_puts_it_off_and_a_new_search_does_not_wait(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour closely waits")
    qtbot.wait(REST_MS // 2)
    left = page._closer._rest.remainingTime()
    page._closer.postpone()
    assert page._closer._rest.remainingTime() > left
    qtbot.waitUntil(lambda: page._closer._latest.busy, timeout=5000)
    search(page, qtbot, "harbour dues")
    qtbot.waitUntil(lambda: page.context.engine.in_flight("search") == 0, timeout=5000)  # it was cancelled


def test_while_it_reads_return_goes_into_the_list_and_the_library_may_change(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour closely waits")
    qtbot.waitUntil(lambda: page._closer._latest.busy, timeout=5000)
    QTest.keyClick(page.box, Qt.Key.Key_Return)
    assert page.results.list.hasFocus()
    page.context.engine.changed.emit(None)
    assert page._latest.busy
    assert not page._closer._latest.busy
    qtbot.waitUntil(lambda: not page._latest.busy, timeout=5000)
    page.close_page()


@pytest.mark.parametrize("text", ["type:pdf harbour closely breaks", "type:pdf harbour closely dies"])
def test_its_failure_leaves_the_hits_and_it_is_not_tried_again(page: SearchPage, qtbot: QtBot, text: str) -> None:
    first = search(page, qtbot, text)
    read(page, qtbot)
    assert shown(page) == first
    assert page.results.shown is page.results._page
    assert not page.results.banner.isVisibleTo(page)
    assert page.understood.isVisible()
    first = search(page, qtbot)
    assert not page._closer._rest.isActive()


def test_what_fails_only_with_close_reading_is_had_without(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot)
    read(page, qtbot)
    page._query = page._query.__class__("harbour closely breaks", k=page._query.k, rerank=True)
    page._more()
    qtbot.waitUntil(lambda: not page._latest.busy, timeout=15_000)
    assert not page._query.rerank
    assert not page.results.banner.isVisibleTo(page)
    assert page.results.list.hits
