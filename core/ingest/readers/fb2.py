"""FictionBook: a book in one XML file. Its outermost sections are pages with their titles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lxml import etree
from lxml.etree import _Element as Element

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse, failure
from core.ingest.readers.ooxml import attribute, child, name_of
from core.ingest.readers.rows import table_rows

_DEEPEST = 100
_KINDS = {"cite": BlockKind.QUOTE, "epigraph": BlockKind.QUOTE, "annotation": BlockKind.PARAGRAPH}
_PARENTS = frozenset(["section", "cite", "epigraph", "annotation", "poem", "body"])


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, huge_tree=True
    )  # pictures are single texts beyond the usual size; `limits.file_bytes` holds
    root = etree.parse(path, parser).getroot()
    if root is None:
        yield failure(DocumentState.BROKEN, "The book is no XML.")
        return
    builder = TextBuilder(limits.output_characters)
    number = 0
    for body in (node for node in root if name_of(node) == "body"):
        for part in _chapters(body):
            tick()
            number += 1
            title = child(part, "title")
            builder.open_page(number, label=_line(title)[:200] if title is not None else "")
            _walk(part, builder, BlockKind.PARAGRAPH, 1)
    yield _built(root, builder)


def _chapters(body: Element) -> Iterator[Element]:
    """The sections of a body; what stands before the first one is a chapter of its own."""
    sections = [node for node in body if name_of(node) == "section"]
    front = etree.Element("section")
    front.extend([node for node in body if name_of(node) not in ("section", "image", "")])
    if len(front):
        yield front
    yield from sections


def _walk(node: Element, builder: TextBuilder, kind: BlockKind, depth: int) -> None:
    if depth > _DEEPEST:
        builder.add(_line(node), kind)
        return
    for part in node:
        name = name_of(part)
        if name in ("title", "subtitle"):
            builder.heading(_line(part), min(6, depth + (name == "subtitle")))
        elif name == "stanza":
            builder.add("\n".join(_line(verse) for verse in part), kind)
        elif name == "table":
            cells = [[_line(cell) for cell in row] for row in part if name_of(row) == "tr"]
            first = next((row for row in part if name_of(row) == "tr"), None)
            for line in table_rows(cells, first is not None and all(name_of(cell) == "th" for cell in first)):
                builder.add(line, BlockKind.TABLE_ROW, separator="\n")
        elif name in _PARENTS:
            _walk(part, builder, _KINDS.get(name, kind), depth + (name == "section"))
        elif name not in ("image", ""):
            builder.add(_line(part), kind)


def _line(node: Element) -> str:
    """All text of an element on one line; paragraphs within it stand apart."""
    inner = [n for n in node if name_of(n) in ("p", "v")]
    if inner:
        return collapse(" ".join(_line(n) for n in inner))
    return collapse("".join(str(text) for text in node.itertext()))


def _built(root: Element, builder: TextBuilder) -> ReadDocument:
    info = child(root, "description", "title-info")
    authors = []
    for node in info if info is not None else ():
        if name_of(node) == "author":
            names = (child(node, part) for part in ("first-name", "middle-name", "last-name"))
            authors.append(collapse(" ".join(_line(n) for n in names if n is not None)) or _line(node))
    title, date, language = (child(info, name) for name in ("book-title", "date", "lang"))
    code = _line(language).split("-")[0].lower() if language is not None else ""
    return builder.build(
        title=_line(title) if title is not None else "",
        author=", ".join(filter(None, authors)),
        created=(attribute(date, "value") or _line(date)) if date is not None else "",
        language=code if len(code) == 2 else "",
    )
