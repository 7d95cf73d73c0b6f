"""Hangul documents (HWP 5): the paragraphs of each section, unpacked under a limit, tables and notes included.

After the published format: an OLE file whose streams `BodyText/SectionN` hold records, mostly deflated; a record with
the tag "paragraph text" is UTF-16 with control characters, most of which take the room of eight.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, failure
from core.ingest.readers.old_office import Compound

_PARAGRAPH_TEXT = 0x43  # HWPTAG_BEGIN + 51
_SECTION = re.compile(r"BodyText/Section(\d+)")
_PACKED, _PASSWORD, _DISTRIBUTED = 1, 2, 4
_ONE_WIDE = frozenset([0, 10, 13, 24, 25, 26, 27, 28, 29, 30, 31])  # controls that take the room of one letter
_SIGNS = {9: " ", 10: "\n", 24: "-", 30: " ", 31: " "}


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    try:
        with Compound(path, limits) as compound:
            yield _document(compound, limits, tick)
    except (struct.error, zlib.error):
        yield failure(DocumentState.BROKEN, "The file is damaged: its text cannot be unpacked.")


def _document(compound: Compound, limits: Limits, tick: Tick) -> ReadDocument:
    header = compound.stream("FileHeader")
    if not header.startswith(b"HWP Document File") or len(header) < 40:
        return failure(DocumentState.BROKEN, "The file is damaged: it is no Hangul document.")
    flags = struct.unpack_from("<I", header, 36)[0]
    if flags & _PASSWORD:
        return failure(DocumentState.LOCKED, "The document needs a password.")
    if flags & _DISTRIBUTED:
        return failure(DocumentState.LOCKED, "The document is locked for distribution: its text is encrypted.")
    builder, budget = TextBuilder(limits.output_characters), limits.inflated_bytes
    sections = [match for name in compound.names if (match := _SECTION.fullmatch(name))]
    for section in sorted(sections, key=lambda match: int(match[1])):
        tick()
        data = compound.stream(section[0])
        if flags & _PACKED:
            data = zlib.decompressobj(-15).decompress(data, budget)
        budget -= len(data)
        for text in _paragraphs(data):
            builder.add(text)
        if builder.full or budget <= 0:
            break
    found = compound.build(builder)
    if budget <= 0 and not builder.full:
        return failure(
            DocumentState.TOO_LARGE, f"The document unfolds to more than {limits.inflated_bytes >> 20:,} MB."
        )
    return found


def _paragraphs(data: bytes) -> Iterator[str]:
    """A record has its tag in 10 bits, its level in 10, its size in 12 (all ones: the size follows)."""
    position = 0
    while position + 4 <= len(data):
        head = struct.unpack_from("<I", data, position)[0]
        size, position = head >> 20, position + 4
        if size == 0xFFF:
            if position + 4 > len(data):
                return
            size, position = struct.unpack_from("<I", data, position)[0], position + 4
        if head & 0x3FF == _PARAGRAPH_TEXT:
            yield _letters(data[position : position + size])
        position += size


def _letters(data: bytes) -> str:
    units = struct.unpack(f"<{len(data) // 2}H", data[: len(data) // 2 * 2])
    parts: list[int] = []
    index = 0
    while index < len(units):
        unit = units[index]
        if unit >= 32:
            parts.append(unit)
        elif unit in _SIGNS:
            parts.append(ord(_SIGNS[unit]))
        index += 1 if unit >= 32 or unit in _ONE_WIDE else 8
    return struct.pack(f"<{len(parts)}H", *parts).decode("utf-16-le", "replace")
