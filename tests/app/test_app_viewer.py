"""The viewer against a real child: pages with marks, text, find, files that changed or are gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pages_fixtures
import pytest
from pages_fixtures import Desk
from PySide6.QtCore import QSizeF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.context import Place
from app.views.ask_page import AskPage
from app.views.search_page import SearchPage
from app.views.viewer import Viewer
from app.views.why_panel import WhyPanel
from app.widgets.page_layout import GAP, PageStrip
from core.base.types import Span

desk, template = pages_fixtures.desk, pages_fixtures.template
HANDBOOK, LETTER, WEB = 1, 2, 3


@pytest.fixture
def viewer(desk: Desk, qtbot: QtBot) -> Iterator[Viewer]:
    made = Viewer(desk.context)
    qtbot.addWidget(made)
    made.resize(640, 700)
    made.show()
    yield made
    made.close_document()


def opened(viewer: Viewer, qtbot: QtBot, place: Place) -> None:
    viewer.open(place)
    qtbot.waitUntil(
        lambda: viewer.stored is not None and viewer.stored.document.id == place.document_id, timeout=15_000
    )


def span_of(desk: Desk, document: int, words: str) -> Span:
    text = desk.context.library.document_text(document)[0]
    start = text.index(words)
    return Span(start, start + len(words))


def test_pdf_opens_at_its_page_with_the_sentence_marked(viewer: Viewer, desk: Desk, qtbot: QtBot) -> None:
    opened(viewer, qtbot, Place(HANDBOOK, 2, (span_of(desk, HANDBOOK, "Each owner"),)))
    qtbot.waitUntil(lambda: bool(viewer.marked_rects()), timeout=15_000)
    assert viewer.shows_pages()
    assert viewer.pdf.page == 2
    mark = viewer.marked_rects()[0]
    offset = span_of(desk, HANDBOOK, "Each owner").start - span_of(desk, HANDBOOK, "Winter moorings").start
    assert mark.page == 2
    assert mark.rect.left() == pytest.approx(72, abs=0.5)
    assert mark.rect.top() == pytest.approx(100 + offset, abs=0.5)


def test_mark_is_painted_over_the_page(viewer: Viewer, desk: Desk, qtbot: QtBot) -> None:
    opened(viewer, qtbot, Place(HANDBOOK, 2, (span_of(desk, HANDBOOK, "Winter"),)))
    qtbot.waitUntil(lambda: bool(viewer.marked_rects()), timeout=15_000)
    rect, zoom = viewer.marked_rects()[0].rect, viewer.pdf._strip.zoom
    page = viewer.pdf._strip.rect(2, viewer.pdf.viewport().width())
    spot = page.topLeft() + rect.center() * zoom - viewer.pdf._origin()
    picture = viewer.pdf.viewport().grab().toImage()
    ratio = picture.devicePixelRatio()
    colour = QColor(picture.pixel(round(spot.x() * ratio), round(spot.y() * ratio)))
    assert colour.blue() < colour.red() - 40  # the yellow of the marker, not the grey or white of the page


def test_without_a_page_the_span_tells_it(viewer: Viewer, desk: Desk, qtbot: QtBot) -> None:
    opened(viewer, qtbot, Place(HANDBOOK, None, (span_of(desk, HANDBOOK, "Three short blasts"),)))
    qtbot.waitUntil(lambda: viewer.pdf.has_picture(3), timeout=15_000)
    assert viewer.pdf.page == 3


def test_pages_turn_zoom_and_are_typed(viewer: Viewer, qtbot: QtBot) -> None:
    opened(viewer, qtbot, Place(HANDBOOK, 1))
    qtbot.waitUntil(lambda: viewer.pdf.pages == 3, timeout=15_000)
    viewer.tools._next.click()
    assert viewer.pdf.page == 2
    viewer.tools._number.setText("3")
    QTest.keyClick(viewer.tools._number, Qt.Key.Key_Return)
    assert viewer.pdf.page == 3
    assert not viewer.tools._next.isEnabled()
    before = viewer.pdf.zoom_percent
    viewer.tools.zoom.emit(1)
    assert viewer.pdf.zoom_percent > before
    assert viewer.pdf.page == 3
    viewer.tools.fit_width.emit()
    assert viewer.pdf.zoom_percent == before


def test_other_place_in_the_same_document_is_not_loaded_again(viewer: Viewer, desk: Desk, qtbot: QtBot) -> None:
    opened(viewer, qtbot, Place(HANDBOOK, 1))
    qtbot.waitUntil(lambda: viewer.pdf.has_picture(1), timeout=15_000)
    stored = viewer.stored
    viewer.open(Place(HANDBOOK, 3, (span_of(desk, HANDBOOK, "Three short"),)))
    assert viewer.stored is stored
    qtbot.waitUntil(lambda: [m.page for m in viewer.marked_rects()] == [3], timeout=15_000)


def test_only_pages_in_sight_are_fetched(viewer: Viewer, desk: Desk, qtbot: QtBot) -> None:
    strip = PageStrip([QSizeF(595, 842)] * 2000, 1.0)
    assert strip.extent.height() == pytest.approx(2000 * (842 + GAP) + GAP)
    assert list(strip.between(0, 700)) == [1]
    top = strip.rect(1500).top()
    assert list(strip.between(top + 10, top + 900)) == [1500, 1501]
    assert strip.at(top - GAP / 2) == 1499
    opened(viewer, qtbot, Place(HANDBOOK, 1))
    qtbot.waitUntil(lambda: viewer.pdf.has_picture(1) and viewer.pdf.has_picture(2), timeout=15_000)
    qtbot.wait(100)
    assert not viewer.pdf.has_picture(3)


def test_text_opens_with_its_span_marked_and_seen(viewer: Viewer, desk: Desk, qtbot: QtBot) -> None:
    opened(viewer, qtbot, Place(LETTER, None, (span_of(desk, LETTER, "Boats report it"),)))
    assert not viewer.shows_pages()
    assert [s.cursor.selectedText() for s in viewer.text.extraSelections()] == ["Boats report it"]  # behind an emoji
    assert viewer.marked_rects()[0].page is None
    assert viewer.text.viewport().rect().contains(viewer.marked_rects()[0].rect.toRect())
    assert not viewer.tools.isVisible()


def test_pages_and_text_of_a_pdf_switch(viewer: Viewer, desk: Desk, qtbot: QtBot) -> None:
    opened(viewer, qtbot, Place(HANDBOOK, 2, (span_of(desk, HANDBOOK, "Each owner"),)))
    qtbot.waitUntil(lambda: bool(viewer.marked_rects()), timeout=15_000)
    viewer.tools._as_text.click()
    assert [s.cursor.selectedText() for s in viewer.text.extraSelections()] == ["Each owner"]
    viewer.tools._as_text.click()
    assert viewer.shows_pages()


def test_find_in_text_and_on_pages(viewer: Viewer, desk: Desk, qtbot: QtBot) -> None:
    opened(viewer, qtbot, Place(WEB))
    viewer.focus_search()
    viewer._find.field.setText("LAMP")
    QTest.keyClick(viewer._find.field, Qt.Key.Key_Return)
    assert viewer.text.textCursor().selectedText() == "lamp"
    viewer._find.field.setText("no such words")
    QTest.keyClick(viewer._find.field, Qt.Key.Key_Return)
    assert viewer._find.note.text() == "Not found"
    QTest.keyClick(viewer._find.field, Qt.Key.Key_Escape)
    assert not viewer._find.isVisible()
    opened(viewer, qtbot, Place(HANDBOOK, 1))
    qtbot.waitUntil(lambda: viewer.pdf.has_picture(1), timeout=15_000)
    viewer._find_words("rescue boat", False)
    qtbot.waitUntil(lambda: [m.page for m in viewer.marked_rects()] == [3], timeout=15_000)


def test_changed_file_is_said(viewer: Viewer, desk: Desk, qtbot: QtBot) -> None:
    path = Path(desk.context.library.document(WEB).path)
    before = path.read_bytes()
    path.write_bytes(b"other")
    try:
        opened(viewer, qtbot, Place(WEB))
        qtbot.waitUntil(viewer.banner.isVisible, timeout=15_000)
    finally:
        path.write_bytes(before)
    assert viewer.banner.text() == "The file has changed since it was read."
    assert "May I moor overnight?" in viewer.text.toPlainText()


def test_gone_pdf_still_shows_its_text(viewer: Viewer, desk: Desk, qtbot: QtBot) -> None:
    path = Path(desk.context.library.document(HANDBOOK).path)
    path.rename(path.with_suffix(".away"))
    try:
        opened(viewer, qtbot, Place(HANDBOOK, 2, (span_of(desk, HANDBOOK, "Each owner"),)))
        qtbot.waitUntil(lambda: viewer.banner.isVisible() and not viewer.shows_pages(), timeout=15_000)
        qtbot.waitUntil(lambda: desk.context.engine.in_flight("view") == 0, timeout=15_000)
    finally:
        path.with_suffix(".away").rename(path)
    assert [s.cursor.selectedText() for s in viewer.text.extraSelections()] == ["Each owner"]
    assert not viewer._open.isEnabled()


def test_unknown_document_is_an_error(viewer: Viewer, qtbot: QtBot) -> None:
    viewer.open(Place(999))
    qtbot.waitUntil(viewer.banner.isVisible, timeout=15_000)
    assert viewer.banner.text() == "Document 999 is not in this library."


def test_newer_document_wins(viewer: Viewer, qtbot: QtBot) -> None:
    viewer.open(Place(WEB))
    opened(viewer, qtbot, Place(LETTER))
    qtbot.wait(100)
    assert "new lamp" in viewer.text.toPlainText()
    assert not viewer.banner.isVisible()


@pytest.mark.parametrize("make", [SearchPage, AskPage, Viewer, WhyPanel])
def test_everything_that_takes_the_focus_has_a_name(make: type[QWidget], desk: Desk, qtbot: QtBot) -> None:
    widget = make(desk.context)  # type: ignore[call-arg]
    qtbot.addWidget(widget)
    widget.show()
    assert nameless(widget) == []


def test_names_are_there_with_everything_open(desk: Desk, qtbot: QtBot) -> None:
    page = AskPage(desk.context)
    qtbot.addWidget(page)
    page.resize(1400, 900)
    page.show()
    page.ask("What are the harbour dues? invent")
    qtbot.waitUntil(lambda: not page._flow.busy, timeout=15_000)
    page.conversation.turns[0].sources.rows[0].ask_why()
    qtbot.waitUntil(lambda: page.why.panel.explanation is not None, timeout=15_000)
    assert len(page.why.panel.details.rows) > 5
    assert nameless(page) == []


def nameless(widget: QWidget) -> list[QWidget]:
    """What takes the focus, is shown, and has neither words nor an accessible name."""
    return [w for w in widget.findChildren(QWidget) if w.isVisibleTo(widget) and _takes_focus(w) and not _name(w)]


def _takes_focus(widget: QWidget) -> bool:
    inner = isinstance(widget.parent(), QLineEdit)
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and not inner and not widget.isWindow()


def _name(widget: QWidget) -> str:
    return widget.accessibleName() or (widget.text() if isinstance(widget, QAbstractButton) else "")
