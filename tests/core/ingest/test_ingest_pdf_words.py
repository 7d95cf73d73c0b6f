"""A page reads the same whether the boxes of its words or of all its characters are asked for; letters in order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from core.ingest.readers.pdf_bidi import reading_order
from core.ingest.readers.pdf_chars import open_pdf
from core.ingest.readers.pdf_pages import Pages
from core.ingest.readers.pdf_text import normalize
from core.ingest.readers.pdf_words import ranges, words

HEIGHT = A4[1]


def test_ranges_of_words() -> None:
    first, last = ranges("  ab c\u00a0d\r\n\u3000efg")
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == [(2, 3), (5, 5), (7, 7), (11, 13)]
    assert [len(found) for found in ranges("")] == [0, 0]


def test_words_lie_around_their_first_and_last_characters() -> None:
    ends = np.array([[[10, 20, 15, 30], [40, 18, 44, 30]], [[50, 20, 50, 20], [50, 20, 50, 20]]], np.float32)
    found = words(np.array([0, 9]), np.array([7, 9]), ends[:, 0], ends[:, 1])
    assert found.first.tolist() == [0]  # the other one has no extent
    assert found.boxes.tolist() == [[10, 18, 44, 30]]
    assert found.size.tolist() == [10]
    assert found.between(0, 9) == slice(0, 1)


@pytest.mark.parametrize("angle", [0, 90])
def test_both_ways_to_read_a_page_agree(tmp_path: Path, angle: int) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=A4, invariant=1)
    canvas.translate(300 if angle else 0, -300 if angle else 0)
    canvas.rotate(angle)
    rows = ("Harbour  Depth of the water   Berths", "Northern pier, well-", "known to all    4 m    11", "x", "a  b")
    for number, row in enumerate(rows):
        canvas.setFont("Helvetica", 9 + number % 3)
        canvas.drawString(330 if angle else 72, HEIGHT - 330 - 14 * number, row)
    canvas.save()
    with open_pdf(tmp_path / "a.pdf") as document:
        few, every = Pages(document).layout(0), Pages(document, every_box=True).layout(0)
    assert few.text == every.text
    assert "Harbour" in few.text
    assert few.paragraphs == every.paragraphs
    assert few.source().tolist() == every.source().tolist()
    assert (len(few.chars.boxes), len(every.chars.boxes)) == (0, len(every.chars.text))


def test_source_follows_what_normalizing_leaves_out() -> None:
    text = "  o\ufb03ce\u00ad  door "
    result, origin = normalize(text)
    assert result == "office door"
    assert origin is not None
    assert "".join(text[i] for i in origin) == "o\ufb03\ufb03\ufb03ce door"
    assert normalize("plain") == ("plain", None)


def test_sign_for_a_whole_word_is_taken_apart_in_order() -> None:
    drawn = " \u064a\u0628\u064a\u0628\u062d"  # a space, then the word from its end
    one_box = np.tile(np.array([10, 10, 20, 20], np.float32), (len(drawn), 1))
    order = reading_order(drawn, one_box)
    assert order is not None
    assert "".join(drawn[i] for i in order) == drawn[::-1]
    to_the_left = one_box - np.arange(len(drawn), dtype=np.float32)[:, None] * 10
    assert reading_order(drawn, to_the_left) is None


def table(path: Path, *rows: tuple[str, ...]) -> str:
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 10)
    for number, row in enumerate(rows):
        for text, x in zip(row, (72, 250, 400), strict=True):
            canvas.drawString(x, HEIGHT - 100 - 14 * number, text)
    canvas.save()
    with open_pdf(path) as document:
        found = Pages(document, every_box=True).layout(0)
    for character, source in zip(found.text, found.source().tolist(), strict=True):
        assert source < 0 or found.chars.text[source] == character
    return found.text


def test_rows_of_a_table_name_their_columns(tmp_path: Path) -> None:
    text = table(tmp_path / "a.pdf", ("Harbour", "Depth", "Fees"), ("North", "4 m", "$ 11"), ("South", "", "$ 7"))
    assert text.split("\n\n") == [
        "Harbour Depth Fees",
        "Harbour: North | Depth: 4 m | Fees: $ 11",
        "Harbour: South | Fees: $ 7",
    ]


def test_columns_of_prose_and_rows_without_a_header_name_nothing(tmp_path: Path) -> None:
    prose = [("The harbour is deep there", "and ships lie in it well", "while the tide is coming")] * 4
    assert "|" not in table(tmp_path / "a.pdf", *prose)
    assert "|" not in table(tmp_path / "b.pdf", ("11", "22", "33"), ("1", "2", "3"), ("4", "5", "6"))
