"""Running headers and footers stay out of a PDF's text; nothing that is said on a page does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from core.base.types import ReadDocument
from core.ingest.limits import Limits
from core.ingest.readers.pdf_page import page_rects
from core.ingest.readers.registry import read

WIDTH, HEIGHT = A4
Draw = Callable[[Canvas, int], None]
NUMBERS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def at(text: str, y: float, x: float = 72, size: float = 10, font: str = "Helvetica") -> Draw:
    """Draws `text` with its base line `y` points from the top; `{n}` is the number of the page."""

    def draw(canvas: Canvas, number: int) -> None:
        canvas.setFont(font, size)
        canvas.drawString(x, HEIGHT - y, text.format(n=number))

    return draw


def body(canvas: Canvas, number: int) -> None:
    for line in range(8):
        words = f"The {NUMBERS[number - 1]} page says in its {NUMBERS[line]} line what nobody has said before it."
        at(words, 100 + 13 * line, size=11)(canvas, number)


def document(path: Path, count: int, *draws: Draw) -> ReadDocument:
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    for number in range(1, count + 1):
        for draw in draws:
            draw(canvas, number)
        canvas.showPage()
    canvas.save()
    (found,) = read(path, "", Limits())
    return found


def every(pages: Sequence[int], draw: Draw) -> Draw:
    return lambda canvas, number: draw(canvas, number) if number in pages else None


@pytest.mark.parametrize("count", [3, 6, 10])
def test_header_and_footer_with_a_number_are_left_out(tmp_path: Path, count: int) -> None:
    parts = at("Harbour Office | Tide tables", 40), at("Harbour Office | Tide tables   {n}", 800), body
    plain = document(tmp_path / "plain.pdf", count, body)
    found = document(tmp_path / "a.pdf", count, *parts)
    assert found.text == plain.text
    assert len(found.pages) == count


def test_two_pages_keep_all(tmp_path: Path) -> None:
    assert document(tmp_path / "a.pdf", 2, at("Tide tables {n}", 40), body).text.count("Tide tables") == 2


def test_page_numbers_alone_are_left_out(tmp_path: Path) -> None:
    plain = document(tmp_path / "plain.pdf", 5, body)
    assert document(tmp_path / "a.pdf", 5, body, at("{n}", 810, x=300)).text == plain.text
    assert document(tmp_path / "b.pdf", 5, body, at("Page {n} of 5", 40, font="Helvetica-Bold")).text == plain.text


def test_roman_page_numbers_are_left_out(tmp_path: Path) -> None:
    numbers = [every([i], at(roman, 810)) for i, roman in enumerate(("i", "ii", "iii", "iv", "v"), 1)]
    assert document(tmp_path / "a.pdf", 5, body, *numbers).text == document(tmp_path / "b.pdf", 5, body).text


def test_left_and_right_pages_differ(tmp_path: Path) -> None:
    left = every((2, 4, 6, 8), at("{n}   Tide tables", 40))
    right = every((1, 3, 5, 7), at("The northern harbours   {n}", 40, x=380))
    found = document(tmp_path / "a.pdf", 8, left, right, body)
    assert found.text == document(tmp_path / "plain.pdf", 8, body).text


def test_title_page_without_the_header_and_chapters_of_a_book(tmp_path: Path) -> None:
    first = every(range(2, 6), at("On tides", 40))
    second = every(range(6, 11), at("On winds", 40))
    assert "On " not in document(tmp_path / "a.pdf", 10, first, second, body).text


def test_header_row_of_a_table_on_each_page_is_kept(tmp_path: Path) -> None:
    def table(canvas: Canvas, number: int) -> None:
        at("Harbour", 60)(canvas, number)
        at("Depth", 60, x=250)(canvas, number)
        at("Berths", 60, x=400)(canvas, number)
        for row in range(20):
            at(f"{NUMBERS[number - 1]} {NUMBERS[row % 10]}", 76 + 16 * row)(canvas, number)
            at(f"{row * 7 % 9} m", 76 + 16 * row, x=250)(canvas, number)
            at(f"{row * 5 % 11}", 76 + 16 * row, x=400)(canvas, number)

    found = document(tmp_path / "a.pdf", 6, at("Harbour Office", 30), table, at("{n}", 810))
    assert found.text.count("Harbour Depth Berths") == 6
    assert "Harbour Office" not in found.text


@pytest.mark.parametrize("gap", [16, 24, 36])
def test_widely_set_table_keeps_its_header_row(tmp_path: Path, gap: float) -> None:
    def table(canvas: Canvas, number: int) -> None:
        at("Harbour and the names of all its piers", 60)(canvas, number)
        for row in range(15):
            at(f"{NUMBERS[number - 1]} {NUMBERS[row % 10]} pier", 60 + gap * (row + 1))(canvas, number)

    assert document(tmp_path / "a.pdf", 4, table).text.count("names of all its piers") == 4


def test_headings_that_count_and_titles_that_repeat_are_kept(tmp_path: Path) -> None:
    days = document(tmp_path / "days.pdf", 5, at("Day {n}", 60), body)
    assert all(f"Day {n}" in days.text for n in range(1, 6))
    large = document(tmp_path / "large.pdf", 5, at("Results of the trial", 60, size=18), body)
    assert large.text.count("Results of the trial") == 5


def test_numbers_that_do_not_count_pages_are_kept(tmp_path: Path) -> None:
    sums = [every([i], at(f"Sum of the page {amount}", 810)) for i, amount in enumerate((120, 75, 310, 42), 1)]
    found = document(tmp_path / "a.pdf", 4, body, *sums)
    assert all(amount in found.text for amount in ("120", "75", "310", "42"))


def test_pages_with_nothing_else_keep_their_line(tmp_path: Path) -> None:
    assert document(tmp_path / "a.pdf", 4, at("Left blank for notes", 40)).text.count("Left blank") == 4


def test_signs_like_those_of_a_number_are_only_text(tmp_path: Path) -> None:
    signs = [every([i], at(text, 810)) for i, text in enumerate(("# 1", "2 2", "# #", "4 #"), 1)]
    assert document(tmp_path / "a.pdf", 4, body, *signs).text.endswith("4 #")


def test_same_words_elsewhere_on_the_page_are_kept(tmp_path: Path) -> None:
    def said(canvas: Canvas, number: int) -> None:
        at("Harbour Office", 300 + 20 * number)(canvas, number)

    assert document(tmp_path / "a.pdf", 5, at("Harbour Office", 40), body, said).text.count("Harbour Office") == 5


@pytest.mark.parametrize("asked", [(1, 2, 3, 4, 5, 6), (6, 3, 1)])
def test_marks_lie_on_the_words_whatever_page_is_asked_first(tmp_path: Path, asked: Sequence[int]) -> None:
    path = tmp_path / "a.pdf"
    found = document(path, 6, at("Harbour Office | Tide tables {n}", 40), body, at("{n}", 800))
    for number in asked:
        start = found.text.index(f"{NUMBERS[number - 1]} page says") - found.pages[number - 1].start
        (rect,) = page_rects(path, number, 1.0, [(start, start + len(NUMBERS[number - 1]))])
        assert 70 < rect[0] < rect[2] < 150
        assert 88 < rect[1] < 100 < rect[3] < 105


def test_cut_off_text_is_marked_like_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    whole = document(path, 8, at("Tide tables {n}", 40), body)
    (cut,) = read(path, "", Limits(output_characters=len(whole.text) // 4))
    assert whole.text.startswith(cut.text)
