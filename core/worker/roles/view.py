"""The `view` child: pages of PDFs and images as pictures with the places to mark. A broken file takes only it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from core.base.errors import PathMissing
from core.base.events import Control
from core.base.files import text_path
from core.base.types import Document
from core.ingest import passwords
from core.ingest.hashing import content_hash
from core.ingest.readers import image_page, pdf_page
from core.ingest.readers.block_marks import block_rects
from core.ingest.readers.pdf_chars import is_locked
from core.ingest.readers.pdf_page import Rect
from core.ingest.readers.registry import IMAGES
from core.ingest.unpacked import Unpacked
from core.library import Library
from core.worker.server import Call

_LARGEST_SCALE = 6.0  # 432 dots per inch; more would be hundreds of megabytes


class ViewRole:
    def __init__(self, library: Path) -> None:
        self._folder = library
        self._library: Library | None = None
        self._unpacked = Unpacked()
        self._passwords: dict[tuple[Path, int, int], str] = {}

    def open(self) -> dict[str, Any]:
        self._library = Library.open(self._folder)
        return {"role": "view"}

    def handle(self, call: Call) -> Any:
        if self._library is None:
            self.open()
        assert self._library is not None
        args = call.request.args
        document = self._library.document(int(args["document_id"]))
        path = text_path(document.path)
        if not path.is_file():
            raise PathMissing(f"{document.path} is not there any more.", "Its stored text can still be read.")
        match call.request.op:
            case "page":
                return self._page(document, self._whole_file(document, path), args)
            case "sizes":
                pages = self._library.document_pages(document.id)
                return {"pages": [[p.width, p.height] for p in pages]}
        raise ValueError(f"view has no operation {call.request.op!r}")

    def _page(self, document: Document, path: Path, args: dict[str, Any]) -> dict[str, Any]:
        assert self._library is not None
        number = int(args["number"])
        scale = min(float(args.get("scale", 1.0)), _LARGEST_SCALE)
        pages = self._library.document_pages(document.id)
        page = next((p for p in pages if p.number == number), None)
        password = str(args.get("password") or "") or self._password(path)
        if document.media_type in IMAGES:
            picture, width, height = image_page.render(path, number, scale)
        else:
            picture, width, height = pdf_page.render(path, number, scale, password)
        rects: list[Rect] = []
        if page is not None:
            spans = [
                (max(start, page.start), min(end, page.end))
                for start, end in args.get("spans", ())
                if start < page.end and end > page.start
            ]
            if spans and (document.media_type in IMAGES or number in document.ocr_pages):
                shown = width / page.width if page.width else scale  # smaller than asked for when it is very large
                rects = block_rects(self._library.document_text(document.id)[2], number, spans, shown)
            elif spans:
                here = [(start - page.start, end - page.start) for start, end in spans]
                rects = pdf_page.page_rects(path, number, scale, here, password)
        return {
            "number": number, "pages": len(pages), "width": width, "height": height,
            "image": base64.b64encode(picture).decode(), "rects": [list(rect) for rect in rects],
        }  # fmt: skip

    def _whole_file(self, document: Document, path: Path) -> Path:
        """The file to show: of a document within an archive or a mail, the one unpacked for it."""
        if not document.external_id:
            return path
        inner = self._unpacked.file(path, document.external_id)
        if inner is None:
            message = f"{document.external_id} is not in {document.path} any more."
            raise PathMissing(message, "Its stored text can still be read.")
        return inner

    def _password(self, path: Path) -> str:
        """The remembered password of a locked file; looked for once for each version of it."""
        status = path.stat()
        version = (path, status.st_mtime_ns, status.st_size)
        if version not in self._passwords:
            locked = is_locked(path)
            self._passwords[version] = passwords.known(content_hash(path, Control())) if locked else ""
        return self._passwords[version]

    def close(self) -> None:
        self._unpacked.close()
        if self._library is not None:
            self._library.close()


def make(library: Path | None) -> ViewRole:
    assert library is not None
    return ViewRole(library)
