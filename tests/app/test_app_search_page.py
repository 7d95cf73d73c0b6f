"""The Search page against a real child process over a small real library."""

from __future__ import annotations

import pages_fixtures
import pytest
from pages_fixtures import Desk
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.context import Place
from app.views.ask_question import Question
from app.views.search_page import FIRST, SearchPage
from core.base.types import Filters, Hit, Level, Passage, Span

desk, template = pages_fixtures.desk, pages_fixtures.template


@pytest.fixture
def page(desk: Desk, qtbot: QtBot) -> SearchPage:
    made = SearchPage(desk.context)
    qtbot.addWidget(made)
    made.resize(1000, 700)
    made.show()
    return made


def search(page: SearchPage, qtbot: QtBot, text: str) -> None:
    page.box.setText(text)
    qtbot.waitUntil(lambda: not page._latest.busy and page._query.text == text, timeout=15_000)


def titles(page: SearchPage) -> list[str]:
    return [hit.passage.title for hit in page.results.list.hits]


def test_typing_finds_and_the_list_says_all_of_a_hit(page: SearchPage, qtbot: QtBot) -> None:
    assert page.results.shown is page.results.start
    search(page, qtbot, "harbour dues")
    assert titles(page)[0] == "Member handbook of the harbour"
    index = page.results.list.model().index(0, 0)
    said = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert "1. Member handbook of the harbour. handbook.pdf  ·  page 1  ·  Harbour dues. Every boat" in said
    assert page.results.count.whole().startswith("3 passages")


def test_only_the_newest_question_is_heard(page: SearchPage, qtbot: QtBot) -> None:
    page.box.setText("slow harbour")
    qtbot.waitUntil(lambda: page._latest.busy, timeout=5000)
    search(page, qtbot, "lamp")
    qtbot.wait(100)
    assert {t.casefold() for t in titles(page)} >= {"letter about the lamp"}
    assert all("lamp" in hit.passage.text.casefold() for hit in page.results.list.hits)
    assert page.context.engine.in_flight("search") == 0  # the slow one was cancelled, not left running


def test_enter_opens_the_place_with_the_matched_words(page: SearchPage, desk: Desk, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    QTest.keyClick(page.box, Qt.Key.Key_Down)
    assert page.results.list.hasFocus()
    QTest.keyClick(page.results.list, Qt.Key.Key_Return)
    where, place = desk.visits[-1]
    assert where == "document"
    assert isinstance(place, Place)
    assert place.page == 1
    text = desk.context.library.document_text(place.document_id)[0]
    assert [text[s.start : s.end].casefold() for s in place.spans] == ["harbour", "dues"]
    QTest.keyClick(page.results.list, Qt.Key.Key_Escape)
    assert page.box.hasFocus()


def test_filters_narrow_tell_what_they_hide_and_are_cleared(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    page.filters.choose(Filters(types=("text/html",)))
    qtbot.waitUntil(lambda: len(page.results.list.hits) == 1, timeout=5000)
    assert page.filters._removed.isVisible()
    assert page.filters._removed.text() == "2 passages hidden by filters"
    assert page.filters._chips["types"].isChecked()
    page.filters._clear.click()
    qtbot.waitUntil(lambda: len(page.results.list.hits) == 3, timeout=5000)
    assert not page.filters._removed.isVisible()


def test_menu_of_a_filter_offers_the_values_of_the_library(page: SearchPage, desk: Desk) -> None:
    menu = page.filters._chips["types"].menu()
    menu.aboutToShow.emit()
    labels = [action.text() for action in menu.actions()]
    assert labels == ["PDF\t1", "Web page\t1", "Text\t1"]
    menu.actions()[0].trigger()
    assert page.filters.filters() == Filters(types=("application/pdf",))


def test_no_hits_is_said_and_filters_are_blamed_when_they_are_to_blame(page: SearchPage, qtbot: QtBot) -> None:
    page.filters.choose(Filters(types=("text/html",)))
    search(page, qtbot, "moorings storm")
    assert page.results.shown is page.results.no_hits
    assert page.results.no_hits.text.text() == "The filters hide 1 passage that matches."
    assert page.results._clear.isVisibleTo(page)


def test_what_was_understood_is_shown_and_taken_out_by_a_click(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, 'harbour dues "every boat" -lamp type:pdf')
    chips = page.understood.chips
    assert page.understood.isVisible()
    assert [chip.accessibleName() for chip in chips] == [
        "Take out: With these words side by side: every boat",
        "Take out: Without this word: lamp",
        "Take out: Files of this kind: pdf",
    ]
    assert all(chip.toolTip() for chip in chips)
    chips[1].click()
    qtbot.waitUntil(lambda: not page._latest.busy and len(page.understood.chips) == 2, timeout=5000)
    assert page.box.text() == 'harbour dues "every boat" type:pdf'
    assert page.box.hasFocus()
    page.box.clear()
    qtbot.waitUntil(lambda: not page.understood.isVisible(), timeout=5000)


def test_no_hits_blames_what_was_asked_for_beside_words(page: SearchPage, qtbot: QtBot) -> None:
    page.level.choose(Level.SENTENCE)
    search(page, qtbot, "nothing -lamp")
    assert page.results.shown is page.results.no_hits
    assert page.results.no_hits.title.text() == "No sentence matches"
    assert "-lamp" in page.results.no_hits.text.text()
    assert not page.results._clear.isVisibleTo(page)


def test_a_query_that_is_not_finished_is_no_error(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "unfinished")
    assert not page.results.banner.isVisibleTo(page)
    assert page.results.shown is page.results.no_hits
    assert page.results.no_hits.title.text() == "Only exclusions."
    assert page.results.no_hits.text.text() == "Add a word."
    assert not page.results._ask_anyway.isVisibleTo(page)


def test_error_is_shown_with_advice_and_tried_again(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "fail")
    assert page.results.banner.text() == "The index is damaged."
    page.box.blockSignals(True)
    page.box.setText("lamp")
    page.box.blockSignals(False)
    page.results.banner.acted.emit()
    qtbot.waitUntil(lambda: bool(page.results.list.hits), timeout=5000)
    assert not page.results.banner.isVisibleTo(page)


def test_dead_child_is_an_error_and_the_next_search_works(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "dead")
    assert page.results.banner.isVisibleTo(page)
    search(page, qtbot, "lamp")
    assert page.results.list.hits


def test_notice_of_a_result_is_shown(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "notice harbour")
    assert page.results.banner.text() == "A damaged index file is being made again."


def test_more_keeps_what_is_chosen(page: SearchPage, qtbot: QtBot) -> None:
    hits = tuple(_hit(n) for n in range(FIRST + 10))
    page.results.list.show_hits(hits[:FIRST])
    page.results.list.setCurrentIndex(page.results.list.model().index(4, 0))
    page.results.list.show_hits(hits)
    assert page.results.list.currentIndex().row() == 4
    assert page.results.list.model().rowCount() == FIRST + 10


def test_show_more_asks_for_more(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour")
    page._more()
    qtbot.waitUntil(lambda: not page._latest.busy, timeout=5000)
    assert page._query.k > FIRST
    assert not page.results._more.isVisibleTo(page)  # all there are were shown


def test_why_opens_follows_the_list_and_closes(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    page.results.list.enter()
    QTest.keyClick(page.results.list, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: page.why.panel.explanation is not None, timeout=5000)
    assert page.why.panel.explanation.passage == page.results.list.hits[0].passage
    QTest.keyClick(page.results.list, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: page.why.panel.explanation.passage == page.results.list.hits[1].passage, timeout=5000)
    assert page.escape()
    assert not page.why.is_open


def test_narrow_page_shows_the_reason_instead_of_the_list(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    page.resize(600, 600)
    page._why_current()
    qtbot.waitUntil(lambda: page.why.panel.explanation is not None, timeout=5000)
    assert page.why.panel.width() > 500
    page.escape()
    assert page.results.list.isVisible()


def test_ask_about_these_takes_question_and_filters_along(page: SearchPage, desk: Desk, qtbot: QtBot) -> None:
    page.filters.choose(Filters(types=("application/pdf",)))
    search(page, qtbot, "harbour dues")
    page.results._ask.click()
    assert desk.visits[-1] == ("ask", Question("harbour dues", Filters(types=("application/pdf",))))


def test_target_is_searched_at_once(page: SearchPage, qtbot: QtBot) -> None:
    page.show_target("lamp")
    qtbot.waitUntil(lambda: bool(page.results.list.hits), timeout=15_000)
    assert page.box.hasFocus()


def test_empty_box_goes_back_to_the_start(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "lamp")
    QTest.keyClick(page.box, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: page.results.shown is page.results.start, timeout=2000)
    assert page.results.list.hits == ()


def test_rows_paint_any_text(page: SearchPage, qtbot: QtBot) -> None:
    odd = "<b>bold</b> & \ud800 🚤\n\t مرحبا 港湾 " * 40
    hits = [_hit(1, odd, title="x" * 500, spans=(Span(3, 7), Span(17, 18))), _hit(2, "", title="")]
    page.results.list.show_hits(hits)
    page.results._stack.setCurrentWidget(page.results._page)
    qtbot.wait(50)
    assert not page.results.list.grab().isNull()


def _hit(number: int, text: str = "text", title: str = "Title", spans: tuple[Span, ...] = ()) -> Hit:
    passage = Passage(number, 1, number, text, 0, len(text), None, None, ("A", "B"), "en", path="/x/y.txt", title=title)
    return Hit(number, passage, 1.0, (), spans, Span(0, len(text)))
