"""The chips of what was understood: their words, and the text that is left."""

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.widgets.hit_flow import FlowLayout
from app.widgets.hit_understood import UnderstoodBar, meaning, without
from core.base.types import Filters, Span
from core.search import syntax


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        ('"annual report"', "With these words side by side: annual report"),
        ('-"old plan"', "Without these words side by side: old plan"),
        ("-draft", "Without this word: draft"),
        ("-http:draft", "Without this word: http:draft"),
        ("folder:Taxes", "In this folder: Taxes"),
        ('-title:"big cat"', "Title without: big cat"),
        ("before:2024-03", "Of this date or earlier: 2024-03"),
    ],
)
def test_pieces_in_plain_words(piece: str, said: str) -> None:
    assert meaning(piece) == said


def test_every_field_of_the_syntax_has_words() -> None:
    values = {"lang": "de", "language": "de", "before": "2024", "after": "2024", "type": "pdf"}
    for field in syntax._FIELDS:
        (piece,) = syntax.parse(f"x {field}:{values.get(field, 'value')}").understood
        assert not meaning(piece).startswith("Without this word"), field


@pytest.mark.parametrize("text", ['a "b c" d', "a -bee", "type:pdf  a", "東京「大学」の歴史", 'x in:"my files", y'])
def test_a_piece_that_is_taken_out_is_no_longer_understood(text: str) -> None:
    parsed = syntax.parse(text)
    rest = without(text, parsed.places[0])
    assert syntax.parse(rest).understood == parsed.understood[1:]
    assert rest == rest.strip()


def test_long_and_foreign_pieces_stay_one_chip(qtbot: QtBot) -> None:
    bar = UnderstoodBar()
    qtbot.addWidget(bar)
    long = '"' + "very long " * 30 + '"'
    bar.tell(long, (long, '"& שלום"'), (Span(0, 5), Span(6, 9)))
    first, second = bar.chips
    assert first.sizeHint().width() < 500
    assert "&&" in second.text()
    assert "very long " * 30 in first.toolTip()
    bar.clear()
    assert not bar.chips
    assert not bar.isVisible()


def test_what_is_wider_than_a_line_wraps_within_itself(qtbot: QtBot) -> None:
    from app.widgets.hit_filters import FilterBar

    holder = QWidget()
    qtbot.addWidget(holder)
    flow = FlowLayout(holder)
    bar = FilterBar(lambda: {})
    flow.addWidget(bar)
    bar.set_filters(Filters(types=("application/pdf",)))
    wide = flow.heightForWidth(2000)
    assert flow.heightForWidth(bar.sizeHint().width() // 2) > wide
