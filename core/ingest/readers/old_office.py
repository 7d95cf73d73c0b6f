"""How the old binary formats (.doc, .ppt, .xls) are read: directly first, through LibreOffice when that fails.

The direct way takes milliseconds and needs nothing installed, LibreOffice takes seconds a file; so it is asked only
for files that the direct way cannot make sense of.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType

import olefile

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, failure
from core.ingest.readers.libreoffice import converted, program


class Locked(Exception):
    """The file is encrypted."""


class NotUnderstood(Exception):
    """The file is damaged, or of a kind that the direct way does not know."""


_FAILURES = (NotUnderstood, OSError, struct.error, ValueError, IndexError, KeyError, TypeError, EOFError)


def read_old(
    path: Path, limits: Limits, tick: Tick, direct: Callable[[Path, Limits, Tick], ReadDocument], kind: str
) -> Iterator[ReadDocument]:
    """The document, by `direct` or as `kind` ("docx", ...) through LibreOffice.

    `direct` raises `Locked` or one of `_FAILURES` when it cannot read the file.
    """
    try:
        found = direct(path, limits, tick)
    except Locked:
        yield failure(DocumentState.LOCKED, "The document needs a password.")
        return
    except _FAILURES:
        found = None
    if found is not None and found.state is not DocumentState.EMPTY:
        yield found
        return
    yield _through_office(path, kind, limits, tick) or found or _refusal()


def _through_office(path: Path, kind: str, limits: Limits, tick: Tick) -> ReadDocument | None:
    with converted(path, kind, limits, tick) as result:
        if result is None:
            return None
        reader = importlib.import_module(f"core.ingest.readers.{kind}")
        found: ReadDocument = next(iter(reader.read(result, limits, tick)))
        note = "The file was read through LibreOffice."
        return replace(found, warnings=(*found.warnings, note)) if found.state.has_text else None


def _refusal() -> ReadDocument:
    if program():
        return failure(DocumentState.BROKEN, "The file is damaged: LibreOffice cannot open it either.")
    return failure(
        DocumentState.UNSUPPORTED,
        "This old Office file cannot be read directly. Install LibreOffice, or save the file in a newer format.",
    )


class Compound:
    """An OLE file: its streams, and the properties that it states.

    Raises:
        OSError: it is no OLE file, or a damaged one.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self._ole = olefile.OleFileIO(str(path))
        self._limit = limits.inflated_bytes

    def __enter__(self) -> Compound:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._ole.close()

    @property
    def names(self) -> list[str]:
        """Paths of the streams, storages joined by "/"."""
        return ["/".join(entry) for entry in self._ole.listdir(streams=True, storages=False)]

    def stream(self, name: str) -> bytes:
        """The bytes of a stream; empty when there is none. No stream is larger than its file."""
        if not self._ole.exists(name):
            return b""
        with self._ole.openstream(name) as stream:
            data: bytes = stream.read(self._limit)
        return data

    def build(self, builder: TextBuilder) -> ReadDocument:
        """The document with the title, author and dates that the file states."""
        try:
            meta = self._ole.get_metadata()
        except (OSError, ValueError, IndexError, struct.error, TypeError):
            return builder.build()
        page = meta.codepage if isinstance(meta.codepage, int) and meta.codepage > 0 else 1252
        codec = {65001: "utf-8", 1200: "utf-16-le", 10000: "mac_roman"}.get(page, f"cp{page}")
        return builder.build(
            title=_decoded(meta.title, codec),
            author=_decoded(meta.author, codec),
            created=_moment(meta.create_time),
            modified=_moment(meta.last_saved_time),
        )


def _moment(value: object) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%S") if isinstance(value, datetime) and value.year > 1970 else ""


def _decoded(value: object, codec: str) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, bytes):
        return ""
    try:
        return value.decode(codec, "replace").strip("\0 ")
    except LookupError:
        return value.decode("cp1252", "replace").strip("\0 ")
