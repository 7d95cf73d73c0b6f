"""Text in pictures, read by the real engine from pictures drawn here: whichever way up, in PDFs and images."""

from __future__ import annotations

import io
import json
import os
import socket
import time
from pathlib import Path

import numpy as np
import pytest
import reportlab
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from core.base.events import Control
from core.base.types import Block, BlockKind, Box, DocumentState, ReadDocument
from core.ingest import ocr, ocr_cache
from core.ingest.limits import Limits, no_tick
from core.ingest.ocr_order import in_order
from core.ingest.readers import image, pdf_ocr
from core.ingest.readers.block_marks import block_rects
from core.ingest.readers.picture import Pictures, joined, page_list
from core.ingest.readers.registry import read
from core.ingest.reading import Read, cache_of, read_file
from core.ingest.sandbox import Sandbox
from core.ingest.scan import FoundFile

FONT = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"
WORDS = ["The heron stands in the shallow water", "and waits for a fish to come near."]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def drawn(lines: list[str], size: tuple[int, int] = (760, 200), x: int = 40, y: int = 50) -> Image.Image:
    picture = Image.new("RGB", size, "white")
    font = ImageFont.truetype(str(FONT), 28)
    for number, line in enumerate(lines):
        ImageDraw.Draw(picture).text((x, y + 44 * number), line, "black", font)
    return picture


def one(path: Path, limits: Limits | None = None) -> ReadDocument:
    (document,) = read(path, "", limits or Limits())
    return document


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_whichever_way_up(turns: int) -> None:
    upright = np.asarray(drawn(WORDS))
    pixels = np.ascontiguousarray(np.rot90(upright, turns))
    lines = ocr.read_picture(pixels, Limits(), no_tick)
    assert [line.text for line in lines] == WORDS
    for line in lines:  # each box holds the ink of its line
        box = pixels[int(line.top) : int(line.bottom), int(line.left) : int(line.right)]
        assert (box < 128).any()
        assert line.score > 0.8
    empty = pixels.copy()
    for line in lines:
        empty[int(line.top) - 2 : int(line.bottom) + 3, int(line.left) - 2 : int(line.right) + 3] = 255
    assert (empty > 128).all()


def test_a_small_line_on_a_large_empty_page_is_found() -> None:
    page = Image.new("RGB", (1654, 2339), "white")
    ImageDraw.Draw(page).text((180, 60), "Peněžní prostředky", "black", ImageFont.truetype(str(FONT), 22))
    found = ocr.read_picture(np.asarray(page), Limits(), no_tick)
    assert "prost" in " ".join(line.text for line in found)


def test_pictures_without_text() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (200, 300, 3)).astype(np.uint8)
    for pixels in (np.full((300, 200, 3), 255, np.uint8), noise, np.zeros((4, 900, 3), np.uint8)):
        assert ocr.read_picture(pixels, Limits(), no_tick) == []


class TestOrder:
    @staticmethod
    def order(*boxes: tuple[float, float, float, float]) -> list[tuple[int, int, bool]]:
        return list(in_order(np.array(boxes, np.float32), ["words that go on"] * len(boxes)))

    def test_columns_between_a_title_and_a_footer(self) -> None:
        left = [(0.0, 30.0 + 12 * n, 100.0, 40.0 + 12 * n) for n in range(4)]
        right = [(120.0, 30.0 + 12 * n, 220.0, 40.0 + 12 * n) for n in range(4)]
        rows = [box for pair in zip(left, right, strict=True) for box in pair]
        found = self.order((20.0, 0.0, 200.0, 12.0), *rows, (60.0, 95.0, 160.0, 105.0))
        assert [index for index, _, _ in found] == [0, 1, 3, 5, 7, 2, 4, 6, 8, 9]
        assert not any(in_row for _, _, in_row in found)

    def test_cells_of_a_table_are_read_across(self) -> None:
        cells = [(80.0 * c, 20.0 * r, 80.0 * c + 30, 20.0 * r + 10) for r in range(4) for c in range(3)]
        found = self.order(*cells)
        assert [index for index, _, _ in found] == list(range(12))
        assert [number for _, number, _ in found] == [n // 3 for n in range(12)]
        assert all(in_row for _, _, in_row in found)

    def test_no_lines(self) -> None:
        assert list(in_order(np.zeros((0, 4), np.float32), [])) == []

    def test_words_broken_at_line_ends(self) -> None:
        assert joined(["a compe-", "tition of", "Anglo-", "Saxons"]) == "a competition of Anglo- Saxons"
        assert joined(["元来日本語は", "漢文に倣い"]) == "元来日本語は漢文に倣い"

    def test_lists_of_pages(self) -> None:
        assert page_list([4]) == "Page 4"
        assert page_list([1, 3, 4, 5, 9]) == "Pages 1, 3-5, 9"
        assert page_list(range(1, 101, 2)).endswith("39 and 30 more")


class TestCache:
    def test_a_picture_is_read_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pixels = np.asarray(drawn(WORDS[:1]))
        limits = Limits(cache=str(tmp_path / "cache"))
        first = ocr.read_picture(pixels, limits, no_tick)
        monkeypatch.setattr(ocr, "engine", lambda: pytest.fail("read again"))
        again = ocr.read_picture(pixels, limits, no_tick)
        assert [(x.text, x.score, round(x.left, 1)) for x in first] == [(x.text, x.score, x.left) for x in again]

    def test_damaged_and_unwritable_caches_do_no_harm(self, tmp_path: Path) -> None:
        pixels = np.zeros((20, 20, 3), np.uint8)
        cache = ocr_cache.Cache(str(tmp_path / "cache"), "1")
        cache.put(pixels, [["words"]])
        assert cache.get(pixels) == [["words"]]
        assert ocr_cache.Cache(str(tmp_path / "cache"), "2").get(pixels) is None  # another engine
        (file,) = (tmp_path / "cache").iterdir()
        file.write_bytes(b"[[")
        assert cache.get(pixels) is None
        (tmp_path / "file").write_text("")
        ocr_cache.Cache(str(tmp_path / "file"), "1").put(pixels, [])

    def test_what_is_not_used_any_more_is_deleted(self, tmp_path: Path) -> None:
        cache = ocr_cache.Cache(str(tmp_path / "cache"), "1")
        old, used = np.zeros((20, 20, 3), np.uint8), np.ones((20, 20, 3), np.uint8)
        cache.put(old, [["old"]])
        cache.put(used, [["used"]])
        for file in (tmp_path / "cache").iterdir():
            os.utime(file, (1e9, 1e9))
        begun = time.time()
        assert cache.get(used)
        ocr_cache.sweep(str(tmp_path / "cache"), begun)
        (file,) = (tmp_path / "cache").iterdir()
        assert json.loads(file.read_text()) == [["used"]]
        ocr_cache.sweep(str(tmp_path / "cache"), begun + 1e6)
        assert not (tmp_path / "cache").exists()
        ocr_cache.sweep(str(tmp_path / "cache"), begun)


class TestPdf:
    @staticmethod
    def page(canvas: Canvas, picture: Image.Image | None, text: str = "") -> None:
        if picture is not None:
            canvas.drawImage(ImageReader(picture), 100, 500, picture.width / 2, picture.height / 2)
        canvas.drawString(100, 400, text)
        canvas.showPage()

    def test_pages_are_read_as_they_need_it(self, tmp_path: Path) -> None:
        path = tmp_path / "mixed.pdf"
        canvas = Canvas(str(path))
        good = "These words stand in the text layer of the page and are good, whatever its picture shows to the reader."
        self.page(canvas, None, good)
        self.page(canvas, drawn(WORDS))
        self.page(canvas, drawn(WORDS), good)
        canvas.save()
        steps: list[str] = []

        class Heard:
            def __call__(self) -> None: ...

            def step(self, detail: str) -> None:
                steps.append(detail)

        (document,) = read(path, "", Limits(), Heard())
        assert document.state == DocumentState.READ
        assert document.ocr_pages == (2,)
        assert document.warnings == ("Page 2 was read from its picture (OCR).",)
        assert steps == ["page 2 of 3 read from its picture"]
        page = document.pages[1]
        assert document.text[page.start : page.end] == " ".join(WORDS)
        (block,) = [block for block in document.blocks if block.page == 2]
        assert len(block.boxes) == 2
        assert 110 < block.boxes[0].left < 130
        height = page.height - 600  # the picture's top
        assert height + 15 < block.boxes[0].top < block.boxes[0].bottom < height + 50

        cut = one(path, Limits(ocr_pages=0))
        assert (cut.state, cut.ocr_pages) == (DocumentState.TRUNCATED, ())
        assert "up to 0" in cut.reason

    def test_a_picture_of_hostile_size_is_not_drawn(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "giant.pdf"
        canvas = Canvas(str(path))
        self.page(canvas, drawn(WORDS))
        canvas.save()
        monkeypatch.setattr(pdf_ocr, "_MOST_PIXELS", 1000)
        monkeypatch.setattr(pdf_ocr, "draw", lambda *_: pytest.fail("it was drawn"))
        document = one(path)
        assert document.state == DocumentState.SCANNED
        assert document.warnings == ("Page 1 was not read from its picture: it is too large.",)

    def test_without_the_engine(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "scan.pdf"
        canvas = Canvas(str(path))
        self.page(canvas, drawn(WORDS))
        canvas.save()
        monkeypatch.setattr(ocr, "available", lambda: False)
        document = one(path)
        assert document.state == DocumentState.SCANNED
        assert "not installed" in document.reason

    def test_scripts_that_the_engine_does_not_know(self) -> None:
        pictures = Pictures(Limits(), no_tick)
        assert pictures.unknown_script("Все люди рождаются свободными") == "Cyrillic"
        assert pictures.unknown_script("يولد جميع الناس أحرارًا") == "Arabic"
        assert pictures.unknown_script("", "ko-KR") == "Korean"
        for known in ("Všichni lidé", "人人生而自由", "すべての人間は", "Όλοι οι άνθρωποι", ""):
            assert pictures.unknown_script(known, "de") == ""


class TestImage:
    @pytest.mark.parametrize("kind", ["png", "jpg", "gif", "bmp", "webp", "jp2"])
    def test_kinds(self, tmp_path: Path, kind: str) -> None:
        drawn(WORDS[:1]).save(tmp_path / f"a.{kind}")
        document = one(tmp_path / f"a.{kind}")
        assert (document.state, document.text, document.ocr_pages) == (DocumentState.READ, WORDS[0], (1,))
        assert (document.pages[0].width, document.pages[0].height) == (760, 200)

    def test_pages_details_and_the_way_it_was_held(self, tmp_path: Path) -> None:
        path = tmp_path / "scan.tiff"
        first, second = drawn(WORDS[:1]).convert("L"), drawn(WORDS[1:]).rotate(90, expand=True)
        exif = Image.Exif()
        exif[0x010E], exif[0x013B], exif[0x0132] = "A heron", "Ada", "2021:05:04 10:11:12"
        first.save(path, save_all=True, append_images=[second], exif=exif)
        document = one(path)
        assert [document.text[p.start : p.end] for p in document.pages] == WORDS
        assert (document.title, document.author, document.modified) == ("A heron", "Ada", "2021-05-04T10:11:12")
        held = Image.Exif()
        held[0x0112] = 6  # to be turned to the right
        drawn(WORDS[:1]).rotate(90, expand=True).save(tmp_path / "held.jpg", exif=held)
        turned = one(tmp_path / "held.jpg")
        assert (turned.pages[0].width, turned.pages[0].height) == (760, 200)
        assert turned.blocks[0].boxes[0].right - turned.blocks[0].boxes[0].left > 400

    def test_ends_without_text(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        Image.new("RGB", (200, 100), "white").save(tmp_path / "blank.png")
        assert one(tmp_path / "blank.png").state == DocumentState.EMPTY
        assert one(tmp_path / "blank.png").reason == "No text was found in the picture."
        assert one(tmp_path / "blank.png", Limits(ocr=False)).state == DocumentState.SCANNED
        data = io.BytesIO()
        drawn(WORDS).save(data, "PNG")
        (tmp_path / "cut.png").write_bytes(data.getvalue()[:2000])
        assert one(tmp_path / "cut.png").state == DocumentState.BROKEN
        monkeypatch.setattr(image, "_MOST_PIXELS", 10_000)
        Image.new("1", (120, 120)).save(tmp_path / "bomb.png")
        assert one(tmp_path / "bomb.png").state == DocumentState.TOO_LARGE


def test_the_reading_child_tells_of_each_page_and_keeps_what_it_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tiff"
    drawn(WORDS[:1]).save(path, save_all=True, append_images=[drawn(WORDS[1:])])
    status = path.stat()
    file = FoundFile(path, str(path), 1, status.st_size, status.st_mtime_ns)
    limits = Limits(cache=str(tmp_path / "cache"))
    told: list[str] = []
    with Sandbox(limits) as sandbox:
        items = list(read_file(file, sandbox, limits, Control(), told=told.append))
    (document,) = [item.document for item in items if isinstance(item, Read)]
    assert (document.state, document.ocr_pages) == (DocumentState.READ, (1, 2))
    assert told == ["page 1 of 2 read from its picture", "page 2 of 2 read from its picture"]
    assert len(list(Path(cache_of(limits.cache, file.text)).iterdir())) == 2


class TestMarks:
    BLOCK = Block(BlockKind.PARAGRAPH, 10, 30, 2, (), (Box(0, 0, 100, 10), Box(0, 12, 100, 22)))

    def test_parts_of_lines(self) -> None:
        assert block_rects([self.BLOCK], 2, [(10, 15)], 2.0) == [(0.0, 0.0, 100.0, 20.0)]
        assert block_rects([self.BLOCK], 2, [(15, 25)], 1.0) == [(50.0, 0.0, 100.0, 10.0), (0.0, 12.0, 50.0, 22.0)]
        assert block_rects([self.BLOCK], 1, [(10, 15)], 1.0) == []
        assert block_rects([self.BLOCK], 2, [(30, 40)], 1.0) == []

    def test_columns_of_japanese(self) -> None:
        block = Block(BlockKind.PARAGRAPH, 0, 10, 1, (), (Box(20, 0, 30, 100), Box(5, 0, 15, 100)))
        assert block_rects([block], 1, [(0, 5)], 1.0) == [(20.0, 0.0, 30.0, 100.0)]
        assert block_rects([block], 1, [(7, 10)], 1.0) == [(5.0, 40.0, 15.0, 100.0)]
