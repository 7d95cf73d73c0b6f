"""Files attached to a PDF, and the files of a portfolio: each is a document of its own.

They are unpacked by pypdf, in pieces, so that one that unfolds to gigabytes stops at its limit.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw
from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError
from pypdf.generic import ArrayObject, DictionaryObject, EncodedStreamObject, IndirectObject, StreamObject

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.members import read_member, unread_member
from core.ingest.readers import pdf_fallback
from core.ingest.readers.pdf_forms import wide_string

_LOCKED = "It is encrypted and needs a password."
_NODES = 20_000  # of the tree of names, and annotations of a page


def names(document: pdfium.PdfDocument, limits: Limits) -> list[str]:
    """What the document calls its files, without those pinned to a page."""
    count = min(max(0, raw.FPDFDoc_GetAttachmentCount(document)), limits.members + 1)
    attachments = (raw.FPDFDoc_GetAttachment(document, index) for index in range(count))
    return [wide_string(lambda b, n, a=a: raw.FPDFAttachment_GetName(a, b, n)) for a in attachments]  # type: ignore[misc]


def read(path: Path, names: Sequence[str], pages: Sequence[int], limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    """The documents of the attached files. `pages` (from 0) are those with files pinned to them."""
    try:
        with pdf_fallback.open_reader(path, limits.password) as reader:
            for number, (name, content) in enumerate(_files(reader, pages), 1):
                tick()
                yield from _read_file(name or f"attachment {number}", content, limits, tick)
    except (FileNotDecryptedError, DependencyError):
        yield from _all_unread(names, DocumentState.LOCKED, _LOCKED, limits)
    except pdf_fallback.DAMAGE as error:
        reason = f"It cannot be unpacked: the PDF around it is damaged ({type(error).__name__})."
        yield from _all_unread(names, DocumentState.BROKEN, reason, limits)


def _all_unread(names: Sequence[str], state: DocumentState, reason: str, limits: Limits) -> Iterator[ReadDocument]:
    for number, name in enumerate(names or [""], 1):
        yield from unread_member(name or f"attachment {number}", state, reason, limits)


def _read_file(name: str, content: Any, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    try:
        stream = content.get_object()
        source = _source(stream)
    except (FileNotDecryptedError, DependencyError):
        yield from unread_member(name, DocumentState.LOCKED, _LOCKED, limits)
        return
    except pdf_fallback.DAMAGE as error:
        reason = f"It cannot be unpacked: its bytes are damaged ({type(error).__name__})."
        yield from unread_member(name, DocumentState.BROKEN, reason, limits)
        return
    yield from read_member(name, source, limits, tick)


def _source(stream: Any) -> bytes | io.BufferedReader:
    """The bytes of the file; deflated ones, as nearly all are, come in pieces."""
    if not isinstance(stream, StreamObject):
        raise TypeError("not a stream")
    filters = stream.get("/Filter")
    names = filters.get_object() if filters is not None else None
    names = list(names) if isinstance(names, ArrayObject) else [names]
    if isinstance(stream, EncodedStreamObject) and names == ["/FlateDecode"] and "/DecodeParms" not in stream:
        return io.BufferedReader(_Inflated(stream._data))
    return stream.get_data()


class _Inflated(io.RawIOBase):
    """Deflated bytes as the stream they unfold to."""

    def __init__(self, data: bytes) -> None:
        self._unpack = zlib.decompressobj()
        self._rest = data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._unpack.decompress(self._rest, len(buffer))
        self._rest = self._unpack.unconsumed_tail
        buffer[: len(data)] = data
        return len(data)


def _files(reader: PdfReader, pages: Sequence[int]) -> Iterator[tuple[str, Any]]:
    """Name and content of each file, once."""
    seen: set[object] = set()
    for key, found in _specifications(reader, pages):
        specification = found.get_object()
        if not isinstance(specification, DictionaryObject):
            continue
        embedded = specification.get("/EF")
        embedded = embedded.get_object() if embedded is not None else None
        if not isinstance(embedded, DictionaryObject):
            continue
        content = next((embedded.raw_get(k) for k in ("/UF", "/F", "/Unix", "/DOS", "/Mac") if k in embedded), None)
        identity = content.idnum if isinstance(content, IndirectObject) else id(content)
        if content is not None and identity not in seen:
            seen.add(identity)
            yield str(specification.get("/UF") or specification.get("/F") or key), content


def _specifications(reader: PdfReader, pages: Sequence[int]) -> Iterator[tuple[str, Any]]:
    names = reader.root_object.get("/Names")
    tree = names.get_object().get("/EmbeddedFiles") if names is not None else None
    if tree is not None:
        yield from _leaves(tree)
    for index in pages:
        annotations = reader.pages[index].get("/Annots")
        for annotation in (annotations.get_object() if annotations is not None else [])[:_NODES]:
            value = annotation.get_object()
            if value.get("/Subtype") == "/FileAttachment" and "/FS" in value:
                yield "", value.raw_get("/FS")


def _leaves(tree: Any) -> Iterator[tuple[str, Any]]:
    """The entries of a name tree (ISO 32000-1, 7.9.6), which in a damaged file may lead in circles."""
    waiting, seen = [tree], 0
    visited: set[int] = set()
    while waiting and seen < _NODES:
        seen += 1
        node = waiting.pop(0)
        if isinstance(node, IndirectObject):
            if node.idnum in visited:
                continue
            visited.add(node.idnum)
        value = node.get_object()
        if not isinstance(value, DictionaryObject):
            continue
        pairs = value.get("/Names")
        pairs = list(pairs.get_object()) if pairs is not None else []
        yield from ((str(key), entry) for key, entry in zip(pairs[::2], pairs[1::2], strict=False))
        kids = value.get("/Kids")
        waiting += list(kids.get_object()) if kids is not None else []
