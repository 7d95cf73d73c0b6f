"""What the readers of light markup share: paragraphs of lines, and list items."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.base.types import BlockKind
from core.ingest.readers.build import TextBuilder, collapse

_ITEM = re.compile(r"\s*(?:[-*+•]+|\.{1,5}|\(?(?:\d{1,3}|[a-zA-Z]|#)[.)])\s+(?:\[[ xX-]\]\s+)?(?=\S)")


class Lines:
    """Gathers lines until a blank one or another block; each list item becomes a block of its own."""

    def __init__(self, builder: TextBuilder, plain: Callable[[str], str]) -> None:
        self._builder = builder
        self._plain = plain  # takes the marks out of a text
        self._lines: list[str] = []
        self._kind = BlockKind.PARAGRAPH

    def add(self, line: str) -> None:
        item = _ITEM.match(line)
        if item:
            self.flush()
            self._kind = BlockKind.LIST_ITEM
            line = line[item.end() :]
        if line.strip():
            self._lines.append(line.strip())
        else:
            self.flush()

    def flush(self) -> None:
        text = collapse(self._plain(" ".join(self._lines)))
        self._builder.add(text, self._kind, separator="\n" if self._kind is BlockKind.LIST_ITEM else "\n\n")
        self._lines.clear()
        self._kind = BlockKind.PARAGRAPH
