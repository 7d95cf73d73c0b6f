"""What the person shows and says of results: noted when opened, said in their menu, counted on the Adapt page."""

from __future__ import annotations

from collections.abc import Iterator

import pages_fixtures
import pytest
from pages_fixtures import Desk
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QMenu
from pytestqt.qtbot import QtBot

from app.views.adapt_said import SaidCard
from app.views.hit_said import asked
from app.views.search_page import SearchPage
from app.widgets.buttons import Button
from core.base.errors import DiskFull
from core.base.types import Hit, Span
from core.library import Library

desk, template = pages_fixtures.desk, pages_fixtures.template
WAIT = 15_000
GOOD, BAD, ANSWER = "A good result for this search", "Not what I was looking for", "This is the answer: remember it"


@pytest.fixture
def page(desk: Desk, qtbot: QtBot) -> Iterator[SearchPage]:
    made = SearchPage(desk.context)
    qtbot.addWidget(made)
    made.resize(1000, 700)
    made.show()
    yield made
    made.close_page()


def search(page: SearchPage, qtbot: QtBot, text: str) -> Hit:
    page.box.setText(text)
    qtbot.waitUntil(lambda: not page._latest.busy and page._query.text == text, timeout=WAIT)
    return page.results.list.hits[0]


def said(page: SearchPage) -> list[tuple[str, str, int]]:
    return [(one.kind, one.question, one.passage_id) for one in page.context.library.judgements()]


def menu_of(page: SearchPage, hit: Hit) -> dict[str, QAction]:
    page.places.menu(hit, QPoint(0, 0))
    menu = page.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly)[-1]
    actions = {action.text(): action for action in menu.actions()}
    menu.hide()  # it is deleted once the event loop runs
    return actions


def test_the_words_of_a_query_without_its_syntax() -> None:
    text = 'dues  "every boat" -lamp type:pdf'
    spans = (Span(6, 18), Span(19, 24), Span(25, 33))
    assert asked(text, ('"every boat"', "-lamp", "type:pdf"), spans) == "dues every boat"
    assert asked("dues of boats", (), ()) == "dues of boats"
    assert asked('-"old plan"', ('-"old plan"',), (Span(0, 11),)) == ""


def test_an_opened_result_is_noted_with_the_words_of_its_search(page: SearchPage, qtbot: QtBot) -> None:
    hit = search(page, qtbot, "harbour dues -lamp")
    page.results.list.opened.emit(hit)
    wanted = [("opened", "harbour dues", hit.passage.id)]
    qtbot.waitUntil(lambda: said(page) == wanted, timeout=WAIT)
    page.context.library.set_records_opened(False)
    other = page.results.list.hits[1]
    page.results.list.opened.emit(other)
    qtbot.wait(200)
    assert said(page) == wanted


def test_the_menu_of_a_hit_says_what_it_is_worth(page: SearchPage, desk: Desk, qtbot: QtBot) -> None:
    hit = search(page, qtbot, "harbour dues")
    actions = menu_of(page, hit)
    assert not any(actions[words].isChecked() for words in (GOOD, BAD, ANSWER))
    actions[GOOD].toggle()
    qtbot.waitUntil(lambda: said(page) == [("liked", "harbour dues", hit.passage.id)], timeout=WAIT)
    actions = menu_of(page, hit)
    assert actions[GOOD].isChecked()
    actions[BAD].toggle()
    qtbot.waitUntil(lambda: said(page) == [("disliked", "harbour dues", hit.passage.id)], timeout=WAIT)
    menu_of(page, hit)[ANSWER].toggle()
    qtbot.waitUntil(lambda: len(said(page)) == 2, timeout=WAIT)
    for words in (BAD, ANSWER):
        menu_of(page, hit)[words].toggle()
    qtbot.waitUntil(lambda: said(page) == [], timeout=WAIT)
    assert not menu_of(page, page.results.list.hits[1])[GOOD].isChecked()
    page.said.asked = ""
    assert GOOD not in menu_of(page, hit)


def test_what_cannot_be_written_is_told(
    page: SearchPage, desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "Free some space.")

    told: list[object] = []
    desk.context.notifications.shown.connect(told.append)
    monkeypatch.setattr(Library, "set_pinned", full)
    hit = search(page, qtbot, "harbour dues")
    menu_of(page, hit)[ANSWER].toggle()
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT)
    assert told[0].text == "The disk is full."  # type: ignore[attr-defined]


def test_what_was_said_is_counted_turned_off_and_forgotten(page: SearchPage, desk: Desk, qtbot: QtBot) -> None:
    library = desk.context.library
    card = SaidCard(desk.context)
    qtbot.addWidget(card)
    card.show()
    card.refresh()
    assert card.amount.text().startswith("Nothing yet")
    assert not card.forget.isEnabled()
    assert card.records.isChecked()
    first, second = (hit.passage.id for hit in (search(page, qtbot, "harbour dues"), page.results.list.hits[1]))
    library.note_opened("harbour dues", first)
    library.set_thumb("harbour dues", second, up=False)
    library.judge("what a berth costs", {first: 2, second: 0})
    card.refresh()
    assert card.amount.text() == "1 result opened · 1 called wrong · 1 question judged"
    card.records.click()
    qtbot.waitUntil(lambda: not library.records_opened(), timeout=WAIT)
    card.forget.click()
    ask = next(d for d in card.findChildren(QDialog) if d.isVisible())
    next(b for b in ask.findChildren(Button) if b.text() == "Forget").click()
    qtbot.waitUntil(lambda: card.amount.text() == "1 question judged", timeout=WAIT)
    assert {one.kind for one in library.judgements()} == {"judged"}
    assert not card.records.isChecked()
