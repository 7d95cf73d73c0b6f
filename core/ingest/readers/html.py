"""Web pages: what a visitor reads, without scripts, styles and navigation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.charset import Decoded, decode
from core.ingest.readers.html_meta import properties
from core.ingest.readers.html_source import parse_page
from core.ingest.readers.rows import table_rows

_META_CHARSET = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w:.-]+)", re.I)
_XML_CHARSET = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w:.-]+)", re.I)

_HIDDEN = frozenset(
    ["script", "style", "noscript", "template", "nav", "head", "svg", "iframe", "object", "canvas", "button", "select",
     "datalist", "dialog", "audio", "video", "map", "ix:header", "rt", "rp"]
)  # fmt: skip
_NEVER_SHOWN = frozenset(["script", "style", "template", "head", "ix:header"])
_HIDDEN_ROLES = frozenset(["navigation", "search", "menu", "menubar", "dialog", "alertdialog"])
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    ["address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt", "fieldset",
     "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend", "li", "main", "ol", "p", "pre",
     "section", "summary", "table", "caption", "tbody", "td", "th", "thead", "tfoot", "tr", "ul", "option", "hgroup",
     *_HEADINGS]
)  # fmt: skip
_KINDS = {
    "li": BlockKind.LIST_ITEM, "dt": BlockKind.LIST_ITEM, "dd": BlockKind.LIST_ITEM, "blockquote": BlockKind.QUOTE,
    "figcaption": BlockKind.CAPTION, "caption": BlockKind.CAPTION,
}  # fmt: skip
_SOFT_SPACE = re.compile(r"\s+")  # white space of the source; only <br> breaks a line
_DEEPEST = 200  # nested elements; deeper ones are read as plain text


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    yield page_document(decode_page(path.read_bytes()), limits)


def page_document(decoded: Decoded, limits: Limits) -> ReadDocument:
    """The document that a page is."""
    tree = parse_page(decoded.text)
    builder = TextBuilder(limits.output_characters)
    if tree.body is not None:
        _add_page(tree, tree.body, builder)
    known = properties(tree)
    return builder.build(
        title=known.title,
        author=known.author,
        created=known.created,
        modified=known.modified,
        language=known.language,
        warnings=decoded.warnings,
    )


def _add_page(tree: LexborHTMLParser, body: LexborNode, builder: TextBuilder) -> None:
    """The main part first, then what stands around it; what is hidden only where nothing else is there."""
    mains = tree.css("main, [role=main]")
    main = mains[0] if len(mains) == 1 and not _is_hidden(mains[0]) else None
    if main is not None:
        walk(main, builder)
    _Walker(builder, leave_out=main).visit(body, BlockKind.PARAGRAPH, 0)
    if not builder.length:
        _Walker(builder, show_hidden=True).visit(body, BlockKind.PARAGRAPH, 0)


def decode_page(data: bytes) -> Decoded:
    """The page's text; the charset it names is believed when the bytes fit it."""
    found = _META_CHARSET.search(data[:8192]) or _XML_CHARSET.search(data[:1024])
    return decode(data, found.group(1).decode("ascii", "replace") if found else "")


def walk(root: LexborNode, builder: TextBuilder) -> None:
    """Adds the blocks below `root` in reading order."""
    _Walker(builder).visit(root, BlockKind.PARAGRAPH, 0)


class _Walker:
    """Gathers inline text until a block element begins or ends."""

    def __init__(self, builder: TextBuilder, leave_out: LexborNode | None = None, show_hidden: bool = False) -> None:
        self._builder = builder
        self._inline: list[str] = []
        self._left_out = leave_out.mem_id if leave_out is not None else None
        self._show_hidden = show_hidden

    def visit(self, node: LexborNode, kind: BlockKind, depth: int) -> None:
        """The children of `node`, and what is left of its inline text."""
        if depth > _DEEPEST:
            self._inline.append(_visible_text(node))
            return
        child = node.child
        while child is not None and not self._builder.full:
            self._visit_one(child, kind, depth)
            child = child.next
        if node.tag in _BLOCKS:
            self._flush(kind)

    def _visit_one(self, node: LexborNode, kind: BlockKind, depth: int) -> None:
        tag = node.tag or ""
        if node.is_text_node:
            self._inline.append(_SOFT_SPACE.sub(" ", node.text_content or ""))
        elif not node.is_element_node or self._passes_over(node, tag):
            return
        elif tag == "br":
            self._inline.append("\n")
        elif tag == "img":
            self._inline.append(f" {node.attributes.get('alt') or ''} ")
        elif tag == "input":
            self._input(node)
        elif tag not in _BLOCKS:
            self.visit(node, kind, depth + 1)
        else:
            self._flush(kind)
            self._block(node, tag, kind, depth)

    def _passes_over(self, node: LexborNode, tag: str) -> bool:
        if node.mem_id == self._left_out or tag in _NEVER_SHOWN:
            return True
        return not self._show_hidden and (tag in _HIDDEN or _is_hidden(node))

    def _block(self, node: LexborNode, tag: str, kind: BlockKind, depth: int) -> None:
        if tag in _HEADINGS:
            self._builder.heading(_visible_text(node), _HEADINGS[tag])
        elif tag == "pre":
            self._builder.add(node.text(deep=True).rstrip(), BlockKind.CODE)
        elif tag == "table" and _is_data_table(node):
            self._table(node)
        else:
            self.visit(node, _KINDS.get(tag, kind), depth + 1)

    def _table(self, table: LexborNode) -> None:
        for caption in table.css("caption"):
            self._builder.add(collapse(_visible_text(caption)), BlockKind.CAPTION)
        rows = [row for row in table.css("tr") if row.parent is not None]
        cells = [[collapse(_visible_text(cell)) for cell in row.iter() if cell.tag in ("td", "th")] for row in rows]
        first = rows[0] if rows else None
        has_header = first is not None and (_in_head(first) or all(cell.tag == "th" for cell in first.iter()))
        for line in table_rows(cells, has_header):
            self._builder.add(line, BlockKind.TABLE_ROW, separator="\n")

    def _input(self, node: LexborNode) -> None:
        shown = (node.attributes.get("type") or "text").lower() in ("text", "email", "number", "date", "tel", "url")
        if shown:
            self._inline.append(f" {node.attributes.get('value') or ''} ")

    def _flush(self, kind: BlockKind) -> None:
        text = "".join(self._inline)
        self._inline.clear()
        lines = [line for part in text.split("\n") if (line := collapse(part))]
        if lines:
            self._builder.add("\n".join(lines), kind, separator="\n" if kind is BlockKind.LIST_ITEM else "\n\n")


def _visible_text(node: LexborNode) -> str:
    """Text of a heading or a cell; block elements inside it stand apart by a space."""
    parts: list[str] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.is_text_node:
            parts.append(current.text_content or "")
            continue
        if current is not node and (current.tag in _HIDDEN or _is_hidden(current)):
            continue
        if current.tag in _BLOCKS or current.tag in ("br", "img"):
            parts.append(" " + (current.attributes.get("alt") or "" if current.tag == "img" else ""))
        children = list(current.iter(include_text=True))
        stack.extend(reversed(children))
    return "".join(parts)


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true" or attributes.get("role") in _HIDDEN_ROLES:
        return True
    return bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))


def _in_head(row: LexborNode) -> bool:
    return row.parent is not None and row.parent.tag == "thead"


def _is_data_table(table: LexborNode) -> bool:
    """Rows and columns of short values, against a table that only lays out the page."""
    if table.css_first("table table, h1, h2, h3, ul, ol, pre, form") is not None:
        return False
    cells = table.css("td, th")
    return len(cells) > 1 and all(len(cell.text(deep=True)) < 1000 for cell in cells)
