"""What the styles of a Word document say about a paragraph: heading, list item, code, quotation."""

from __future__ import annotations

import re

from core.base.types import BlockKind
from core.ingest.readers.ooxml import Element, attribute, child, name_of

_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo|заголовок|見出し|标题)\s*(\d)", re.I)
_DEEPEST = 20  # styles based on one another


class Styles:
    """Looks up a paragraph's own properties first, then its style and those it is based on."""

    def __init__(self, root: Element | None) -> None:
        self._styles: dict[str, Element] = {}
        self._default = ""
        for node in root if root is not None else ():
            if name_of(node) == "style" and attribute(node, "type") in ("paragraph", ""):
                self._styles[attribute(node, "styleId")] = node
                if attribute(node, "default") in ("1", "true"):
                    self._default = attribute(node, "styleId")

    def heading_level(self, properties: Element | None) -> int:
        """Depth of the heading, 0 for other paragraphs."""
        own = _outline_level(properties)
        if own is not None:
            return own
        for style in self._chain(properties):
            name = attribute(child(style, "name"), "val")
            found = _HEADING.fullmatch(name.strip())
            if found:
                return min(9, max(1, int(found.group(1))))
            if name.strip().lower() == "title":
                return 1
            level = _outline_level(child(style, "pPr"))
            if level is not None:
                return level
        return 0

    def is_list_item(self, properties: Element | None) -> bool:
        places = [properties, *(child(style, "pPr") for style in self._chain(properties))]
        for place in places:
            number = child(place, "numPr", "numId")
            if number is not None:
                return attribute(number, "val") != "0"
        return False

    def kind(self, properties: Element | None) -> BlockKind:
        for style in self._chain(properties):
            name = attribute(child(style, "name"), "val").lower()
            if "caption" in name:
                return BlockKind.CAPTION
            if "quote" in name:
                return BlockKind.QUOTE
            if "code" in name or "preformatted" in name:
                return BlockKind.CODE
        return BlockKind.PARAGRAPH

    def _chain(self, properties: Element | None) -> list[Element]:
        name = attribute(child(properties, "pStyle"), "val") or self._default
        chain: list[Element] = []
        while name in self._styles and len(chain) < _DEEPEST:
            chain.append(self._styles[name])
            name = attribute(child(self._styles[name], "basedOn"), "val")
        return chain


def _outline_level(properties: Element | None) -> int | None:
    """1 to 9 for a heading, 0 for body text, None when nothing is said."""
    value = attribute(child(properties, "outlineLvl"), "val")
    if not value.isdigit():
        return None
    return int(value) + 1 if int(value) < 9 else 0
