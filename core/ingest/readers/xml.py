"""XML: text by element, without resolving a single entity.

Documents (DocBook, JATS, TEI, DITA and what else has paragraphs) give headings and paragraphs; data gives lines
"name: value", the children of an element together. Drawings (SVG) give their words.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree
from lxml.etree import _Element as Element

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.html import decode_page, walk
from core.ingest.readers.html_source import parse_page
from core.ingest.readers.ooxml import attribute
from core.ingest.readers.plain_file import PlainFile, load
from core.ingest.readers.rows import table_rows

_LARGEST = 40 << 20  # characters of which a tree is made
_DEEPEST = 150
_PARAGRAPHS = frozenset(
    ["p", "para", "simpara", "formalpara", "ab", "lg", "l", "v", "abstract", "quote", "blockquote", "pre",
     "programlisting", "code"]
)  # fmt: skip
_ITEMS = frozenset(["li", "listitem", "item", "list-item", "varlistentry"])
_CODE = frozenset(["pre", "programlisting", "screen", "code", "codeblock", "literallayout", "source"])
_SECTIONS = frozenset(
    ["section", "sect1", "sect2", "sect3", "sect4", "sect5", "chapter", "part", "sec", "div", "div1", "div2", "div3",
     "appendix", "preface", "article", "book", "topic", "simplesect", "refsect1", "refsect2", "glossary",
     "bibliography", "body", "front", "back", "text", "tei", "fictionbook", "component"]
)  # fmt: skip
_HEADINGS = frozenset(["title", "head", "heading", "article-title"])
_TABLES = frozenset(["table", "informaltable", "tgroup"])
_SKIPPED = frozenset(["style", "script", "binary", "binaryobject", "base64binary", "defs", "colspec"])
_XML_OWN = ("http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2001/XMLSchema-instance")
_TITLES = ("article-title", "booktitle", "title")
_AUTHORS = ("author", "creator", "byline")
_DATES = ("created", "published", "pubdate", "date", "updated")
_NAMED_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_XML_ENTITIES = {"amp", "lt", "gt", "quot", "apos"}
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]{0,500}\?>")
_MARKUP = re.compile(r"<!\[CDATA\[|\]\]>|<[^<>]*>")
_HTML_IN_TEXT = re.compile(r"</(?:p|a|li|div|b|i|em|strong|span|h\d)>|<br\b|<p>", re.I)
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_PACKED = re.compile(r"[A-Za-z0-9+/\s]{800,}={0,2}\s*")


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    file = _load(path, limits)
    builder = TextBuilder(limits.output_characters)
    root, warning = parse(file.text)
    if root is None:
        for line in without_markup(file.text).split("\n"):
            builder.add(line, separator="\n")
    elif name(root) == "svg":
        _add_drawing(root, builder)
    else:
        _Walker(root, builder, tick).visit(root, 0, 0)
    warnings = file.warnings + ((warning,) if warning and not file.cut else ())
    known = _properties(root)
    document = builder.build(
        title=known.get("title", ""),
        author=known.get("author", ""),
        created=known.get("created", ""),
        language=known.get("language", ""),
        warnings=warnings,
    )
    yield file.marked(document)


def _load(path: Path, limits: Limits) -> PlainFile:
    """The file as text in the encoding that its first line names, where that fits."""
    if path.stat().st_size > 2 * limits.output_characters:
        return load(path, limits)
    decoded = decode_page(path.read_bytes())
    return PlainFile(decoded.text, decoded.warnings)


def parse(text: str) -> tuple[Element | None, str]:
    """The root of the tree and a warning; no root where a tree would lose words, or be too large."""
    if len(text) > _LARGEST:
        return None, "The file is too large for a tree of its elements; its words were read as they stand."
    declares = "<!ENTITY" in text
    body = _DECLARATION.sub("", text.lstrip("\ufeff"))
    if not declares:
        body = _NAMED_ENTITY.sub(_character, body)
    data = body.encode("utf-8", "replace")
    for recover in (False, True):
        # without entities of its own nothing can grow, and the tree may be deep and its texts long
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=not declares, recover=recover,
            remove_comments=True, remove_pis=True,
        )  # fmt: skip
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError:
            continue
        if not recover:
            return root, ""
        if root is not None and _size("".join(root.itertext())) >= 0.9 * _size(without_markup(body)):
            return root, "The XML is damaged; what is between its elements was read all the same."
    return None, "The XML is damaged; its words were read as they stand."


def _character(match: re.Match[str]) -> str:
    """The character of an entity that web pages know; those of XML itself stay."""
    return match.group() if match.group(1) in _XML_ENTITIES else html.unescape(match.group())


def without_markup(text: str) -> str:
    """The text between tags."""
    return html.unescape(_MARKUP.sub(" ", text))


def _size(text: str) -> int:
    return sum(map(len, text.split()))


def name(node: Element) -> str:
    """The local name in small letters; empty for what is no element."""
    return etree.QName(node).localname.lower() if isinstance(node.tag, str) else ""


class _Walker:
    """Adds blocks in reading order. Text between elements makes its parent a paragraph."""

    def __init__(self, root: Element, builder: TextBuilder, tick: Tick) -> None:
        self._builder = builder
        self._tick = tick
        self._prose = any(name(node) in _PARAGRAPHS for node in root.iter())

    def visit(self, node: Element, depth: int, level: int) -> None:
        self._tick()
        tag = name(node)
        if self._builder.full or not tag or tag in _SKIPPED:
            return
        inside = level + (tag in _SECTIONS)
        if depth > _DEEPEST or not len(node):
            self._leaf(node, tag, level)
        elif tag in _TABLES and self._table(node):
            return
        elif _is_inline(node, tag):
            self._leaf(node, tag, level)
        else:
            self._children(node, depth, inside)

    def _children(self, node: Element, depth: int, level: int) -> None:
        children = [child for child in node if name(child)]
        if not self._prose and all(len(child) == 0 for child in children):
            self._record(node, children)
            return
        if not self._prose:
            self._record(node, [])
        self._add(node.text or "", "")
        for child in children:
            self.visit(child, depth + 1, level)
            self._add(child.tail or "", "")

    def _record(self, node: Element, children: list[Element]) -> None:
        """An element of data: its attributes and its plain children, one a line."""
        lines = _attributes(node)
        for child in children:
            label = etree.QName(child).localname
            value = collapse(child.text or "")
            lines += [f"{label}: {value}"] if value and not _PACKED.fullmatch(value) else []
            lines += [f"{label}.{line}" for line in _attributes(child)]
        self._builder.add("\n".join(lines), place=f"line {node.sourceline}" if node.sourceline else "")

    def _leaf(self, node: Element, tag: str, level: int) -> None:
        text = "".join(map(str, node.itertext()))
        if tag in _HEADINGS and self._prose:
            self._builder.heading(text, max(1, level))
        elif not self._prose:
            label = etree.QName(node).localname
            self._add(f"{label}: {text}" if text.strip() and not _HTML_IN_TEXT.search(text) else text, tag)
            self._add("\n".join(_attributes(node)), "")
        else:
            self._add(text, tag)

    def _add(self, text: str, tag: str) -> None:
        if not text.strip() or _PACKED.fullmatch(text):
            return
        if tag in _CODE:
            self._builder.add(text, BlockKind.CODE)
        elif _HTML_IN_TEXT.search(text):  # feeds hold pages as text
            tree = parse_page(text)
            if tree.body is not None:
                walk(tree.body, self._builder)
        elif tag in _ITEMS:
            self._builder.add(collapse(text), BlockKind.LIST_ITEM, separator="\n")
        else:
            self._builder.add("\n".join(filter(None, map(collapse, text.split("\n")))) if not tag else collapse(text))

    def _table(self, node: Element) -> bool:
        rows = [row for row in node.iter() if name(row) in ("row", "tr")]
        cells = [[collapse("".join(map(str, cell.itertext()))) for cell in row if name(cell)] for row in rows]
        if not any(map(any, cells)):
            return False
        for caption in node:
            if name(caption) in ("caption", "title", "head"):
                self._builder.add(collapse("".join(map(str, caption.itertext()))), BlockKind.CAPTION)
        first = rows[0].getparent()
        header = (first is not None and name(first) == "thead") or all(name(cell) == "th" for cell in rows[0])
        for line in table_rows(cells, header):
            self._builder.add(line, BlockKind.TABLE_ROW, separator="\n")
        return True


def _is_inline(node: Element, tag: str) -> bool:
    """One block: words of its own, or a paragraph by name, and no block inside."""
    own = bool((node.text or "").strip()) or any((child.tail or "").strip() for child in node)
    if not own and tag not in _PARAGRAPHS and tag not in _HEADINGS:
        return False
    blocks = _PARAGRAPHS | _ITEMS | _TABLES | _SECTIONS
    return not any(name(inner) in blocks for inner in node.iterdescendants())


def _attributes(node: Element) -> list[str]:
    """What stands in attributes, but those of XML itself (xml:lang, xsi:type)."""
    named = ((etree.QName(str(key)), str(value)) for key, value in node.attrib.items())
    return [f"{key.localname}: {value}" for key, value in named if value.strip() and key.namespace not in _XML_OWN]


def _add_drawing(root: Element, builder: TextBuilder) -> None:
    for node in root.iter():
        if name(node) in ("text", "title", "desc"):
            builder.add(collapse(" ".join(map(str, node.itertext()))))


def _properties(root: Element | None) -> dict[str, str]:
    """Title, author, date and language, where the first of their usual names say them."""
    if root is None:
        return {}
    found = {"language": attribute(root, "lang")[:2].lower()}
    for node in root.iter():
        tag = name(node)
        for key, names in (("title", _TITLES), ("author", _AUTHORS), ("created", _DATES)):
            if tag in names and key not in found:
                value = collapse(" ".join(map(str, node.itertext())))
                if value and len(value) <= 300 and (key != "created" or _ISO_DATE.match(value)):
                    found[key] = value
    return found
