"""Markdown (CommonMark with tables): the clean text without its markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers import text as plain
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.charset import decode
from core.ingest.readers.html import walk
from core.ingest.readers.html_source import parse_page
from core.ingest.readers.rows import table_rows

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_FIELD = re.compile(r"^(title|author|date|lang|language)\s*:\s*(.+)$", re.I | re.M)


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    decoded = decode(path.read_bytes())
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    fields, body = _front_matter(text)
    builder = TextBuilder(limits.output_characters)
    first_heading = add_markdown(body, builder)
    made = builder.build(
        title=fields.get("title", "") or first_heading,
        author=fields.get("author", ""),
        created=fields.get("date", "") if re.match(r"\d{4}-\d{2}-\d{2}", fields.get("date", "")) else "",
        language=(fields.get("lang") or fields.get("language") or "")[:2].lower(),
        warnings=decoded.warnings,
    )
    if not made.text and re.search(r"\w", body):  # nested so deeply that the parser gives it up: no word may be lost
        yield from plain.read(path, limits, tick)
    else:
        yield made


def add_markdown(source: str, builder: TextBuilder) -> str:
    """Adds the blocks of `source`, and returns its first heading."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(source)
    _add_tokens(tokens, builder)
    return next((_inline(tokens[i + 1]) for i, t in enumerate(tokens) if t.type == "heading_open"), "")


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Simple fields of a YAML head, and the text below it."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return {}, text
    fields = {name.lower(): value.strip().strip("'\"") for name, value in _FIELD.findall(found.group(1))}
    return fields, text[found.end() :]


def _add_tokens(tokens: list[Token], builder: TextBuilder) -> None:
    containers: list[str] = []
    rows: list[list[str]] = []
    level = 0
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type in ("bullet_list_open", "ordered_list_open", "blockquote_open"):
            containers.append(token.type)
        elif token.type in ("bullet_list_close", "ordered_list_close", "blockquote_close"):
            containers.pop()
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "table_close":
            for line in table_rows(rows, has_header=True):
                builder.add(line, BlockKind.TABLE_ROW, separator="\n")
            rows = []
        elif token.type == "inline" and rows:
            rows[-1].append(collapse(_inline(token)))
        elif token.type == "inline" and level:
            builder.heading(_inline(token), level)
            level = 0
        elif token.type == "inline":
            _add_paragraph(_inline(token), containers, builder)
        elif token.type in ("fence", "code_block"):
            builder.add(token.content.rstrip(), BlockKind.CODE)
        elif token.type == "html_block":
            _add_html(token.content, builder)


def _add_paragraph(text: str, containers: list[str], builder: TextBuilder) -> None:
    lines = "\n".join(line for part in text.split("\n") if (line := collapse(part)))
    if containers and containers[-1] != "blockquote_open":
        builder.add(lines, BlockKind.LIST_ITEM, separator="\n")
    else:
        builder.add(lines, BlockKind.QUOTE if containers else BlockKind.PARAGRAPH)


def _inline(token: Token) -> str:
    """Text of an inline token: links by their words, pictures by their description, soft breaks as spaces."""
    parts = []
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type == "softbreak":
            parts.append(" ")
        elif child.type == "hardbreak" or (child.type == "html_inline" and child.content.startswith("<br")):
            parts.append("\n")
        elif child.type == "image":
            parts.append(child.content)
    return "".join(parts)


def _add_html(content: str, builder: TextBuilder) -> None:
    tree = parse_page(content)
    if tree.body is not None:
        walk(tree.body, builder)
