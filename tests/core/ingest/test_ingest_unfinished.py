"""A scan with many pages does not hold up the others: its pages are read from their pictures bit by bit."""

import pytest
from PIL import Image, ImageDraw, ImageFont

from core.base.events import Control, ignore
from core.base.types import DocumentState
from core.ingest import ocr
from core.ingest.limits import Limits
from core.ingest.readers import registry
from core.library import Library
from core.worker.ingesting import ingest

WORDS = ("HARBOUR", "TELESCOPE", "INVOICE")

pytestmark = pytest.mark.skipif(not ocr.available(), reason="text in pictures cannot be read here")


@pytest.fixture
def scan(tmp_path):
    """A PDF of three pages, each the picture of one word."""
    pages = []
    for word in WORDS:
        page = Image.new("RGB", (700, 300), "white")
        ImageDraw.Draw(page).text((60, 100), word, "black", font=ImageFont.load_default(90))
        pages.append(page)
    folder = tmp_path / "docs"
    folder.mkdir()
    pages[0].save(folder / "scan.pdf", save_all=True, append_images=pages[1:], resolution=100)
    return folder / "scan.pdf"


def test_when_the_time_is_spent_the_other_pages_wait(scan, tmp_path):
    limits = Limits(ocr_seconds=0.001, cache=str(tmp_path / "cache"))
    states, pages = [], []
    for _ in WORDS:
        (read,) = registry.read(scan, "", limits)
        states.append(read.state)
        pages.append(read.ocr_pages)
    assert states == [DocumentState.UNFINISHED, DocumentState.UNFINISHED, DocumentState.READ]
    assert pages == [(1,), (1, 2), (1, 2, 3)]
    assert all(word in read.text for word in WORDS)


def test_a_library_goes_on_until_every_page_is_read(scan, tmp_path, tiny_encoder, monkeypatch):
    monkeypatch.setattr("core.ingest.pipeline._PATIENT_SECONDS", 0.001)
    seen = []
    report = ingest(
        tmp_path / "library", [scan.parent], control=Control(), listener=ignore, encoder=tiny_encoder,
        limits=Limits(ocr_seconds=0.001),
    )  # fmt: skip
    assert report.failed == ()
    reader = Library.open(tmp_path / "library")
    (document,) = reader.documents()
    text, _, _ = reader.document_text(document.id)
    seen = [word for word in WORDS if word in text]
    reader.close()
    assert (document.state, document.ocr_pages, seen) == (DocumentState.READ, (1, 2, 3), list(WORDS))
