"""Windows of long texts: bounded, whole, and with marks and positions where they belong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.widgets import page_window
from app.widgets.page_text import TextView, find
from app.widgets.page_window import Window, after, around, before, cut
from core.base.types import Block, BlockKind, Span

LINES = "".join(f"line {n} with some words 🚤 in it\n" for n in range(20_000))


@pytest.fixture
def view(qtbot: QtBot) -> TextView:
    made = TextView("Text")
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab \n", max_size=400), st.integers(0, 400))
def test_windows_cover_the_text_without_gaps(text: str, offset: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_window, "STEP", 40)
        patch.setattr(page_window, "LONGEST_PIECE", 12)
        window = around(text, offset)
        while window.start > 0:
            more = before(text, window)
            assert more.end == window.start > more.start
            window = Window(more.start, window.end)
        while window.end < len(text):
            more = after(text, window)
            assert more.start == window.end < more.end
            window = Window(window.start, more.end)
        pieces = list(cut(text, window))
        assert all(p.end - p.start <= 12 for p in pieces)
        assert all("\n" not in text[p.start : p.end] for p in pieces)
        whole = "".join(text[p.start : p.end] for p in pieces)
        assert whole == text.replace("\n", "")


def test_long_text_opens_at_its_mark_with_a_part_of_it(view: TextView) -> None:
    offset = LINES.index("line 15000 ")
    view.show_text(LINES, (), (Span(offset, offset + 10),))
    shown = view.window_shown
    assert shown.holds(offset)
    assert shown.end - shown.start < 3 * page_window.STEP
    assert [s.cursor.selectedText() for s in view.extraSelections()] == ["line 15000"]
    rect = view.marked_rects()[0]
    assert view.viewport().rect().contains(rect.toRect())


def test_scrolling_loads_more_at_both_ends_and_stays_bounded(view: TextView, qtbot: QtBot) -> None:
    offset = LINES.index("line 10000 ")
    view.show_text(LINES, (), (Span(offset, offset + 10),))
    for end, reached in ((1, lambda: view.window_shown.end == len(LINES)), (0, lambda: view.window_shown.start == 0)):
        for _ in range(60):
            bar = view.verticalScrollBar()
            bar.setValue(bar.maximum() if end else 0)
            qtbot.wait(1)
            assert view.window_shown.end - view.window_shown.start <= page_window.MOST + 2 * page_window.STEP
            if reached():
                break
        assert reached()
        window = view.window_shown
        assert view.toPlainText() == LINES[window.start : window.end].rstrip("\n")


def test_what_is_seen_stays_when_text_is_put_above(view: TextView, qtbot: QtBot) -> None:
    offset = LINES.index("line 10000 ")
    view.show_text(LINES, (), (Span(offset, offset + 10),))
    view.verticalScrollBar().setValue(5)
    seen = view.firstVisibleBlock().text()
    start = view.window_shown.start
    qtbot.waitUntil(lambda: view.window_shown.start < start, timeout=2000)
    assert view.firstVisibleBlock().text() == seen


def test_find_goes_round_and_loads_the_place(view: TextView) -> None:
    view.show_text(LINES, (), ())
    found = view.find_next("LINE 19999 ")
    assert found is not None
    assert LINES[found.start : found.end] == "line 19999 "
    assert view.textCursor().selectedText() == "line 19999 "
    assert view.cursor_offset() == found.end
    again = view.find_next("line 0 ")
    assert again == Span(0, 7)
    assert view.find_next("not in it") is None


def test_find_backwards_takes_the_one_before() -> None:
    text = "one two one two one"
    assert find(text, "one", 12) == Span(16, 19)
    assert find(text, "one", 12, backwards=True) == Span(8, 11)
    assert find(text, "one", 3, backwards=True) == Span(16, 19)
    assert find(text, "", 0) is None


def test_blocks_have_their_looks(view: TextView) -> None:
    text = "Title\nplain words\ncode()"
    blocks = (
        Block(BlockKind.HEADING, 0, 5, level=1),
        Block(BlockKind.PARAGRAPH, 6, 17),
        Block(BlockKind.CODE, 18, 24),
    )
    view.show_text(text, blocks, ())
    fonts = [view.document().findBlockByNumber(n).begin().fragment().charFormat().font() for n in range(3)]
    assert fonts[0].pointSizeF() > fonts[1].pointSizeF()
    assert fonts[2].family() != fonts[1].family()


@pytest.mark.parametrize("text", ["", "\n\n\n", "x" * 30_000, "a\r\nb\x0c\u2029c\0\ud800"])
def test_odd_texts_are_shown(view: TextView, text: str) -> None:
    view.show_text(text, (), (Span(0, len(text)),))
    assert len(view.toPlainText().replace("\n", "")) == len(text.replace("\n", ""))
    view.mark(())
