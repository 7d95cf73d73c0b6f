"""The pages of an open PDF as texts. Reading and marking come through here, so that their offsets agree."""

from __future__ import annotations

from collections.abc import Callable

import pypdfium2 as pdfium

from core.ingest.limits import no_tick
from core.ingest.readers.pdf_chars import CannotOpen, PageChars, open_page, page_chars
from core.ingest.readers.pdf_layout import PageLayout, layout
from core.ingest.readers.pdf_lines import Line, page_lines
from core.ingest.readers.pdf_running import RADIUS, PageEdges, page_edges, running_lines


class Pages:
    """Lays out pages without their running headers and footers. Pages are best asked for in order.

    `edges` may come from an earlier look at the same file; what is found is put into it. `look` sees each page before
    it is flattened. `every_box` is for marking: the box of each character, not only of words.
    """

    def __init__(
        self,
        document: pdfium.PdfDocument,
        edges: dict[int, PageEdges] | None = None,
        tick: Callable[[], None] = no_tick,
        look: Callable[[int, pdfium.PdfPage], None] | None = None,
        every_box: bool = False,
    ) -> None:
        self._document = document
        self._tick = tick
        self._look_at = look
        self._every_box = every_box
        self._edges = {} if edges is None else edges
        self._ahead: dict[int, tuple[PageChars, list[Line], float]] = {}

    def layout(self, index: int) -> PageLayout:
        """Page `index` (from 0). Raises CannotOpen."""
        chars, lines, body = self._ahead.pop(index) if index in self._ahead else self._load(index)
        for near in range(max(0, index - RADIUS), min(len(self._document), index + RADIUS + 1)):
            if near not in self._edges:
                self._look(near)
        running = running_lines(self._edges, index)
        return layout(chars, [line for number, line in enumerate(lines) if number not in running], body)

    def _look(self, index: int) -> None:
        try:
            self._ahead[index] = self._load(index)
        except CannotOpen:
            self._edges[index] = PageEdges()

    def _load(self, index: int) -> tuple[PageChars, list[Line], float]:
        self._tick()
        with open_page(self._document, index, self._look_at) as page:
            chars = page_chars(page, self._every_box)
        lines, body = page_lines(chars)
        self._edges[index] = page_edges(chars, lines, body)
        return chars, lines, body
