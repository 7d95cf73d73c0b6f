"""Excel workbooks: one page a sheet, hidden ones too, rows with the names of their columns and their place.

Sheets and shared strings are read as streams, so that memory stays small whatever a sheet claims or unfolds to:
at a limit the workbook ends truncated. Cells show what the person sees (dates, percent, the last values of formulas);
comments, text boxes, charts, page headers and footers follow the rows of their sheet.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from zipfile import BadZipFile

from lxml import etree

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse, failure
from core.ingest.readers.ooxml import Element, Package, Relation, TooLarge, attribute, child, name_of, read_package
from core.ingest.readers.ooxml_drawing import lines, part_text
from core.ingest.readers.sheet_rows import SheetRows
from core.ingest.readers.xlsx_cells import MOST_CELLS, Formats, SharedStrings, SheetCells
from core.ingest.readers.xml_stream import EntitiesRefused, XmlError, parse

_DAMAGE = (BadZipFile, zlib.error, etree.XMLSyntaxError, XmlError, EntitiesRefused, NotImplementedError, EOFError)
_SHEET_NAME = re.compile(r"xl/(?:worksheets|chartsheets)/(\w*?)(\d*)\.xml", re.I)
_PAGE_CODE = re.compile(r'&(?:"[^"]*"|K[0-9A-F]{6}|K\d\d[+-]\d{3}|\d+|[A-Z]|&)', re.I)
_THREADED = "tc="  # the author of the copy that older versions of Excel show


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    yield read_package(
        path, limits, "workbook", lambda package: _Reader(package, limits, tick).document(), streamed=True
    )


class _Reader:
    def __init__(self, package: Package, limits: Limits, tick: Tick) -> None:
        self._package = package
        self._limits = limits
        self._tick = tick
        self._builder = TextBuilder(limits.output_characters)
        self._warnings: list[str] = []
        main = [r.target for r in package.relations() if r.kind == "officeDocument"]
        self._main = main[0] if main else "xl/workbook.xml"
        self._relations = package.relations(self._main)
        self._properties = package.properties()
        self._people = self._named(("person",), "id", "displayName")
        self._formats = Formats(self._part("styles"))
        self._strings = SharedStrings(limits.output_characters)
        self._cells = 0

    def document(self) -> ReadDocument:
        """The workbook; TRUNCATED when a limit was reached on the way."""
        cut = ""
        try:
            self._read_strings()
            for number, (name, hidden, part) in enumerate(self._sheets(), start=1):
                if self._builder.full or self._cells >= MOST_CELLS:
                    break
                self._builder.leave_headings()
                self._builder.open_page(number, label=f"{name} (hidden)" if hidden else name)
                self._sheet(name, part)
        except TooLarge:
            size = self._limits.inflated_bytes >> 20
            cut = f"The workbook unfolds to more than {size:,} MB: only its first part was read."
        found = self._builder.build(
            title=self._properties.title,
            author=self._properties.author,
            created=self._properties.created,
            modified=self._properties.modified,
            language=self._properties.language,
            warnings=tuple(dict.fromkeys(self._warnings)),
        )
        if self._cells >= MOST_CELLS:
            cut = f"The workbook has more than {MOST_CELLS:,} cells: only its first part was read."
        elif self._strings.full:
            cut = "The workbook holds too many texts: some were left out."
        if cut and found.state is not DocumentState.TRUNCATED:
            return replace(found, state=DocumentState.TRUNCATED, reason=cut)
        if found.state is DocumentState.EMPTY and self._warnings:
            return failure(DocumentState.BROKEN, "The file is damaged: none of its sheets can be read.", found.warnings)
        return found

    def _part(self, kind: str) -> Element | None:
        found = next((r.target for r in self._relations if r.kind == kind and not r.external), "")
        return self._xml(found) if found else None

    def _xml(self, part: str) -> Element | None:
        try:
            return self._package.xml(part)
        except _DAMAGE:
            self._warnings.append(f"The part {part} is damaged and was left out.")
            return None

    def _named(self, kinds: tuple[str, ...], key: str, name: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for relation in self._relations:
            root = self._xml(relation.target) if relation.kind in kinds else None
            found |= {attribute(n, key): attribute(n, name) for n in (root if root is not None else ())}
        return found

    def _read_strings(self) -> None:
        part = next((r.target for r in self._relations if r.kind == "sharedStrings"), "xl/sharedStrings.xml")
        stream = self._package.stream(part)
        if stream is None:
            return
        try:
            parse(stream, self._strings, self._alive)
        except _DAMAGE:
            self._warnings.append("The texts of the workbook are damaged: some are missing.")

    def _alive(self) -> bool:
        self._tick()
        return not self._strings.full

    def _room(self) -> bool:
        self._tick()
        return not self._builder.full

    def _sheets(self) -> list[tuple[str, bool, str]]:
        """Name, whether hidden, and part of each sheet, in order; by the parts' names when the list is damaged."""
        root = self._xml(self._main)
        self._formats.epoch_1904 = attribute(child(root, "workbookPr"), "date1904") in ("1", "true")
        targets = {r.id: r.target for r in self._relations if r.kind in ("worksheet", "chartsheet")}
        found = []
        sheets = child(root, "sheets")
        for node in sheets if sheets is not None else ():
            key = next((str(v) for k, v in node.attrib.items() if str(k).endswith("}id")), "")
            if key in targets:
                found.append(
                    (attribute(node, "name"), attribute(node, "state") in ("hidden", "veryHidden"), targets[key])
                )
        if found:
            return found
        matches = [match for name in self._package.names if (match := _SHEET_NAME.fullmatch(name))]
        return [(f"{m[1]}{m[2]}", False, m[0]) for m in sorted(matches, key=lambda m: int(m[2] or 0))]

    def _sheet(self, name: str, part: str) -> None:
        rows = SheetRows(self._builder, name)
        cells = SheetCells(rows, self._strings, self._formats)
        try:
            stream = self._package.stream(part)
            if stream is not None:
                parse(stream, cells, lambda: self._room() and self._cells + cells.count < MOST_CELLS)
        except _DAMAGE:
            self._warnings.append(f'The sheet "{name}" is damaged: it was read up to row {cells.number}.')
        finally:
            rows.finish()
            self._cells += cells.count
        for text in cells.printed:
            rows.say(_printed(text, name))
        for relation in self._of(part):
            self._tick()
            if relation.kind in ("comments", "threadedComment"):
                self._comments(relation, rows)
            elif relation.kind == "drawing":
                self._drawing(relation, rows)

    def _of(self, part: str) -> list[Relation]:
        try:
            return [relation for relation in self._package.relations(part) if not relation.external]
        except _DAMAGE:
            return []

    def _comments(self, relation: Relation, rows: SheetRows) -> None:
        root = self._xml(relation.target)
        nodes = list(root.iter()) if root is not None else []
        authors = [node.text or "" for node in nodes if name_of(node) == "author"]
        for node in nodes:
            if name_of(node) not in ("comment", "threadedComment"):
                continue
            key = attribute(node, "authorId")
            author = authors[int(key)] if key.isdigit() and int(key) < len(authors) else ""
            if author.startswith(_THREADED):
                continue
            author = author or self._people.get(attribute(node, "personId"), "")
            word = "Reply" if attribute(node, "parentId") else "Comment"
            text = "".join(
                below.text or "" for below in node.iter() if name_of(below) in ("t", "text") and not _aid(below)
            )
            if text.strip():
                place = attribute(node, "ref")
                rows.say(f"{word} on {place}{f' by {author}' if author else ''}: {text}", place)

    def _drawing(self, relation: Relation, rows: SheetRows) -> None:
        root = self._xml(relation.target)
        if root is None:
            return
        for node in root.iter():
            if name_of(node) == "txBody":
                rows.say("\n".join(lines(node)))
        try:
            rows.say("\n".join(part_text(self._package, self._of(relation.target), root, self._builder)))
        except _DAMAGE:
            self._warnings.append("A chart is damaged and was left out.")


def _aid(node: Element) -> bool:
    """Whether a text only tells how another one is pronounced."""
    return any(name_of(above) == "rPh" for above in node.iterancestors())


def _printed(text: str, sheet: str) -> str:
    """A page header or footer without its codes."""

    def plain(match: re.Match[str]) -> str:
        code = match[0][1:].upper()
        return {"&": "&", "A": sheet}.get(code, " ")

    return collapse(_PAGE_CODE.sub(plain, text))
