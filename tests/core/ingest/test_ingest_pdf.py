"""PDF text in reading order with boxes that lie where the ink is; odd files end in a state with a reason."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, NumberObject
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from core.base.errors import KnownError
from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.readers.pdf_page import page_rects, render
from core.ingest.readers.registry import read

WIDTH, HEIGHT = A4


def make(path: Path, *pages: Callable[[Canvas], None], title: str = "", encrypt: str | None = None) -> Path:
    canvas = Canvas(str(path), pagesize=A4, invariant=1, encrypt=encrypt)  # type: ignore[arg-type]
    canvas.setTitle(title)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def lines(
    *texts: str, x: float = 72, y: float = 100, size: float = 11, font: str = "Helvetica"
) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        for number, text in enumerate(texts):
            canvas.setFont(font, size)
            canvas.drawString(x, HEIGHT - y - number * size * 1.25, text)

    return draw


def both(*parts: Callable[[Canvas], None]) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        for part in parts:
            part(canvas)

    return draw


def one(path: Path, limits: Limits | None = None) -> ReadDocument:
    (document,) = read(path, "", limits or Limits())
    for block in document.blocks:
        page = document.pages[(block.page or 0) - 1]
        assert page.start <= block.start < block.end <= page.end
    return document


def texts(document: ReadDocument) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


WRAPPED = (
    "The committee met on the third of May and decided after a long de-",
    "bate that the well-known report of the auditors should be given to",
    "the members.",
)


def test_lines_are_joined_and_broken_words_put_together(tmp_path: Path) -> None:
    path = make(tmp_path / "a.pdf", both(lines(*WRAPPED), lines("A second paragraph stands further down.", y=200)))
    assert texts(one(path)) == [
        "The committee met on the third of May and decided after a long debate that the well-known report of the "
        "auditors should be given to the members.",
        "A second paragraph stands further down.",
    ]


def test_hyphen_of_a_compound_that_stands_elsewhere_is_kept(tmp_path: Path) -> None:
    first = "The plan of the company is a long-term plan, and everybody knows long-"
    path = make(tmp_path / "a.pdf", lines(first, "term plans take their time."))
    assert "knows long-term plans" in one(path).text


def test_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    left = lines("Left column begins with these words", "and it goes on to its very end here.")
    right = lines("Right column has words of its own too", "and ends after them.", x=320)
    assert texts(one(make(tmp_path / "a.pdf", both(left, right)))) == [
        "Left column begins with these words and it goes on to its very end here.",
        "Right column has words of its own too and ends after them.",
    ]


def test_headings_by_size_lists_rows_pages_and_metadata(tmp_path: Path) -> None:
    def second(canvas: Canvas) -> None:
        lines("Costs", size=16)(canvas)
        lines("Rent                    ", y=140)(canvas)
        lines("1,200", x=300, y=140)(canvas)

    first = both(
        lines("Annual report", size=24, y=60), lines("Summary", size=16), lines(*WRAPPED, y=140), lines("1. one", y=220)
    )
    document = one(make(tmp_path / "a.pdf", first, second, title="The title"))
    assert document.title == "The title"
    assert document.created[:4].isdigit()
    kinds = [(block.kind, block.level, block.page, block.heading_path) for block in document.blocks]
    assert kinds == [
        (BlockKind.HEADING, 1, 1, ()),
        (BlockKind.HEADING, 2, 1, ("Annual report",)),
        (BlockKind.PARAGRAPH, 0, 1, ("Annual report", "Summary")),
        (BlockKind.LIST_ITEM, 0, 1, ("Annual report", "Summary")),
        (BlockKind.HEADING, 2, 2, ("Annual report",)),
        (BlockKind.TABLE_ROW, 0, 2, ("Annual report", "Costs")),
    ]
    assert texts(document)[-1] == "Rent 1,200"
    assert len(document.blocks[2].boxes) == 3
    assert [(round(page.width), round(page.height)) for page in document.pages] == [(595, 842)] * 2


def test_outline_names_the_headings(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for number, (title, level) in enumerate([("Part one", 0), ("Point a", 1), ("Part two", 0)]):
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, level)
            lines(title, y=100 + number * 100)(canvas)
            lines("Some words stand below each of them.", y=140 + number * 100)(canvas)

    document = one(make(tmp_path / "a.pdf", draw))
    assert [block.heading_path for block in document.blocks if block.kind is BlockKind.PARAGRAPH] == [
        ("Part one",),
        ("Part one", "Point a"),
        ("Part two",),
    ]


@pytest.mark.parametrize("size", [11, 24])
def test_line_that_is_the_title_is_a_heading(tmp_path: Path, size: float) -> None:
    pages = both(lines("Annual  Report", size=size, y=60), lines(*WRAPPED, y=140)), lines(*WRAPPED, "Annual report")
    document = one(make(tmp_path / "a.pdf", *pages, title="Annual Report"))
    assert [block.kind for block in document.blocks][:2] == [BlockKind.HEADING, BlockKind.PARAGRAPH]
    assert sum(block.kind is BlockKind.HEADING for block in document.blocks) == 1


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [False, True])
def test_boxes_lie_on_the_ink(tmp_path: Path, rotation: int, crop: bool) -> None:
    """A red word among black ones: its rectangle holds all red points of the picture and little else."""

    def draw(canvas: Canvas) -> None:
        lines("Black words above it that are of no interest here.", y=300)(canvas)
        canvas.setFont("Helvetica", 20)
        canvas.drawString(150, HEIGHT - 350, "black")
        canvas.setFillColorRGB(1, 0, 0)
        canvas.drawString(220, HEIGHT - 350, "crimson")
        canvas.setFillColorRGB(0, 0, 0)
        canvas.drawString(310, HEIGHT - 350, "black")

    made = make(tmp_path / "made.pdf", lines("A page before."), draw)
    writer = PdfWriter(clone_from=str(made))
    if crop:
        writer.pages[1].cropbox.lower_left, writer.pages[1].cropbox.upper_right = (50, 300), (550, 700)
    writer.pages[1][NameObject("/Rotate")] = NumberObject(rotation)
    path = tmp_path / "a.pdf"
    writer.write(path)

    document = one(path)
    start = document.text.index("crimson") - document.pages[1].start
    (rect,) = page_rects(path, 2, 2.0, [(start, start + len("crimson"))])
    data, width, height = render(path, 2, 2.0)
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    assert (width, height) == (pixels.shape[1], pixels.shape[0])
    assert (round(document.pages[1].width * 2), round(document.pages[1].height * 2)) == (width, height)
    red = (pixels[..., 0] > 150) & (pixels[..., 1] < 120)
    ys, xs = np.nonzero(red)
    left, top, right, bottom = rect
    assert len(xs) > 100
    assert left - 2 <= xs.min()
    assert xs.max() <= right + 2
    assert top - 2 <= ys.min()
    assert ys.max() <= bottom + 2
    assert (right - left) * (bottom - top) < 6 * (xs.max() - xs.min()) * (ys.max() - ys.min())


def test_span_over_two_lines_has_a_rectangle_a_line(tmp_path: Path) -> None:
    path = make(tmp_path / "a.pdf", lines(*WRAPPED))
    text = one(path).text
    start = text.index("long debate")
    rects = page_rects(path, 1, 1.0, [(start, start + len("long debate that"))])
    assert len(rects) == 2
    assert rects[0][1] < rects[1][1]
    assert rects[0][0] > rects[1][0]


def test_ligatures_and_form_fields_are_searchable(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        lines("A form to fill in.")(canvas)
        canvas.acroForm.textfield(name="name", value="Filled by Ann", x=72, y=500, width=200, height=20)

    path = make(tmp_path / "a.pdf", draw)
    document = one(path)
    assert "Filled by Ann" in document.text
    start = document.text.index("Filled")
    (rect,) = page_rects(path, 1, 1.0, [(start, start + 6)])
    assert HEIGHT - 520 <= rect[1] < rect[3] <= HEIGHT - 495


class TestStates:
    def test_empty_password_opens_and_others_lock(self, tmp_path: Path) -> None:
        from reportlab.lib.pdfencrypt import StandardEncryption

        owner = StandardEncryption("", ownerPassword="owner", canCopy=0)
        opened = make(tmp_path / "owner.pdf", lines("May be read."), encrypt=owner)  # type: ignore[arg-type]
        assert one(opened).text == "May be read."
        locked = one(make(tmp_path / "user.pdf", lines("Hidden."), encrypt="secret"))
        assert (locked.state, locked.text) == (DocumentState.LOCKED, "")
        with pytest.raises(KnownError):
            render(tmp_path / "user.pdf", 1, 1.0)

    def test_scan_and_partly_scanned(self, tmp_path: Path) -> None:
        picture = ImageReader(Image.new("RGB", (60, 80), "gray"))

        def scan(canvas: Canvas) -> None:
            canvas.drawImage(picture, 0, 0, WIDTH, HEIGHT)

        without = Limits(ocr=False)
        whole = one(make(tmp_path / "scan.pdf", scan, scan), without)
        assert (whole.state, "switched off" in whole.reason) == (DocumentState.SCANNED, True)
        partly = one(make(tmp_path / "partly.pdf", lines("Words."), scan, lines("More.")), without)
        assert (partly.state, "switched off" in partly.reason) == (DocumentState.TRUNCATED, True)
        assert partly.warnings[0].startswith("Page 2 without text")

    def test_blank_pages_are_empty(self, tmp_path: Path) -> None:
        document = one(make(tmp_path / "blank.pdf", lambda canvas: None))
        assert (document.state, len(document.pages)) == (DocumentState.EMPTY, 1)

    def test_cut_off_file_is_read_or_broken(self, tmp_path: Path) -> None:
        data = make(tmp_path / "whole.pdf", lines(*WRAPPED)).read_bytes()
        seen = set()
        for share in (0.2, 0.5, 0.8, 0.95):
            path = tmp_path / "cut.pdf"
            path.write_bytes(data[: int(len(data) * share)])
            document = one(path)
            seen.add(document.state)
            assert document.state == DocumentState.READ or document.reason
        assert seen <= {DocumentState.READ, DocumentState.BROKEN, DocumentState.EMPTY}

    def test_text_beyond_the_limit_is_cut_and_told(self, tmp_path: Path) -> None:
        path = make(tmp_path / "long.pdf", *[lines(*WRAPPED)] * 20)
        document = one(path, Limits(output_characters=1000))
        assert (document.state, len(document.text)) == (DocumentState.TRUNCATED, 1000)

    def test_second_reader_takes_what_the_first_cannot_open(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from core.ingest.readers import pdf_fallback

        path = make(tmp_path / "a.pdf", lines(*WRAPPED), title="Kept")
        document = pdf_fallback.read(path, Limits(), lambda: None)
        assert document.title == "Kept"
        assert "report of the auditors" in document.text
        assert "second reader" in document.warnings[0]
        assert len(PdfReader(path).pages) == len(document.pages) == 1
        assert "auditors" in pdf_fallback.page_text(path, 0)

    def test_page_that_is_not_there_is_a_known_error(self, tmp_path: Path) -> None:
        path = make(tmp_path / "a.pdf", lines("One."))
        with pytest.raises(KnownError):
            render(path, 2, 1.0)
        assert page_rects(path, 2, 1.0, [(0, 3)]) == []

    def test_huge_page_is_drawn_smaller(self, tmp_path: Path) -> None:
        canvas = Canvas(str(tmp_path / "huge.pdf"), pagesize=(14_000, 14_000))
        canvas.setFont("Helvetica", 500)
        canvas.drawString(5000, 5000, "wide")
        canvas.save()
        _, width, height = render(tmp_path / "huge.pdf", 1, 3.0)
        assert width * height <= 41_000_000
        (rect,) = page_rects(tmp_path / "huge.pdf", 1, 3.0, [(0, 4)])
        assert rect[2] <= width
