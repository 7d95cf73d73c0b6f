"""Pages read from their picture: switched off and on again, shown with marks where the words are."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import reportlab
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from core.base.events import Control, ignore
from core.base.types import DocumentState
from core.encode.encoder import Encoder
from core.ingest.limits import Limits
from core.library import Library
from core.worker import ingesting
from core.worker.protocol import Request
from core.worker.roles.view import ViewRole
from core.worker.server import Call

WORDS = "The heron stands in the shallow water"
WANTED = "shallow"


def drawn() -> Image.Image:
    font = ImageFont.truetype(str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"), 28)
    picture = Image.new("RGB", (700, 160), "white")
    ImageDraw.Draw(picture).text((40, 60), WORDS, "black", font)
    return picture


def test_pictures_are_read_when_wished_and_shown_with_marks(
    tmp_path: Path, tmp_library: Path, tiny_encoder: Encoder
) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    drawn().save(folder / "photo.png")
    canvas = Canvas(str(folder / "scan.pdf"))
    canvas.drawImage(ImageReader(drawn()), 100, 500, 350, 80)
    canvas.save()

    def run(*paths: Path, ocr: bool, retry: bool) -> None:
        ingesting.ingest(
            tmp_library, paths, retry=retry, limits=Limits(ocr=ocr),
            control=Control(), listener=ignore, encoder=tiny_encoder,
        )  # fmt: skip

    run(folder, ocr=False, retry=False)
    library = Library.open(tmp_library)
    assert [d.state for d in library.documents()] == [DocumentState.SCANNED] * 2
    run(ocr=True, retry=True)
    assert [(d.state, d.ocr_pages) for d in library.documents()] == [(DocumentState.READ, (1,))] * 2

    view = ViewRole(tmp_library)
    for document in library.documents():
        text, pages, _ = library.document_text(document.id)
        assert text == WORDS
        start = text.index(WANTED)
        args = {"document_id": document.id, "number": 1, "scale": 2.0, "spans": [[start, start + len(WANTED)]]}
        shown = view.handle(Call(Request(1, "page", args), lambda reply: None))
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(shown["image"]))).convert("L"))
        assert pixels.shape == (shown["height"], shown["width"])
        assert abs(shown["width"] - 2 * pages[0].width) <= 1
        ((left, top, right, bottom),) = shown["rects"]
        ink = np.flatnonzero((pixels < 128).any(axis=0))
        share = (left - ink[0]) / (ink[-1] - ink[0])  # of the line, as the word is of the text
        assert abs(share - start / len(WORDS)) < 0.06
        assert (pixels[int(top) : int(bottom), int(left) : int(right)] < 128).any()
        sizes = view.handle(Call(Request(2, "sizes", {"document_id": document.id}), lambda reply: None))
        assert sizes == {"pages": [[pages[0].width, pages[0].height]]}
    view.close()
    library.close()
