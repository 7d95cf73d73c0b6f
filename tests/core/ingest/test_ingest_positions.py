"""Where passages stand in sheets, slides and lists."""

from __future__ import annotations

import pytest

from core.base.types import Block, BlockKind, Page, ReadDocument
from core.ingest.positions import Positions, span


@pytest.mark.parametrize(
    ("first", "last", "both"),
    [
        ("B2:F2", "B9:F9", "B2:F9"), ("B2", "B2", "B2"), ("A1", "AB12", "A1:AB12"), ("Z9:AA10", "C3", "C3:AA10"),
        ("line 120", "line 180", "line 120"), ("row 3", "row 9", "row 3"),
    ],
)  # fmt: skip
def test_a_range_of_cells_spans_both_other_places_name_the_first(first: str, last: str, both: str) -> None:
    assert span(first, last) == both


def document() -> ReadDocument:
    """Two sheets with two rows each; a passage may begin in the gap between blocks."""
    text = "a | b\n\nc | d\n\ne | f\n\ng | h"
    rows = [(0, 5, "A1:B1"), (7, 12, "A2:B2"), (14, 19, "A1:B1"), (21, 26, "A7:B7")]
    blocks = tuple(Block(BlockKind.TABLE_ROW, a, b, place=place) for a, b, place in rows)
    return ReadDocument(text, (Page(1, 0, 12, label="Q3"), Page(2, 14, 26, label="Q4")), blocks)


def test_place_names_the_page_and_the_cells() -> None:
    positions = Positions(document())
    assert positions.of(0, 12) == "Q3 · A1:B2"
    assert positions.of(14, 19) == "Q4 · A1:B1"
    assert positions.of(15, 26) == "Q4 · A1:B7"
    assert positions.of(22, 25) == "Q4 · A7:B7"


def test_nothing_is_said_where_nothing_is_named() -> None:
    plain = ReadDocument("text", (Page(1, 0, 4),), (Block(BlockKind.PARAGRAPH, 0, 4),))
    assert Positions(plain).of(0, 4) == ""
    assert Positions(ReadDocument("text")).of(0, 4) == ""
