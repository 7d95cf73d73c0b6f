"""Word documents: headings, paragraphs, lists, tables, notes, comments and text boxes in reading order.

The parts are read directly and by local name, so that strict, transitional and slightly broken files all open.
Headers, footers, field codes, deleted text and the reading aids above Japanese words (furigana) are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse, failure
from core.ingest.readers.docx_styles import Styles
from core.ingest.readers.html import decode_page
from core.ingest.readers.html import walk as walk_html
from core.ingest.readers.html_source import parse_page
from core.ingest.readers.ooxml import Element, Package, Relation, attribute, child, name_of, read_package
from core.ingest.readers.rows import table_rows

_SKIPPED = frozenset(["del", "moveFrom", "instrText", "delText", "rt", "rubyPr", "pPr", "rPr", "sectPr", "Fallback"])
_TEXT = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": " "}
_NOTES = {"footnoteReference": "footnote", "endnoteReference": "endnote", "commentReference": "comment"}
_LONG_CELL = 600


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    yield read_package(path, limits, "Word document", lambda package: _Reader(package, limits, tick).document())


class _Reader:
    def __init__(self, package: Package, limits: Limits, tick: Tick) -> None:
        self._tick = tick
        self._package = package
        self._builder = TextBuilder(limits.output_characters)
        main = [r.target for r in package.relations() if r.kind == "officeDocument"]
        self._main = main[0] if main else "word/document.xml"
        self._relations = {relation.id: relation for relation in package.relations(self._main)}
        self._styles = Styles(self._part("styles"))
        self._notes: dict[tuple[str, str], Element] = {}
        for part, kind in (("footnotes", "footnote"), ("endnotes", "endnote"), ("comments", "comment")):
            self._collect_notes(self._part(part), kind)
        self._title = ""

    def _part(self, kind: str) -> Element | None:
        found = next((r.target for r in self._relations.values() if r.kind == kind and not r.external), None)
        return self._package.xml(found) if found else None

    def _collect_notes(self, root: Element | None, kind: str) -> None:
        for note in root if root is not None else ():
            if attribute(note, "type") in ("", "normal"):
                self._notes[kind, attribute(note, "id")] = note

    def document(self) -> ReadDocument:
        root = self._package.xml(self._main)
        body = child(root, "body")
        if body is None:
            return failure(DocumentState.BROKEN, "The file is damaged: it has no document inside.")
        self._blocks(body)
        properties = self._package.properties()
        return self._builder.build(
            title=properties.title or self._title,
            author=properties.author,
            created=properties.created,
            modified=properties.modified,
            language=properties.language,
        )

    def _blocks(self, container: Element) -> None:
        """Paragraphs and tables of `container`, through the wrappers of content controls and revisions."""
        for node in container:
            self._tick()
            if self._builder.full:
                return
            name = name_of(node)
            if name == "p":
                self._paragraph(node)
            elif name == "tbl":
                self._table(node)
            elif name == "altChunk":
                self._embedded_page(self._relations.get(attribute(node, "id")))
            elif name == "AlternateContent":
                self._blocks(_choice(node))
            elif name not in _SKIPPED:
                self._blocks(node)

    def _paragraph(self, node: Element) -> None:
        extras: list[Element] = []
        text = _inline(node, extras, self._notes)
        lines = "\n".join(line for part in text.split("\n") if (line := collapse(part)))
        properties = child(node, "pPr")
        level = self._styles.heading_level(properties)
        if level:
            self._title = self._title or lines
            self._builder.heading(lines, level)
        elif self._styles.is_list_item(properties):
            self._builder.add(lines, BlockKind.LIST_ITEM, separator="\n")
        else:
            self._builder.add(lines, self._styles.kind(properties))
        for extra in extras:
            self._blocks(extra)

    def _table(self, table: Element) -> None:
        extras: list[Element] = []
        rows = [[self._cell(cell, extras) for cell in _cells(row)] for row in _rows(table)]
        if any(len(cell) > _LONG_CELL for row in rows for cell in row):
            for row in _rows(table):  # a table that lays out the page
                for cell in _cells(row):
                    self._blocks(cell)
            return
        for line in table_rows(rows, _has_header(table, rows)):
            self._builder.add(line, BlockKind.TABLE_ROW, separator="\n")
        for extra in extras:
            self._blocks(extra)

    def _cell(self, cell: Element, extras: list[Element]) -> str:
        merge = child(cell, "tcPr", "vMerge")
        if merge is not None and attribute(merge, "val") != "restart":
            return ""
        paragraphs = (node for node in cell.iter() if name_of(node) == "p" and _outside_text_box(node, cell))
        return collapse(" ".join(_inline(paragraph, extras, self._notes) for paragraph in paragraphs))

    def _embedded_page(self, relation: Relation | None) -> None:
        data = self._package.read(relation.target) if relation and not relation.external else None
        if data:
            tree = parse_page(decode_page(data).text)
            if tree.body is not None:
                walk_html(tree.body, self._builder)


def _inline(node: Element, extras: list[Element], notes: dict[tuple[str, str], Element]) -> str:
    """Text of a paragraph; what hangs on it (notes, comments, text boxes) is put into `extras`."""
    parts: list[str] = []
    for item in node:
        name = name_of(item)
        if name == "t":
            parts.append(item.text or "")
        elif name in _TEXT:
            parts.append(_TEXT[name] if attribute(item, "type") != "page" else " ")
        elif name in _NOTES:
            note = notes.get((_NOTES[name], attribute(item, "id")))
            extras.extend([note] if note is not None else [])
        elif name == "txbxContent":
            extras.append(item)
        elif name == "AlternateContent":
            parts.append(_inline(_choice(item), extras, notes))
        elif name == "sym":
            parts.append(_symbol(attribute(item, "char")))
        elif name not in _SKIPPED:
            parts.append(_inline(item, extras, notes))
    return "".join(parts)


def _choice(node: Element) -> Element:
    """Of a drawing that is stored twice, the one with text; the newer form when both have."""
    choice, fallback = child(node, "Choice"), child(node, "Fallback")
    if choice is not None and (fallback is None or any(name_of(n) == "t" for n in choice.iter())):
        return choice
    return fallback if fallback is not None else node


def _symbol(code: str) -> str:
    try:
        value = int(code, 16)
    except ValueError:
        return ""
    return chr(value) if 0x20 < value < 0xD800 else ""  # above: the private area of a symbol font


def _rows(table: Element) -> list[Element]:
    return [node for node in table.iter() if name_of(node) == "tr" and _nearest(node, "tbl") is table]


def _cells(row: Element) -> list[Element]:
    return [node for node in row.iter() if name_of(node) == "tc" and _nearest(node, "tr") is row]


def _nearest(node: Element, name: str) -> Element | None:
    return next((above for above in node.iterancestors() if name_of(above) == name), None)


def _outside_text_box(node: Element, cell: Element) -> bool:
    for above in node.iterancestors():
        if above is cell:
            return True
        if name_of(above) in ("txbxContent", "AlternateContent"):
            return False
    return True


def _has_header(table: Element, rows: list[list[str]]) -> bool:
    first = next(iter(_rows(table)), None)
    look = child(table, "tblPr", "tblLook")
    marked = child(first, "trPr", "tblHeader") is not None
    styled = attribute(look, "firstRow") == "1" or bool(int(attribute(look, "val") or "0", 16) & 0x20)
    return (marked or styled) and len(rows) > 1 and len(rows[0]) > 1 and all(rows[0])
