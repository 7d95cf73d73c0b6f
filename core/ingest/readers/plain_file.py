"""A text file's content, read no further than can be kept of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.readers.charset import decode

_LINE_ENDS = re.compile(r"\r\n?|[\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class PlainFile:
    """`text` has \\n as line ends. `cut`: how many bytes were read where the file goes on."""

    text: str
    warnings: tuple[str, ...]
    cut: int = 0

    def marked(self, document: ReadDocument) -> ReadDocument:
        """`document` as truncated where the file was not read to its end."""
        if not self.cut or document.state is not DocumentState.READ:
            return document
        reason = f"Only the first {max(1, self.cut >> 20):,} MB of the file were read."
        return replace(document, state=DocumentState.TRUNCATED, reason=reason)


def load(path: Path, limits: Limits) -> PlainFile:
    """The beginning of the file in whole lines, up to two bytes for each character that may be kept.

    Raises:
        OSError: the file is missing or may not be read.
    """
    with path.open("rb") as file:
        data = file.read(2 * limits.output_characters)
        more = bool(file.read(1))
    if more:
        data = data[: data.rfind(b"\n", len(data) // 2) + 1 or len(data) // 4 * 4]
    decoded = decode(data)
    text = _LINE_ENDS.sub("\n", decoded.text) if _LINE_ENDS.search(decoded.text) else decoded.text
    return PlainFile(text, decoded.warnings, len(data) if more else 0)
