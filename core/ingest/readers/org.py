"""Org files: outline, text, code and tables; drawers, comments and settings are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.markup_lines import Lines
from core.ingest.readers.plain_file import load
from core.ingest.readers.rows import table_rows

_HEADLINE = re.compile(
    r"(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#[A-Z0-9]\]\s+)?(.*?)(\s+:[\w@#%:]+:)?\s*"
)
_SETTING = re.compile(r"#\+(\w+):\s*(.*)")
_BEGIN = re.compile(r"\s*#\+begin_(\w+)\b.*", re.I)
_DRAWER = re.compile(r"\s*:(?:PROPERTIES|LOGBOOK|CLOCK):\s*", re.I)
_LINK = re.compile(r"\[\[(?:[^\]\[]*)\]\[([^\]]*)\]\]|\[\[([^\]\[]*)\]\]")
_MARK = re.compile(r"(?<!\w)([*/_=~+])(?=\S)([^\n]*?\S)\1(?!\w)")
_CODE = {"src", "example", "export"}


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    file = load(path, limits)
    builder = TextBuilder(limits.output_characters)
    settings: dict[str, str] = {}
    lines = iter(file.text.split("\n"))
    paragraph = Lines(builder, plain)
    table: list[list[str]] = []
    for line in lines:
        tick()
        if line.lstrip().startswith("|"):
            paragraph.flush()
            table.append(_cells(line))
            continue
        _add_table(table, builder)
        _add_line(line, lines, paragraph, builder, settings)
    _add_table(table, builder)
    paragraph.flush()
    date = settings.get("date", "").strip("<>[]")
    document = builder.build(
        title=plain(settings.get("title", "")),
        author=settings.get("author", ""),
        created=date[:10] if re.match(r"\d{4}-\d{2}-\d{2}", date) else "",
        language=settings.get("language", "")[:2].lower(),
        warnings=file.warnings,
    )
    yield file.marked(document)


def _add_line(
    line: str, following: Iterator[str], paragraph: Lines, builder: TextBuilder, settings: dict[str, str]
) -> None:
    """One line outside of a table, and the block that it opens."""
    headline, block, setting = _HEADLINE.fullmatch(line), _BEGIN.fullmatch(line), _SETTING.match(line.strip())
    if headline:
        paragraph.flush()
        builder.heading(plain(headline.group(2)), len(headline.group(1)))
    elif block:
        paragraph.flush()
        _add_block(block.group(1).lower(), following, builder)
    elif _DRAWER.fullmatch(line):
        for inner in following:
            if inner.strip().upper() == ":END:":
                break
    elif setting:
        paragraph.flush()
        settings.setdefault(setting.group(1).lower(), setting.group(2))
        if setting.group(1).lower() in ("caption", "title", "subtitle"):
            builder.add(plain(setting.group(2)), BlockKind.CAPTION)
    elif not re.match(r"\s*#(?:\s|$)", line):
        paragraph.add(line)


def _add_block(kind: str, following: Iterator[str], builder: TextBuilder) -> None:
    inner = []
    for line in following:
        if line.strip().lower() == f"#+end_{kind}":
            break
        inner.append(line)
    if kind == "comment":
        return
    text = "\n".join(inner)
    if kind in _CODE:
        builder.add(text, BlockKind.CODE)
    else:
        builder.add("\n".join(map(collapse, plain(text).split("\n"))), BlockKind.QUOTE)


def _cells(line: str) -> list[str]:
    if re.match(r"\s*\|-", line):
        return []
    return [collapse(plain(cell)) for cell in line.strip().strip("|").split("|")]


def _add_table(rows: list[list[str]], builder: TextBuilder) -> None:
    """Adds the rows and empties the list; a rule below the first row makes it a header."""
    header = len(rows) > 1 and not rows[1]
    for line in table_rows([row for row in rows if row], header):
        builder.add(line, BlockKind.TABLE_ROW, separator="\n")
    rows.clear()


def plain(text: str) -> str:
    """Words without links and emphasis."""
    text = _LINK.sub(lambda match: match.group(1) or match.group(2) or "", text)
    return _MARK.sub(r"\2", text)
