"""One file read without a library, as an ingest would read it."""

from __future__ import annotations

import math
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.base.errors import PathMissing, from_os_error
from core.base.events import Control
from core.base.files import path_text
from core.base.types import ReadDocument
from core.ingest.limits import Limits
from core.ingest.reading import Read, read_file
from core.ingest.sandbox import Sandbox
from core.ingest.scan import FoundFile


def read_one(path: Path, password: str = "", *, patient: bool = False) -> dict[str, Any]:
    """Text, pages, title, reader, warnings, state and reason of the file at `path`, opened with `password` if need be.

    The documents of a collection are joined by blank lines. Long scans are read to their end only when `patient`.

    Raises:
        PathMissing, NoPermission
    """
    try:
        status = path.stat()
    except OSError as error:
        raise from_os_error(error, path_text(path)) from error
    if not stat.S_ISREG(status.st_mode):
        raise PathMissing(f"{path_text(path)} is not a file.", "Check the path.")
    file = FoundFile(path.resolve(), path_text(path.resolve()), 0, status.st_size, status.st_mtime_ns)
    limits = Limits(password=password)
    if patient:
        limits = replace(limits, ocr_seconds=math.inf, ocr_pages=sys.maxsize)
    with Sandbox(limits) as sandbox:
        found = [item.document for item in read_file(file, sandbox, limits, Control()) if isinstance(item, Read)]
    first = found[0] if found else ReadDocument("")
    return {
        "text": "\n\n".join(d.text for d in found), "pages": _pages(first), "title": first.title,
        "reader": first.reader, "ocr_pages": list(first.ocr_pages), "warnings": [w for d in found for w in d.warnings],
        "state": first.state, "reason": first.reason, "media_type": first.media_type, "language": first.language,
        "documents": len(found),
    }  # fmt: skip


def _pages(document: ReadDocument) -> list[dict[str, Any]]:
    return [{"number": p.number, "text": document.text[p.start : p.end]} for p in document.pages]
