"""PowerPoint presentations: one page a slide with title, text, tables, charts, diagrams, speaker notes and comments.

Shapes come in the order of the slide's tree, which is what a screen reader speaks, the title first. What the layout
prints on every slide (dates, slide numbers) is left out, a footer is said once. A damaged part is left out with a
warning; the rest of the presentation is read.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile

from lxml import etree

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse, failure
from core.ingest.readers.ooxml import Element, Package, Relation, attribute, child, name_of, read_package
from core.ingest.readers.ooxml_drawing import chosen, lines, paragraph_text, part_text, table_lines

_NO_TITLE = "PowerPoint Presentation"  # what the program calls a presentation that has no title
_TITLES = ("title", "ctrTitle")
_PRINTED = ("dt", "sldNum", "hdr")  # what the layout prints on every slide
_SLIDE_NAME = re.compile(r"ppt/slides/slide(\d+)\.xml", re.I)
_DAMAGE = (BadZipFile, zlib.error, etree.XMLSyntaxError, NotImplementedError, EOFError, UnicodeError)
_DEEPEST = 40  # groups within groups


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    yield read_package(path, limits, "presentation", lambda package: _Reader(package, limits, tick).document())


class _Reader:
    def __init__(self, package: Package, limits: Limits, tick: Tick) -> None:
        self._package = package
        self._tick = tick
        self._builder = TextBuilder(limits.output_characters)
        self._warnings: list[str] = []
        main = [r.target for r in package.relations() if r.kind == "officeDocument"]
        self._main = main[0] if main else "ppt/presentation.xml"
        self._relations: list[Relation] = []  # of the slide at hand
        self._authors: dict[str, str] = {}
        self._title = ""
        self._footers: set[str] = set()

    def document(self) -> ReadDocument:
        relations = self._package.relations(self._main)
        for relation in relations:
            if relation.kind in ("commentAuthors", "authors"):
                root = self._part(relation.target)
                self._authors |= {attribute(n, "id"): attribute(n, "name") for n in (root if root is not None else ())}
        for number, part in enumerate(self._slides(relations), start=1):
            if self._builder.full:
                break
            self._slide(number, part)
        if self._warnings and not self._builder.length:
            reason = "The file is damaged: none of its slides can be read."
            return failure(DocumentState.BROKEN, reason, tuple(self._warnings))
        properties = self._package.properties()
        named = properties.title if properties.title != _NO_TITLE else ""
        return self._builder.build(
            title=named or self._title,
            author=properties.author,
            created=properties.created,
            modified=properties.modified,
            language=properties.language,
            warnings=tuple(self._warnings),
        )

    def _slides(self, relations: list[Relation]) -> list[str]:
        """The slides' parts in their order; by name when the list of slides is damaged."""
        root = self._part(self._main)
        targets = {relation.id: relation.target for relation in relations if relation.kind == "slide"}
        order = [targets.get(_relation_id(node), "") for node in _children(child(root, "sldIdLst"))]
        if any(order):
            return order
        named = [match for name in self._package.names if (match := _SLIDE_NAME.fullmatch(name))]
        return [match[0] for match in sorted(named, key=lambda match: int(match[1]))]

    def _part(self, part: str) -> Element | None:
        """The root of a part; a damaged one is told in a warning."""
        try:
            root = self._package.xml(part)
        except _DAMAGE:
            self._warnings.append(f"The part {part} is damaged and was left out.")
            return None
        if part in self._package.damaged:
            self._warnings.append(f"The part {part} is damaged and was read as far as possible.")
        return root

    def _slide(self, number: int, part: str) -> None:
        root = self._part(part) if part else None
        hidden = " (hidden)" if attribute(root, "show") in ("0", "false") else ""
        self._builder.leave_headings()
        self._builder.open_page(number, label=f"Slide {number}{hidden}")
        if root is None:
            self._warnings.append(f"Slide {number} could not be read.")
            return
        try:
            self._relations = self._package.relations(part)
        except _DAMAGE:
            self._relations = []
        tree = child(root, "cSld", "spTree")
        shapes = list(_shapes(tree, 0)) if tree is not None else []
        for shape in sorted(shapes, key=lambda shape: _placeholder(shape) not in _TITLES):
            self._tick()
            self._shape(shape)
        self._extras()

    def _shape(self, shape: Element) -> None:
        kind = _placeholder(shape)
        if kind in _TITLES:
            title = collapse(" ".join(lines(child(shape, "txBody"))))
            self._title = self._title or title
            self._builder.heading(title, 1)
        elif name_of(shape) == "graphicFrame":
            self._frame(shape)
        elif kind == "ftr":
            self._footer(collapse(" ".join(lines(child(shape, "txBody")))))
        elif kind not in _PRINTED:
            self._text(child(shape, "txBody"), outline=kind in ("body", "obj"))

    def _footer(self, text: str) -> None:
        if text not in self._footers:
            self._footers.add(text)
            self._builder.add(text)

    def _text(self, body: Element | None, outline: bool) -> None:
        """The paragraphs of a shape: points of a list in an outline, or where they carry a bullet of their own."""
        separator = "\n\n"
        for node in _children(body):
            if name_of(node) != "p" or not (text := paragraph_text(node)).strip():
                continue
            look = {name_of(below) for below in _children(child(node, "pPr"))}
            item = bool(look & {"buChar", "buAutoNum", "buBlip"}) or (outline and "buNone" not in look)
            self._builder.add(text, BlockKind.LIST_ITEM if item else BlockKind.PARAGRAPH, separator=separator)
            separator = "\n"

    def _frame(self, frame: Element) -> None:
        for table in frame.iter():
            if name_of(table) == "tbl":
                for line in table_lines(table):
                    self._builder.add(line, BlockKind.TABLE_ROW, separator="\n")
        try:
            for line in part_text(self._package, self._relations, frame, self._builder):
                self._builder.add(line, separator="\n")
        except _DAMAGE:
            self._warnings.append("A chart or diagram is damaged and was left out.")

    def _extras(self) -> None:
        """Speaker notes and comments of the slide at hand."""
        for relation in self._relations:
            root = self._part(relation.target) if relation.kind in ("notesSlide", "comments") else None
            if root is None:
                continue
            if relation.kind == "comments":
                for line in self._comments(root):
                    self._builder.add(line)
                continue
            tree = child(root, "cSld", "spTree")
            bodies = [s for s in (_shapes(tree, 0) if tree is not None else ()) if _placeholder(s) == "body"]
            notes = [line for shape in bodies for line in lines(child(shape, "txBody"))]
            if notes:
                self._builder.heading("Speaker notes", 2)
            for line in notes:
                self._builder.add(line)

    def _comments(self, root: Element) -> Iterator[str]:
        """Comments and the replies to them, of the older and the newer kind."""
        for node in root.iter():
            if name_of(node) not in ("cm", "reply"):
                continue
            old = child(node, "text")
            text = (old.text or "") if old is not None else "\n".join(lines(child(node, "txBody")))
            author = self._authors.get(attribute(node, "authorId"), "")
            word = "Reply" if name_of(node) == "reply" else "Comment"
            if text.strip():
                yield f"{word} by {author}: {text}" if author else f"{word}: {text}"


def _children(node: Element | None) -> list[Element]:
    return list(node) if node is not None else []


def _relation_id(node: Element) -> str:
    """`r:id`, not the slide's own `id`."""
    return next((str(value) for key, value in node.attrib.items() if str(key).endswith("}id")), "")


def _shapes(tree: Element, depth: int) -> Iterator[Element]:
    """Shapes and frames in tree order, groups opened."""
    for node in tree:
        name = name_of(node)
        if name in ("sp", "graphicFrame", "cxnSp"):
            yield node
        elif name == "grpSp" and depth < _DEEPEST:
            yield from _shapes(node, depth + 1)
        elif name == "AlternateContent":
            yield from _shapes(chosen(node), depth + 1)


def _placeholder(shape: Element) -> str:
    """The kind of placeholder a shape fills: title, body, ...; empty for a shape of its own."""
    properties = next((node for node in shape if name_of(node).startswith("nv")), None)
    mark = child(properties, "nvPr", "ph")
    return (attribute(mark, "type") or "obj") if mark is not None else ""
