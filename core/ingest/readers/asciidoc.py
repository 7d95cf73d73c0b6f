"""AsciiDoc: headings, text, listings and tables. Nothing is included from other files."""

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

_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:\s+=+)?\s*")
_FENCE = re.compile(r"(-{4,}|={4,}|\.{4,}|\+{4,}|_{4,}|\*{4,}|/{4,}|```.*|--)\s*")
_TABLE = re.compile(r"[|,:!]={3,}\s*")
_ATTRIBUTE = re.compile(r":!?([\w-]+)!?:(?:\s+(.*))?")
_ATTRIBUTES_LINE = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\s*")
_MACRO = re.compile(r"(?:image|video|audio|include|toc|ifdef|ifndef|endif|ifeval)::([^\[\s]*)\[([^\]]*)\]\s*")
_LINK = re.compile(r"(?:link:|xref:|mailto:)?(?:https?://[^\s\[]+|[\w./#@:-]+)\[([^\]]+)\]|<<[^,>]+,?([^>]*)>>")
_MARK = re.compile(r"(?<!\w)(\*\*?|__?|``?|##?|\+\+?)(?=\S)([^\n]*?\S)\1(?!\w)")
_DROPPED_FENCE = "/"  # a comment
_CODE_FENCES = "-.+`"


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    file = load(path, limits)
    builder = TextBuilder(limits.output_characters)
    reader = _Reader(file.text.split("\n"), builder, tick)
    reader.read()
    date = reader.attributes.get("revdate", reader.attributes.get("date", ""))
    document = builder.build(
        title=reader.title,
        author=reader.attributes.get("author", ""),
        created=date if re.match(r"\d{4}-\d{2}-\d{2}", date) else "",
        language=reader.attributes.get("lang", "")[:2].lower(),
        warnings=file.warnings,
    )
    yield file.marked(document)


class _Reader:
    def __init__(self, lines: list[str], builder: TextBuilder, tick: Tick) -> None:
        self._lines = lines
        self._builder = builder
        self._tick = tick
        self._paragraph = Lines(builder, plain)
        self.title = ""
        self.attributes: dict[str, str] = {}

    def read(self) -> None:
        at = 0
        while at < len(self._lines):
            self._tick()
            at = self._block(at)
        self._paragraph.flush()

    def _block(self, at: int) -> int:
        """Reads what begins at line `at`; returns where the next begins."""
        line = self._lines[at]
        heading, attribute, macro = _HEADING.fullmatch(line), _ATTRIBUTE.fullmatch(line), _MACRO.fullmatch(line)
        if heading:
            self._paragraph.flush()
            self._heading(heading)
        elif attribute:
            self.attributes.setdefault(attribute.group(1).lower(), attribute.group(2) or "")
        elif macro:
            self._paragraph.flush()
            named = macro.group(2).split(",")[0] if line.startswith("image") else ""
            self._builder.add(plain(named.strip('"')), BlockKind.CAPTION)
        elif _TABLE.fullmatch(line):
            return self._table(at)
        elif _FENCE.fullmatch(line):
            return self._fenced(at)
        elif re.match(r"\.[^\s.]", line):
            self._paragraph.flush()
            self._builder.add(plain(line[1:]), BlockKind.CAPTION)
        elif (
            not _ATTRIBUTES_LINE.fullmatch(line)
            and not re.match(r"//(?!/)", line)
            and line.strip() not in ("+", "'''", "<<<")
        ):
            self._paragraph.add(line)
        return at + 1

    def _heading(self, heading: re.Match[str]) -> None:
        text = collapse(plain(heading.group(2)))
        self._builder.heading(text, len(heading.group(1)))
        self.title = self.title or text

    def _fenced(self, at: int) -> int:
        """A listing, a quote, a comment, or an example, whose text is read like any other."""
        mark = self._lines[at].strip()
        closing = "```" if mark.startswith("```") else mark
        end = next((i for i in range(at + 1, len(self._lines)) if self._lines[i].strip() == closing), 0)
        self._paragraph.flush()
        if not end or mark[0] in "=*" or mark == "--":
            return at + 1  # its lines are text; a mark without an end is none
        inner = self._lines[at + 1 : end]
        if mark[0] in _CODE_FENCES:
            self._builder.add("\n".join(inner), BlockKind.CODE)
        elif mark[0] != _DROPPED_FENCE:
            self._builder.add("\n".join(collapse(plain(line)) for line in inner), BlockKind.QUOTE)
        return end + 1

    def _table(self, at: int) -> int:
        mark = self._lines[at].strip()
        end = next((i for i in range(at + 1, len(self._lines)) if self._lines[i].strip() == mark), len(self._lines))
        self._paragraph.flush()
        for line in table_rows(_rows(self._lines[at + 1 : end], mark[0]), has_header=True):
            self._builder.add(line, BlockKind.TABLE_ROW, separator="\n")
        return end + 1


def _rows(lines: list[str], separator: str) -> list[list[str]]:
    """Rows with all cells on a line; a cell on each line makes rows as long as the first line or group of lines."""
    groups: list[list[str]] = [[]]
    for line in lines:
        if not line.strip():
            groups.append([])
            continue
        cells = re.split(
            rf"(?:(?<=\s)|^)[\d.+*<>^a-z]*{re.escape(separator)}" if separator in "|!" else separator, line
        )
        groups[-1].append("\0".join(collapse(plain(cell)) for cell in (cells[1:] if separator in "|!" else cells)))
    rows = [group for group in groups if group]
    if any("\0" in line for group in rows for line in group):
        return [line.split("\0") for group in rows for line in group]
    return rows


def plain(text: str) -> str:
    """Words without links and emphasis."""
    text = _LINK.sub(lambda match: (match.group(1) or match.group(2) or "").rstrip("^"), text)
    return _MARK.sub(r"\2", text)
