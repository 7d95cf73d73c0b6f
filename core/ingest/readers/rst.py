"""reStructuredText: headings by their underlines, directives by their content; comments and targets are left out.

Nothing is included from other files.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.markup_lines import Lines
from core.ingest.readers.plain_file import load
from core.ingest.readers.rows import table_rows

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{1,}\s*")
_DIRECTIVE = re.compile(r"(\s*)\.\. (?:\|[^|]+\| )?([\w:-]+)::\s*(.*)")
_EXPLICIT = re.compile(r"(\s*)\.\.(?:\s|$)")
_FIELD = re.compile(r"\s*:([^:\n]+):(?:\s+(.*))?$")
_ROLE = re.compile(r":[\w:+.-]+:`([^`]*)`")
_LINK = re.compile(r"`([^`<]*?)\s*<[^`>]*>`__?")
_MARKS = re.compile(
    r"``([^`]+)``|\*\*([^*]+)\*\*|(?<![\w*])\*([^*\s][^*]*)\*|`([^`]+)`_{0,2}|\|([^|\s][^|]*)\|_?|(\w+)__?\b(?=\W|$)"
)
_CODE = frozenset(
    ["code", "code-block", "sourcecode", "parsed-literal", "math", "doctest", "prompt"],
)
_DROPPED = frozenset(
    ["toctree", "contents", "include", "raw", "index", "meta", "class", "role", "default-role", "image", "highlight",
     "currentmodule", "module", "only", "automodule", "autoclass", "autofunction", "literalinclude"]
)  # fmt: skip
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_SIMPLE = re.compile(r"\s*=+(?:\s+=+)+\s*")


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    file = load(path, limits)
    builder = TextBuilder(limits.output_characters)
    reader = _Reader(file.text.expandtabs(8).split("\n"), builder, tick)
    reader.read()
    document = builder.build(
        title=reader.title, author=reader.fields.get("author", ""), created=reader.created, warnings=file.warnings
    )
    yield file.marked(document)


class _Reader:
    def __init__(self, lines: list[str], builder: TextBuilder, tick: Tick) -> None:
        self._lines = lines
        self._builder = builder
        self._tick = tick
        self._styles: list[tuple[str, bool]] = []  # adornments in the order met: their depth
        self._paragraph = Lines(builder, plain)
        self.title = ""
        self.fields: dict[str, str] = {}

    @property
    def created(self) -> str:
        date = self.fields.get("date", "")
        return date if re.match(r"\d{4}-\d{2}-\d{2}", date) else ""

    def read(self) -> None:
        at = 0
        while at < len(self._lines):
            self._tick()
            at = self._block(at)
        self._paragraph.flush()

    def _block(self, at: int) -> int:
        """Reads what begins at line `at`; returns where the next begins."""
        line = self._lines[at]
        for attempt in (self._heading, self._table, self._explicit, self._field):
            after = attempt(at)
            if after:
                return after
        if line.rstrip().endswith("::"):
            self._paragraph.add(re.sub(r"\s*::\s*$", "" if line.strip() == "::" else ":", line))
            return self._literal(at)
        self._paragraph.add(line)
        return at + 1

    def _heading(self, at: int) -> int:
        line = self._line(at)
        over = bool(_ADORNMENT.fullmatch(line)) and self._line(at + 1).strip() and line[:1] == self._line(at + 2)[:1]
        text, under = (self._line(at + 1), self._line(at + 2)) if over else (line, self._line(at + 1))
        if (
            not _ADORNMENT.fullmatch(under)
            or not text.strip()
            or _ADORNMENT.fullmatch(text)
            or (text[:1].isspace() and not over)
        ):
            return 0
        if len(under.strip()) < min(len(text.strip()), 4) or len(under.strip()) * 2 < len(text.strip()):
            return 0
        style = (under[0], bool(over))
        if style not in self._styles:
            self._styles.append(style)
        self._paragraph.flush()
        heading = collapse(plain(text))
        self._builder.heading(heading, self._styles.index(style) + 1)
        self.title = self.title or heading
        return at + (3 if over else 2)

    def _table(self, at: int) -> int:
        line = self._line(at)
        if not _GRID.fullmatch(line) and not _SIMPLE.fullmatch(line):
            return 0
        self._paragraph.flush()
        end = at
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        rows, header = (_grid_rows if _GRID.fullmatch(line) else _simple_rows)(self._lines[at:end])
        for text in table_rows(rows, header):
            self._builder.add(text, BlockKind.TABLE_ROW, separator="\n")
        return end

    def _explicit(self, at: int) -> int:
        """A directive, a comment, a target or a footnote: all begin with two dots."""
        line = self._lines[at]
        if not _EXPLICIT.match(line):
            return 0
        self._paragraph.flush()
        indent = len(line) - len(line.lstrip())
        end = self._end_of_indented(at + 1, indent)
        body = [part[:0] if not part.strip() else part for part in self._lines[at + 1 : end]]
        directive = _DIRECTIVE.match(line)
        footnote = re.match(r"\s*\.\. \[[^\]]+\]\s+(.*)", line)
        if directive:
            self._directive(directive.group(2).rpartition(":")[2], directive.group(3), body)
        elif footnote:
            self._nested([footnote.group(1), *textwrap.dedent("\n".join(body)).split("\n")])
        return end

    def _directive(self, kind: str, argument: str, body: list[str]) -> None:
        options = {}
        while body and (field := _FIELD.fullmatch(body[0])):
            options[field.group(1)] = field.group(2) or ""
            body = body[1:]
        text = textwrap.dedent("\n".join(body)).strip("\n")
        if kind in ("image", "figure"):
            self._builder.add(plain(options.get("alt", "")), BlockKind.CAPTION)
        if kind in _CODE:
            self._builder.add(f"{argument}\n{text}" if kind == "math" else text, BlockKind.CODE)
        elif kind in ("csv-table", "list-table"):
            self._builder.add(plain(argument), BlockKind.CAPTION)
            self._nested(text.split("\n"))
        elif kind not in _DROPPED:
            self._nested([argument if kind != "figure" else "", "", *text.split("\n")])

    def _nested(self, lines: list[str]) -> None:
        inner = _Reader(lines, self._builder, self._tick)
        inner._styles = self._styles
        inner.read()

    def _field(self, at: int) -> int:
        field = _FIELD.fullmatch(self._lines[at])
        if not field or len(field.group(1)) > 40:
            return 0
        self._paragraph.flush()
        name, value = field.group(1), field.group(2) or ""
        self.fields.setdefault(name.lower(), value)
        self._builder.add(f"{name}: {plain(value)}" if value else "", separator="\n")
        return at + 1

    def _literal(self, at: int) -> int:
        """The indented lines below `::`."""
        self._paragraph.flush()
        indent = len(self._lines[at]) - len(self._lines[at].lstrip())
        end = self._end_of_indented(at + 1, indent)
        self._builder.add(textwrap.dedent("\n".join(self._lines[at + 1 : end])).strip("\n"), BlockKind.CODE)
        return end

    def _end_of_indented(self, at: int, indent: int) -> int:
        end = at
        while end < len(self._lines):
            line = self._lines[end]
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            end += 1
        return end

    def _line(self, at: int) -> str:
        return self._lines[at] if at < len(self._lines) else ""


def plain(text: str) -> str:
    """Words without roles, links and emphasis."""
    text = _LINK.sub(r"\1", _ROLE.sub(lambda m: re.sub(r"\s*<[^>]*>$", "", m.group(1)).lstrip("~!"), text))
    return _MARKS.sub(lambda m: next((group for group in m.groups() if group), ""), text)


def _grid_rows(lines: list[str]) -> tuple[list[list[str]], bool]:
    rows: list[list[str]] = []
    parts: list[list[str]] = []
    header = False
    for line in lines[1:]:
        if _GRID.fullmatch(line):
            header = header or "=" in line
            rows.append([collapse(plain(" ".join(cell))) for cell in parts])
            parts = []
            continue
        for index, cell in enumerate(line.strip().strip("|").split("|")):
            if index == len(parts):
                parts.append([])
            parts[index].append(cell.strip())
    return rows, header


def _simple_rows(lines: list[str]) -> tuple[list[list[str]], bool]:
    starts = [match.start() for match in re.finditer(r"=+", lines[0])]
    rows = []
    for line in lines[1:]:
        if not line.strip() or set(line.strip()) <= {"=", " ", "-"}:
            continue
        bounds = zip(starts, [*starts[1:], len(line)], strict=True)
        rows.append([collapse(plain(line[begin:end])) for begin, end in bounds])
    header = sum(bool(_SIMPLE.fullmatch(line)) for line in lines) > 2
    return rows, header
