"""The blocks of OpenDocument texts and slides: headings, paragraphs, lists, tables, notes, frames, objects."""

from __future__ import annotations

from core.base.types import BlockKind
from core.ingest.limits import Tick
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.ooxml import Element, Package, attribute, child, name_of
from core.ingest.readers.rows import table_rows

_SKIPPED = frozenset([
    "tracked-changes", "note-citation", "ruby-text", "script", "forms", "sequence-decls", "variable-decls",
    "user-field-decls", "settings", "page-number", "page-count", "sheet-name", "event-listeners", "binary-data",
])  # fmt: skip
_PRINTED = ("date-time", "footer", "header", "page-number")  # placeholders that the layout prints on every slide
_MOST_REPEATS = 50
_DEEPEST_OBJECT = 3


class Looks:
    """What the styles say: which are headings, which slides and sheets are hidden."""

    def __init__(self, *roots: Element | None) -> None:
        self._outline: dict[str, int] = {}
        self.hidden: set[str] = set()
        for root in roots:
            for style in root.iter() if root is not None else ():
                if name_of(style) == "style":
                    self._look(style)

    def _look(self, style: Element) -> None:
        name = attribute(style, "name")
        level = attribute(style, "default-outline-level")
        if level.isdigit():
            self._outline[name] = int(level)
        elif name == "Title" or attribute(style, "parent-style-name") == "Title":
            self._outline[name] = 1
        elif attribute(style, "parent-style-name") in self._outline:
            self._outline[name] = self._outline[attribute(style, "parent-style-name")]
        for properties in style:
            if attribute(properties, "visibility") == "hidden" or attribute(properties, "display") == "false":
                self.hidden.add(name)

    def level(self, paragraph: Element) -> int:
        """The heading level of a paragraph; 0 for text."""
        if name_of(paragraph) == "h":
            level = attribute(paragraph, "outline-level")
            return int(level) if level.isdigit() and 0 < int(level) < 10 else 1
        return self._outline.get(attribute(paragraph, "style-name"), 0)


class Blocks:
    """Walks content and writes its blocks. `package` holds embedded objects; None for a flat file."""

    def __init__(self, builder: TextBuilder, looks: Looks, package: Package | None, tick: Tick) -> None:
        self._builder = builder
        self._looks = looks
        self._package = package
        self._tick = tick
        self._objects = 0

    def walk(self, container: Element, kind: BlockKind = BlockKind.PARAGRAPH) -> None:
        for node in container:
            self._tick()
            if self._builder.full:
                return
            name = name_of(node)
            if name in ("p", "h"):
                self._paragraph(node, kind)
            elif name == "list":
                self.walk(node, BlockKind.LIST_ITEM)
            elif name == "table":
                self._table(node)
            elif name == "annotation":
                self._comment(node)
            elif name in ("object", "object-ole"):
                self._object(node)
            elif name in ("title", "desc") and "svg" in str(node.tag):
                self._builder.add(node.text or "", BlockKind.CAPTION)
            elif name not in _SKIPPED:
                self.walk(node, kind)

    def slide(self, number: int, page: Element) -> None:
        """A slide: its title first, then its shapes in their order, its speaker notes and comments."""
        hidden = " (hidden)" if attribute(page, "style-name") in self._looks.hidden else ""
        self._builder.leave_headings()
        self._builder.open_page(number, label=f"Slide {number}{hidden}")
        shapes = [node for node in page if name_of(node) != "notes" and attribute(node, "class") not in _PRINTED]
        for node in (shape for shape in shapes if attribute(shape, "class") == "title"):
            self._builder.heading(" ".join(_all_text(p) for p in node.iter() if name_of(p) == "p"), 1)
        for node in (shape for shape in shapes if attribute(shape, "class") != "title"):
            self._shape(node)
        notes = child(page, "notes")
        spoken = [n for n in (notes if notes is not None else ()) if attribute(n, "class") == "notes"]
        if any(_all_text(p) for node in spoken for p in node.iter() if name_of(p) == "p"):
            self._builder.heading("Speaker notes", 2)
            for node in spoken:
                self.walk(node)

    def _shape(self, shape: Element) -> None:
        if name_of(shape) == "annotation":
            self._comment(shape)
        elif name_of(shape) not in _SKIPPED:
            self.walk(shape)

    def _paragraph(self, node: Element, kind: BlockKind) -> None:
        extras: list[Element] = []
        text = "\n".join(collapse(line) for line in inline(node, extras).split("\n"))
        level = self._looks.level(node)
        if level:
            self._builder.heading(text, level)
        else:
            self._builder.add(text, kind, separator="\n" if kind is BlockKind.LIST_ITEM else "\n\n")
        for extra in extras:
            if name_of(extra) == "annotation":
                self._comment(extra)
            elif name_of(extra) in ("object", "object-ole"):
                self._object(extra)
            else:
                self.walk(extra)

    def _comment(self, node: Element) -> None:
        author = next((n.text or "" for n in node if name_of(n) == "creator"), "")
        text = "\n".join(_all_text(n) for n in node.iter() if name_of(n) == "p")
        if text.strip():
            self._builder.add(f"Comment by {author}: {text}" if author else f"Comment: {text}")

    def _table(self, table: Element) -> None:
        extras: list[Element] = []
        rows, headed = [], False
        for node in table.iter():
            if name_of(node) == "table-row" and _table_of(node) is table:
                rows.append(_cells(node, extras))
                headed = headed or name_of(node.getparent()) == "table-header-rows"
        first = rows[0] if rows else []
        headed = headed or (len(rows) > 1 and attribute(table, "use-first-row-styles") == "true" and all(first))
        for line in table_rows(rows, headed):
            self._builder.add(line, BlockKind.TABLE_ROW, separator="\n")
        for extra in extras:
            self.walk(extra)

    def _object(self, node: Element) -> None:
        """The text of an embedded text, sheet, chart or formula."""
        href = attribute(node, "href").removeprefix("./").rstrip("/")
        root = self._package.xml(f"{href}/content.xml") if self._package is not None and href else None
        body = child(root, "body")
        if body is not None and self._objects < _DEEPEST_OBJECT:
            self._objects += 1
            self.walk(body)
            self._objects -= 1
        elif len(node):
            self.walk(node)


def inline(node: Element, extras: list[Element]) -> str:
    """Text of a paragraph; what hangs on it (notes, comments, frames) is put into `extras`."""
    parts = [node.text or ""]
    for item in node:
        name = name_of(item)
        if name == "s":
            count = attribute(item, "c")
            parts.append(" " * (min(int(count), 100) if count.isdigit() else 1))
        elif name == "tab":
            parts.append(" ")
        elif name == "line-break":
            parts.append("\n")
        elif name in ("note", "annotation", "frame", "custom-shape", "text-box", "rect", "g", "object"):
            extras.append(item)
        elif name not in _SKIPPED and name:
            parts.append(inline(item, extras))
        parts.append(item.tail or "")
    return "".join(parts)


def _all_text(node: Element) -> str:
    return collapse(inline(node, []))


def _table_of(node: Element) -> Element | None:
    return next((above for above in node.iterancestors() if name_of(above) == "table"), None)


def _cells(row: Element, extras: list[Element]) -> list[str]:
    """The texts of a row's cells; an empty tail that repeats to the last column is left out."""
    texts: list[str] = []
    for cell in row:
        if name_of(cell) not in ("table-cell", "covered-table-cell"):
            continue
        text = collapse(" ".join(inline(node, extras) for node in cell.iter() if name_of(node) in ("p", "h")))
        count = attribute(cell, "number-columns-repeated")
        texts += [text] * (min(int(count), _MOST_REPEATS) if count.isdigit() else 1)
    while texts and not texts[-1]:
        texts.pop()
    return texts
