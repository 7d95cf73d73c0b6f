"""Rich Text documents: code pages by font, Unicode with its fallbacks, notes, headers, text boxes, tables, properties.

The file is one flat run of tokens; groups are kept on a list, never by recursion, so nesting costs nothing. Words of a
destination that holds no text for the reader (fonts, pictures, embedded objects, field codes) are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse, failure
from core.ingest.readers.rows import table_rows
from core.ingest.readers.rtf_fonts import Fonts

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|([^\\{}\r\n\0]+)|[\r\n\0]|.", re.S
)
_SKIPPED = frozenset([
    "pict", "objdata", "objclass", "fldinst", "colortbl", "filetbl", "revtbl", "listtable", "listoverridetable", "xe",
    "tc", "rxe", "nonshppict", "nonesttables", "themedata", "datastore", "private", "bkmkstart", "bkmkend", "falt",
    "panose", "upr", "sp", "object", "operator", "company", "category", "keywords", "comment", "doccomm", "subject",
    "manager", "hlinkbase", "template", "pgdsctbl", "atrfstart", "atrfend", "atnref", "atndate", "atnid", "atnicn",
    "atnparent", "generator", "pnseclvl", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "userprops", "background",
])  # fmt: skip
_STARRED = frozenset(["shpinst", "annotation", "atnauthor", "ud"])  # behind \* and yet read
_MARKS = frozenset(["listtext", "pntext", "pntxtb", "pntxta"])  # what stands before a list item
_FLOWS = frozenset(["footnote", "annotation", "shptxt", "result"])
_PRINTED = frozenset(["header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"])
_FACTS = frozenset(["title", "author", "creatim", "revtim"])
_SIGNS = {
    "tab": " ", "line": "\n", "emdash": "\u2014", "endash": "\u2013", "emspace": " ", "enspace": " ", "qmspace": " ",
    "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d",
    "softline": " ", "nestcell": " ", "nestrow": "\n",
}  # fmt: skip
_SYMBOLS = {b"~": " ", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}", b"\n": "\n", b"\r": "\n"}
_HEADING_STYLE = re.compile(r"heading (\d)|(?:title)\b", re.I)


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    size = path.stat().st_size
    if size > limits.inflated_bytes:
        yield failure(DocumentState.TOO_LARGE, f"Rich Text files of up to {limits.inflated_bytes >> 20:,} MB are read.")
        return
    data = path.read_bytes()
    yield _Reader(limits).document(data, tick)


@dataclass(slots=True)
class _Flow:
    """A run of paragraphs: the body, a note, a text box. `later` are flows that follow the paragraph at hand."""

    kind: str = ""
    parts: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    headed: bool = False
    blocks: list[tuple[BlockKind, int, str]] = field(default_factory=list)
    later: list[_Flow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _State:
    """What a group inherits and gives back at its end."""

    destination: str = ""  # empty for text; "skip", "fonttbl", "stylesheet", a fact of the file, "atnauthor"
    font: int = -1
    fallback: int = 1  # signs after \\u that repeat it for older programs
    hidden: bool = False
    in_table: bool = False
    style: int = 0
    level: int = 0
    flow: bool = False  # this group opened a flow


class _Reader:
    def __init__(self, limits: Limits) -> None:
        self._builder = TextBuilder(limits.output_characters)
        self._fonts = Fonts()
        self._state = _State()
        self._stack: list[_State] = []
        self._flows = [_Flow()]
        self._bytes = bytearray()  # not decoded yet: letters of more than one byte come byte by byte
        self._skip = 0
        self._starred = False
        self._item = False
        self._styles: dict[int, int] = {}  # number of a style → heading level
        self._facts: dict[str, str] = {}
        self._dates: dict[str, dict[str, int]] = {}
        self._printed: dict[str, None] = {}
        self._commenter = ""

    def document(self, data: bytes, tick: Tick) -> ReadDocument:
        position = count = 0
        while (token := _TOKEN.match(data, position)) is not None:
            position, count = token.end(), count + 1
            if count % 4096 == 0:
                tick()
                if self._builder.full:
                    break
            if token[1] == b"bin":
                position += max(0, int(token[2] or 0))  # raw bytes, in which braces mean nothing
            else:
                self._token(token)
        while len(self._flows) > 1:
            self._close_flow()
        self._end_paragraph()
        self._end_table(self._flows[0])
        self._write(self._flows[0])
        for text in self._printed:
            self._builder.add(text)
        return self._builder.build(
            title=self._facts.get("title", ""),
            author=self._facts.get("author", ""),
            created=self._date("creatim"),
            modified=self._date("revtim"),
        )

    def _token(self, token: re.Match[bytes]) -> None:
        word, number, code, symbol, brace, text = token.groups()
        if text is not None or code is not None:
            self._letters(text if text is not None else bytes([int(code, 16)]))
        elif brace is not None:
            self._flush()
            self._skip = 0
            self._open() if brace == b"{" else self._close()
        elif word is not None:
            self._flush()
            self._word(word.decode("ascii"), int(number) if number is not None else None)
        elif symbol == b"*":
            self._starred = True
        elif symbol in _SYMBOLS:
            self._flush()
            if self._skip:
                self._skip -= 1
            elif symbol in (b"\n", b"\r"):
                self._word("par", None)
            else:
                self._say(_SYMBOLS[symbol])

    def _letters(self, data: bytes) -> None:
        if self._skip:
            dropped = min(self._skip, len(data))
            self._skip -= dropped
            data = data[dropped:]
        if self._state.destination != "skip":
            self._bytes += data

    def _flush(self) -> None:
        if self._bytes:
            text = self._fonts.decode(bytes(self._bytes), self._state.font)
            self._bytes.clear()
            self._say(text)

    def _say(self, text: str) -> None:
        state = self._state
        if state.destination == "":
            if not state.hidden:
                self._flows[-1].parts.append(text)
        elif state.destination == "stylesheet":
            heading = _HEADING_STYLE.match(text.strip())
            if heading:
                self._styles[state.style] = int(heading[1] or 1)
        elif state.destination in ("title", "author"):
            self._facts[state.destination] = self._facts.get(state.destination, "") + _joined(text)
        elif state.destination == "atnauthor":
            self._commenter = _joined(text)

    def _open(self) -> None:
        self._stack.append(self._state)
        self._state = replace(self._state, flow=False)
        self._starred = False

    def _close(self) -> None:
        if self._state.flow:
            self._close_flow()
        if self._stack:
            self._state = self._stack.pop()

    def _word(self, word: str, number: int | None) -> None:
        starred, self._starred = self._starred, False
        if self._skip and word != "u":
            self._skip -= 1
            return
        if self._state.destination == "skip":
            if word in ("result", "shptxt"):
                self._begin_flow(word)
            return
        if self._destination(word, starred):
            return
        if self._state.destination == "fonttbl":
            self._fonts.word(word, number or 0)
        elif self._state.destination in ("creatim", "revtim"):
            self._dates.setdefault(self._state.destination, {})[word] = number or 0
        else:
            self._style(word, number)

    def _destination(self, word: str, starred: bool) -> bool:
        """Whether `word` opens a destination."""
        if word in _FLOWS or word in _PRINTED:
            self._begin_flow(word)
        elif word in ("fonttbl", "stylesheet", "atnauthor") or word in _FACTS:
            self._state = replace(self._state, destination=word)
        elif word in _MARKS:
            self._item = True
            self._state = replace(self._state, destination="skip")
        elif word in _SKIPPED or word == "shpinst" or (starred and word not in _STARRED):
            self._state = replace(self._state, destination="skip")
        else:
            return False
        return True

    def _begin_flow(self, kind: str) -> None:
        self._flows.append(_Flow(kind))
        self._state = replace(self._state, destination="", flow=True, in_table=False, level=0, hidden=False)

    def _close_flow(self) -> None:
        self._end_paragraph()
        flow = self._flows.pop()
        self._end_table(flow)
        if flow.kind in _PRINTED:
            text = "\n".join(text for _, _, text in flow.blocks)
            if text and len(self._printed) < 100:
                self._printed.setdefault(text)
            return
        if flow.kind == "annotation" and flow.blocks:
            kind, level, text = flow.blocks[0]
            said = f"Comment by {self._commenter}: {text}" if self._commenter else f"Comment: {text}"
            flow.blocks[0] = (kind, level, said)
        if flow.blocks:
            self._flows[-1].later.append(flow)

    def _style(self, word: str, number: int | None) -> None:
        """Words of text and its looks."""
        if word == "u" and number is not None:
            self._say(chr(number & 0xFFFF))
            self._skip = self._state.fallback
        elif word == "uc":
            self._state = replace(self._state, fallback=min(max(number or 0, 0), 16))
        elif word in ("f", "deff"):
            self._state = replace(self._state, font=number or 0)
        elif word in ("ansi", "mac", "pc", "pca", "ansicpg"):
            self._fonts.page(word, number or 0)
        elif word in ("v", "deleted"):
            self._state = replace(self._state, hidden=number != 0)
        elif word == "plain":
            self._state = replace(self._state, hidden=False)
        elif word == "pard":
            self._item = False
            self._state = replace(self._state, in_table=False, style=0, level=0)
        elif word == "s":
            self._state = replace(self._state, style=number or 0, level=self._styles.get(number or 0, 0))
        elif word == "outlinelevel" and number is not None and 0 <= number < 9:
            self._state = replace(self._state, level=number + 1)
        elif word == "intbl":
            self._state = replace(self._state, in_table=True)
        elif self._state.destination == "":
            self._break(word)

    def _break(self, word: str) -> None:
        flow = self._flows[-1]
        if word in ("par", "sect", "page"):
            if self._state.in_table:
                flow.parts.append("\n")
            else:
                self._end_paragraph()
        elif word == "cell":
            flow.cells.append(collapse(_joined("".join(flow.parts))))
            flow.parts = []
        elif word == "row":
            flow.rows.append(flow.cells)
            flow.cells = []
        elif word == "trhdr":
            flow.headed = flow.headed or not flow.rows
        elif word in _SIGNS:
            self._say(_SIGNS[word])

    def _end_paragraph(self) -> None:
        flow = self._flows[-1]
        text = "\n".join(collapse(line) for line in _joined("".join(flow.parts)).split("\n")).strip()
        flow.parts = []
        if text or flow.later:
            self._end_table(flow)
        if text:
            kind = BlockKind.LIST_ITEM if self._item else BlockKind.PARAGRAPH
            flow.blocks.append((kind, self._state.level, text))
        for later in flow.later:
            flow.blocks += later.blocks
        flow.later = []
        if flow is self._flows[0]:
            self._write(flow)

    def _end_table(self, flow: _Flow) -> None:
        if flow.cells:
            flow.rows.append(flow.cells)
        width = max(map(len, flow.rows), default=0)
        rows = [row + [""] * (width - len(row)) for row in flow.rows] if width <= 1000 else flow.rows
        for line in table_rows(rows, flow.headed):
            flow.blocks.append((BlockKind.TABLE_ROW, 0, line))
        flow.rows, flow.cells, flow.headed = [], [], False

    def _write(self, flow: _Flow) -> None:
        for kind, level, text in flow.blocks:
            if level:
                self._builder.heading(text, level)
            else:
                self._builder.add(text, kind, separator="\n\n" if kind is BlockKind.PARAGRAPH else "\n")
        flow.blocks = []

    def _date(self, name: str) -> str:
        parts = self._dates.get(name, {})
        year, month, day = (parts.get(key, 0) for key in ("yr", "mo", "dy"))
        if not (1970 < year < 2200 and 1 <= month <= 12 and 1 <= day <= 31):
            return ""
        return f"{year:04d}-{month:02d}-{day:02d}T{parts.get('hr', 0) % 24:02d}:{parts.get('min', 0) % 60:02d}:00"


def _joined(text: str) -> str:
    """Halves of a letter beyond the first 65,536, put together."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
