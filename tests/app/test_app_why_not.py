"""Why not this one: choosing a passage, what is said of it, changes that bring it up and are taken back."""

from __future__ import annotations

from collections.abc import Iterator

import pages_fixtures
import pytest
from pages_fixtures import Desk
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.views.search_page import SearchPage
from app.views.why_expected import Expected
from app.views.why_not_panel import WhyNotPanel
from app.views.why_not_sheet import ROLE, WhyNotSheet
from app.widgets.why_lifts import freed, lift_text
from app.widgets.why_standing import StandingRow
from core.base.types import Filters, Lift, Query, Span

desk, template = pages_fixtures.desk, pages_fixtures.template
ICE = 11


@pytest.fixture
def page(desk: Desk, qtbot: QtBot) -> Iterator[SearchPage]:
    made = SearchPage(desk.context)
    qtbot.addWidget(made)
    made.resize(1100, 760)
    made.show()
    yield made
    made.close_page()


def search(page: SearchPage, qtbot: QtBot, text: str) -> None:
    page.box.setText(text)
    qtbot.waitUntil(lambda: not page._latest.busy and page._query.text == text, timeout=15_000)


def lamp(page: SearchPage) -> int:
    """The document that speaks of the lamp alone."""
    return next(d.id for d in page.context.library.documents() if "lamp" in d.title.casefold())


def sheet_of(page: SearchPage) -> WhyNotSheet:
    return next(s for s in page.findChildren(WhyNotSheet) if s.isVisible())


def asked(page: SearchPage, qtbot: QtBot) -> WhyNotPanel:
    qtbot.waitUntil(lambda: page.why.is_not and page.why.not_panel.shown is not None, timeout=15_000)
    panel = page.why.not_panel
    qtbot.waitUntil(lambda: not panel.busy and panel.shown.sentence in said(panel), timeout=15_000)
    return panel


def said(panel: WhyNotPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel)]


def test_a_passage_is_chosen_by_document_and_its_place_is_told(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    page.results._missing.click()
    sheet = sheet_of(page)
    assert sheet.question.text() == "harbour dues"
    assert not sheet.ask_button.isEnabled()
    QTest.keyClicks(sheet.box, "letter")
    QTest.keyClick(sheet.box, Qt.Key.Key_Return)
    assert sheet.documents.count() == 1
    sheet.passages.setCurrentRow(1)
    passage = sheet.passages.currentItem().data(ROLE)
    QTest.keyClick(sheet.passages, Qt.Key.Key_Return)
    panel = asked(page, qtbot)
    assert panel.shown.passage == passage
    words = said(panel)
    assert "Not among the candidates" in words
    assert "It lacks the words of the question." in words
    assert "Words of the question: harbour, dues" in words
    assert "What the hits are about: «money and payment»" in words
    rows = panel.findChildren(StandingRow)
    assert [r.accessibleName().split(".")[0] for r in rows] == ["Meaning: place 2", "Words in common: not found by it"]
    assert [b.accessibleName() for b in panel.lifts] == [
        "Add the word “pier”: place 1", "Count «ice» more: place 2", "Search only by meaning: place 2",
    ]  # fmt: skip
    assert page.escape()
    assert not page.why.is_open


def test_a_proposed_word_is_added_and_the_passage_is_looked_at_again(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    page.missing.ask(page.context.library.document_passages(lamp(page))[1].id)
    panel = asked(page, qtbot)
    panel.lifts[0].click()
    qtbot.waitUntil(lambda: page._query.text == "harbour dues pier" and not page._latest.busy, timeout=5000)
    qtbot.waitUntil(lambda: panel.shown is not None and panel.shown.query == "harbour dues pier", timeout=5000)
    assert page.why.is_not
    panel.lifts[1].click()
    qtbot.waitUntil(lambda: page._query.boosts == {ICE: 2.0}, timeout=5000)
    panel = asked(page, qtbot)
    panel.lifts[2].click()
    qtbot.waitUntil(lambda: page._query.channels == ("dense",), timeout=5000)
    assert page.steer.bar.only.text() == "Only meaning  ×"
    page.steer.bar.only.click()
    qtbot.waitUntil(lambda: page._query.channels == (), timeout=5000)
    assert page._query.boosts == {ICE: 2.0}
    for _ in range(4):  # the channels twice, the concept, the word
        assert page.steer.undo()
    qtbot.waitUntil(lambda: page._query.text == "harbour dues" and page._query.boosts == {}, timeout=5000)
    assert not page.steer.undo()


def test_what_keeps_it_out_is_told_in_words_and_left_out_by_a_press(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour type:pdf dues")
    page.missing.ask(page.context.library.document_passages(lamp(page))[1].id)
    panel = asked(page, qtbot)
    assert {"Kept out", "Files of this kind: pdf"} <= set(said(panel))
    next(b for b in panel.lifts if "without" in b.accessibleName()).click()
    qtbot.waitUntil(lambda: page._query.text == "harbour dues" and not page._latest.busy, timeout=5000)


def test_another_page_asks_about_what_it_shows(page: SearchPage, qtbot: QtBot) -> None:
    passage = page.context.library.document_passages(lamp(page))[1]
    page.show_target(Expected(passage.document_id, passage.start + 3))
    sheet = sheet_of(page)
    assert sheet.passages.currentItem().data(ROLE) == passage
    assert not sheet.ask_button.isEnabled()
    QTest.keyClicks(sheet.question, "harbour")
    sheet.ask_button.click()
    panel = asked(page, qtbot)
    assert page.box.text() == "harbour"
    assert panel.shown.query == "harbour"
    assert panel.shown.passage == passage


def test_a_document_that_went_is_told_of(page: SearchPage, desk: Desk) -> None:
    page.show_target(Expected(999))
    assert "not in this library" in desk.messages[-1].text
    assert not page.findChildren(WhyNotSheet)


def test_an_error_is_shown_and_tried_again(desk: Desk, qtbot: QtBot) -> None:
    panel = WhyNotPanel(desk.context)
    qtbot.addWidget(panel)
    panel.show()
    panel.ask(Query("fail"), 1)
    qtbot.waitUntil(lambda: panel._banner.isVisible(), timeout=15_000)
    assert panel._banner.text() == "The index is damaged."
    panel._asked = (Query("lamp"), 1)
    panel._banner.acted.emit()
    qtbot.waitUntil(lambda: panel.shown is not None, timeout=5000)
    assert not panel._banner.isVisible()
    with qtbot.waitSignal(panel.closed):
        QTest.keyClick(panel, Qt.Key.Key_Escape)


def test_freeing_a_query_takes_out_what_keeps_the_passage_out_and_no_more() -> None:
    text, pieces = 'old "every boat" dues type:pdf', ('"every boat"', "type:pdf")
    spans = (Span(4, 16), Span(22, 30))
    filters = Filters(languages=("de",), after="2020-01-01", tags=("x",))
    assert freed(text, pieces, spans, filters, ("type:pdf",)) == ('old "every boat" dues', filters)
    bare = freed(text, pieces, spans, filters, ('"every boat"', "lang:de", "after:2020-01-01"))
    assert bare == ("old every boat dues type:pdf", Filters(tags=("x",)))


def test_lifts_are_said_as_what_to_do() -> None:
    kinds = {"word": "pier", "concept": "ice", "filter": "type:pdf", "channel": "dense"}
    told = [lift_text(Lift(kind, what, 1)) for kind, what in kinds.items()]
    assert told == ["Add the word “pier”", "Count «ice» more", "Search without type:pdf", "Search only by meaning"]
