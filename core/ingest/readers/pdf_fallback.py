"""pypdf for what PDFium cannot open: text without boxes."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, clean, failure
from core.ingest.readers.text import join_wrapped

# what pypdf raises on damaged files beside its own errors
DAMAGE = (PyPdfError, ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError, ArithmeticError)
_BROKEN = "The PDF is damaged: neither of two readers can open it."


def read(path: Path, limits: Limits, tick: Tick) -> ReadDocument:
    """The whole file by pypdf."""
    builder = TextBuilder(limits.output_characters)
    failed: list[int] = []
    try:
        with open_reader(path, limits.password) as reader:
            for number, page in enumerate(reader.pages, 1):
                tick()
                builder.open_page(number, float(page.mediabox.width), float(page.mediabox.height))
                try:
                    for paragraph in _paragraphs(page.extract_text()):
                        builder.add(paragraph)
                except DAMAGE:
                    failed.append(number)
                if builder.full:
                    break
            metadata: dict[str, object] = dict(reader.metadata or {})
            title, author = str(metadata.get("/Title") or ""), str(metadata.get("/Author") or "")
    except (FileNotDecryptedError, DependencyError):
        return locked(limits.password)
    except DAMAGE:
        if not builder.length:
            return failure(DocumentState.BROKEN, _BROKEN)
        failed.append(-1)
        title = author = ""
    if not builder.length:
        return failure(DocumentState.BROKEN, _BROKEN)
    warnings = ["The PDF is damaged; it was read by the second reader, without positions on the page."]
    if failed:
        warnings.append(f"{len(failed)} of its pages could not be read.")
    return builder.build(title=title, author=author, warnings=tuple(warnings))


def locked(password: str) -> ReadDocument:
    """The document that does not open with `password`."""
    reason = "The password given does not open the PDF." if password else "The PDF needs a password."
    return failure(DocumentState.LOCKED, reason)


def page_text(path: Path, index: int, password: str = "") -> str:
    """One page's text, its paragraphs apart by blank lines; empty when pypdf fails too."""
    try:
        with open_reader(path, password) as reader:
            return "\n\n".join(_paragraphs(reader.pages[index].extract_text()))
    except (*DAMAGE, DependencyError):
        return ""


@contextlib.contextmanager
def open_reader(path: Path, password: str = "") -> Iterator[PdfReader]:
    """The file by pypdf, decrypted when it opens without a password or with this one."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports each oddity of a file
    with path.open("rb") as file, PdfReader(file, strict=False) as reader:
        if reader.is_encrypted:
            _ = reader.decrypt("") or (password and reader.decrypt(password))
        yield reader


def _paragraphs(text: str) -> list[str]:
    blocks = clean(text).split("\n\n")
    return [joined for block in blocks if (joined := join_wrapped(block.split("\n")))]
