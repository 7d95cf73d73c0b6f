"""Small parts of the Search page: offsets, snippets, places, filters in words, the flow layout."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.hit_delegate import HitDelegate
from app.widgets.hit_filters import FilterBar, shorten, value_name
from app.widgets.hit_flow import FlowLayout
from app.widgets.hit_model import pages_text, place_of, snippet_of
from app.widgets.page_offsets import Utf16, one_line, shown
from core.base.types import Filters, Hit, Passage, Span


@given(st.text(alphabet="aé港🚤😀\n", max_size=40))
def test_offsets_map_to_utf16_and_back(text: str) -> None:
    units = Utf16(text)
    for offset in range(len(text) + 1):
        expected = len(text[:offset].encode("utf-16-le")) // 2
        assert units.units(offset) == expected
        assert units.offset(expected) == offset


@given(st.text(max_size=60))
def test_shown_text_keeps_its_length_and_its_line_breaks(text: str) -> None:
    made = shown(text)
    assert len(made) == len(text)
    assert [i for i, c in enumerate(made) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]
    assert not set(made) & set("\r\f\v\0\u2029\ufdd0\ufdd1")
    made.encode("utf-8")
    assert len(one_line(text)) == len(text)
    assert "\n" not in one_line(text)


def _hit(text: str, snippet: Span, *spans: Span) -> Hit:
    passage = Passage(1, 1, 0, text, 0, len(text), 3, 4, ("Part", "Chapter"), "en", path="/a/b.pdf", title="Book")
    return Hit(1, passage, 1.0, (), spans, snippet)


def test_snippet_moves_its_marks_along() -> None:
    text = "one two\nthree four five six"
    made, spans = snippet_of(_hit(text, Span(8, 18), Span(4, 7), Span(8, 13), Span(14, 22)))
    assert made == "… three four …"
    assert [made[s.start : s.end] for s in spans] == ["three", "four"]


def test_snippet_without_a_window_is_the_start() -> None:
    made, _ = snippet_of(_hit("x" * 500, Span(0, 0)))
    assert made == "x" * 300 + " …"


def test_place_names_file_pages_and_headings() -> None:
    assert place_of(_hit("t", Span(0, 1)).passage) == "b.pdf  ·  pages 3–4  ·  Part › Chapter"
    inside = replace(_hit("t", Span(0, 1)).passage, path="/a/outer.zip", external_id="mail.eml/inner.pdf")
    assert place_of(inside) == "outer.zip › mail.eml/inner.pdf  ·  pages 3–4  ·  Part › Chapter"
    assert pages_text(3, 3) == "page 3"
    assert pages_text(None, None) == ""


def test_filter_values_in_words() -> None:
    assert value_name("languages", "de") == "German"
    assert value_name("languages", "xx-unknown") == "xx-unknown"
    assert value_name("types", "application/pdf") == "PDF"
    assert value_name("folders", "/home/me/Taxes") == "Taxes"
    assert len(shorten("x" * 100)) <= 42


def test_flow_starts_a_new_line_where_the_room_ends(qtbot: QtBot) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    flow = FlowLayout(holder)
    for _ in range(4):
        label = QLabel("x")
        label.setFixedSize(100, 20)
        flow.addWidget(label)
    assert flow.heightForWidth(1000) == 20
    assert flow.heightForWidth(210) == 20 + 6 + 20
    flow.setGeometry(QRect(0, 0, 210, 60))
    assert flow.itemAt(2).geometry() == QRect(0, 26, 100, 20)


def test_a_menu_left_without_a_choice_leaves_its_chip_unchecked(qtbot: QtBot) -> None:
    bar = FilterBar(lambda: {"types": [("application/pdf", 3)]})
    qtbot.addWidget(bar)
    bar.show()
    bar._chips["types"].click()
    assert not bar._chips["types"].isChecked()
    bar.choose(Filters(types=("application/pdf",)))
    assert bar._chips["types"].isChecked()
    assert not bar._chips["tags"].isVisible()  # this library has none


@pytest.mark.parametrize("blank", [" ", ""])
@pytest.mark.parametrize("width", [200, 320, 900])
def test_the_first_marked_word_is_among_the_lines_shown(qtbot: QtBot, blank: str, width: int) -> None:
    text = blank.join(["ab"] * 60) + " target" + blank.join(["cd"] * 60)
    place = text.index("target")
    made = HitDelegate()._layout(text, [Span(place, place + 6)], QFont(), width, 3)
    last = made.lineAt(made.lineCount() - 1)
    assert "target" in made.text()[: last.textStart() + last.textLength()]
