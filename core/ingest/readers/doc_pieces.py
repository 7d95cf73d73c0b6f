"""The text of a Word file of the old kind: where its pieces lie, and the style of each paragraph.

After [MS-DOC]: the FIB at the start of the stream tells where things are, the piece table puts the text together, and
pages of 512 bytes ("FKP") list the paragraphs with their properties.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from core.ingest.readers.old_office import Locked, NotUnderstood

_WORD_97 = 0xC1  # lowest version number whose text is in pieces of UTF-16 or code page 1252
_ENCRYPTED, _TABLE_1, _COMPLEX = 0x0100, 0x0200, 0x0004
_IN_TABLE, _ROW_END, _OUTLINE = 0x2416, 0x2417, 0x2640  # properties of a paragraph
_UNSEEN = frozenset([0x0800, 0x083C])  # properties of letters: deleted under tracked changes, hidden
_OPERAND_BYTES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
_PAGES = {
    0x0401: "cp1256", 0x0404: "cp950", 0x0405: "cp1250", 0x0408: "cp1253", 0x040D: "cp1255", 0x040E: "cp1250",
    0x0411: "cp932", 0x0412: "cp949", 0x0415: "cp1250", 0x0418: "cp1250", 0x0419: "cp1251", 0x041A: "cp1250",
    0x041B: "cp1250", 0x041E: "cp874", 0x041F: "cp1254", 0x0422: "cp1251", 0x0424: "cp1250", 0x0425: "cp1257",
    0x0426: "cp1257", 0x0427: "cp1257", 0x0804: "cp936",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`level` is its heading level (0 for text); `row_end` marks the one that closes a table's row."""

    level: int = 0
    row_end: bool = False
    in_table: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int  # in characters of the text
    end: int
    offset: int  # in bytes of the stream
    wide: bool


class WordFile:
    """`text` holds all parts one after the other; `part` gives one of them.

    Raises:
        Locked: the file is encrypted.
        NotUnderstood: it is no such file, or of an unknown version.
    """

    PARTS = ("text", "footnotes", "headers", "macros", "comments", "endnotes", "boxes", "header boxes")

    def __init__(self, main: bytes, tables: tuple[bytes, bytes]) -> None:
        if len(main) < 0x200 or main[:2] not in (b"\xec\xa5", b"\xdc\xa5"):
            raise NotUnderstood
        self.version, self._language = struct.unpack_from("<H2xH", main, 2)
        flags = struct.unpack_from("<H", main, 0x0A)[0]
        if flags & _ENCRYPTED:
            raise Locked
        self._main = main
        self.modern = self.version >= _WORD_97
        self._table = tables[bool(flags & _TABLE_1)] if self.modern else main
        counts = struct.unpack_from("<8i", main, 0x4C if self.modern else 0x34)
        if any(count < 0 for count in counts):
            raise NotUnderstood
        self._counts = dict(zip(self.PARTS, counts, strict=True))
        self._pieces = self._piece_table(bool(flags & _COMPLEX))
        if sum(piece.end - piece.start for piece in self._pieces) > len(main):  # pieces never overlap
            raise NotUnderstood
        self.text = "".join(self._piece_text(piece) for piece in self._pieces)
        self._ends: list[int] = []
        self._looks: list[Paragraph] = []
        if self.modern:
            self._without_unseen()
            self._paragraph_looks()

    def part(self, name: str) -> tuple[int, int]:
        """Start and end of a part in `text`."""
        start = sum(self._counts[before] for before in self.PARTS[: self.PARTS.index(name)])
        return min(start, len(self.text)), min(start + self._counts[name], len(self.text))

    def places(self, index: int) -> list[int]:
        """The character positions of the list that entry `index` of the FIB points to."""
        offset, size = self._entry(index)
        data = self._table[offset : offset + size]
        return list(struct.unpack_from(f"<{len(data) // 4}I", data)) if self.modern else []

    def references(self, index: int, extra: int) -> list[int]:
        """As `places`, for a list with `extra` bytes of data for each position but the last."""
        offset, size = self._entry(index)
        count = max(0, (size - 4) // (4 + extra))
        data = self._table[offset : offset + 4 * count]
        return list(struct.unpack(f"<{len(data) // 4}I", data)) if self.modern else []

    def _entry(self, index: int) -> tuple[int, int]:
        offset, size = struct.unpack_from("<II", self._main, 0x9A + 8 * index)
        return offset, size

    def _piece_table(self, is_complex: bool) -> list[_Piece]:
        offset, size = self._entry(33) if self.modern else struct.unpack_from("<II", self._main, 0x160)
        data = self._table[offset : offset + size]
        if not self.modern and (not is_complex or not data):
            first, last = struct.unpack_from("<II", self._main, 0x18)
            return [_Piece(0, max(0, min(last, len(self._main)) - first), first, False)]
        position = 0
        while position < len(data) and data[position] == 1:  # properties that pieces may share
            position += 3 + struct.unpack_from("<H", data, position + 1)[0]
        if data[position : position + 1] != b"\x02":
            raise NotUnderstood
        table = data[position + 5 : position + 5 + struct.unpack_from("<I", data, position + 1)[0]]
        count = (len(table) - 4) // 12
        ends = struct.unpack_from(f"<{count + 1}I", table)
        pieces = []
        for index in range(count):
            where = struct.unpack_from("<I", table, 4 * (count + 1) + 8 * index + 2)[0]
            wide = self.modern and not where & 0x40000000
            real = where if wide or not self.modern else (where & 0x3FFFFFFF) // 2
            if ends[index + 1] < ends[index]:
                raise NotUnderstood
            pieces.append(_Piece(ends[index], ends[index + 1], real, wide))
        return pieces

    def _piece_text(self, piece: _Piece) -> str:
        length = piece.end - piece.start
        data = self._main[piece.offset : piece.offset + length * (2 if piece.wide else 1)]
        if piece.wide:
            text = data.decode("utf-16-le", "surrogatepass")
            units = len(data) // 2
            # positions count UTF-16 units: a letter of two units keeps a filler, so that all offsets hold
            return text if len(text) == units else "".join(c if c < "\U00010000" else f"{c}\ufeff" for c in text)
        codec = "cp1252" if self.modern else _PAGES.get(self._language, "cp1252")
        text = data.decode(codec, "replace")
        return text if len(text) == length else text.ljust(length, "\ufeff")

    def look(self, position: int) -> Paragraph:
        """Of the paragraph whose end mark is at `position` of the text."""
        piece = self._pieces[max(0, bisect.bisect_right([p.start for p in self._pieces], position) - 1)]
        byte = piece.offset + (position - piece.start) * (2 if piece.wide else 1)
        index = bisect.bisect_right(self._ends, byte)
        return self._looks[index] if index < len(self._looks) else Paragraph()

    def _pages(self, index: int) -> list[bytes]:
        """The pages of properties that entry `index` of the FIB lists."""
        offset, size = self._entry(index)
        plc = self._table[offset : offset + size]
        count = max(0, (len(plc) - 4) // 8)
        numbers = struct.unpack_from(f"<{count}I", plc, 4 * (count + 1)) if count else ()
        pages = (self._main[512 * (number & 0x3FFFFF) :][:512] for number in numbers)
        return [page for page in pages if len(page) == 512]

    def _paragraph_looks(self) -> None:
        """For each paragraph, in the order of the stream: where it ends, and how it looks."""
        levels = self._style_levels()
        found = [pair for page in self._pages(13) for pair in self._page_looks(page, levels)]
        found.sort(key=lambda pair: pair[0])
        self._ends, self._looks = [end for end, _ in found], [look for _, look in found]

    def _without_unseen(self) -> None:
        """Put fillers in the place of deleted and hidden letters."""
        unseen = [run for page in self._pages(12) for run in _unseen_runs(page)]
        if not unseen:
            return
        letters = list(self.text)
        for piece in self._pieces:
            width = 2 if piece.wide else 1
            last = min(piece.offset + (piece.end - piece.start) * width, len(self._main))
            for start, end in unseen:
                first, stop = max(start, piece.offset), min(end, last)
                for at in range(first, stop, width):
                    index = piece.start + (at - piece.offset) // width
                    if index < len(letters) and letters[index] not in "\r\x07\x0c":
                        letters[index] = "\ufeff"
        self.text = "".join(letters)

    def _page_looks(self, page: bytes, levels: dict[int, int]) -> list[tuple[int, Paragraph]]:
        count = min(page[511], 29)
        ends = struct.unpack_from(f"<{count + 1}I", page)
        found = []
        for index in range(count):
            at = 2 * page[4 * (count + 1) + 13 * index]
            look = Paragraph()
            if at and at < 510:
                words = page[at]
                start = at + 1 if words else at + 2
                size = 2 * words - 1 if words else 2 * page[at + 1]
                look = _look(page[start : min(start + size, 511)], levels)
            found.append((ends[index + 1], look))
        return found

    def _style_levels(self) -> dict[int, int]:
        """Heading level by style number; styles that are based on a heading count as it."""
        offset, size = self._entry(1)
        sheet = self._table[offset : offset + size]
        if len(sheet) < 6:
            return {}
        head, count, fixed = struct.unpack_from("<HHH", sheet)
        position, bases, levels = 2 + head, {}, {index: index for index in range(1, 10)}
        for index in range(min(count, 4095)):
            if position + 2 > len(sheet):
                break
            length = struct.unpack_from("<H", sheet, position)[0]
            if length >= max(6, min(fixed, 10)):
                name, base = struct.unpack_from("<HH", sheet, position + 2)
                if 1 <= name & 0xFFF <= 9:
                    levels[index] = name & 0xFFF
                bases[index] = base >> 4
            position += 2 + length + (length & 1)
        for index in bases:
            above, steps = index, 0
            while above in bases and above not in levels and steps < 12:
                above, steps = bases[above], steps + 1
            if above in levels and index not in levels:
                levels[index] = levels[above]
        return levels


def _unseen_runs(page: bytes) -> list[tuple[int, int]]:
    """Start and end, in bytes of the stream, of the runs of letters that are marked as deleted or hidden."""
    count = min(page[511], 101)
    ends = struct.unpack_from(f"<{count + 1}I", page)
    runs = []
    for index in range(count):
        at = 2 * page[4 * (count + 1) + index]
        size = page[at] if at and at < 511 else 0
        if any(code in _UNSEEN and operand == 1 for code, operand in _properties(page[at + 1 : at + 1 + size])):
            runs.append((ends[index], ends[index + 1]))
    return runs


def _properties(data: bytes) -> Iterator[tuple[int, int]]:
    """Each property's code, and the first byte of its operand."""
    position = 0
    while position + 3 <= len(data):
        code, operand = struct.unpack_from("<HB", data, position)
        yield code, operand
        size = _OPERAND_BYTES.get(code >> 13)
        if code == 0xD608 and position + 4 <= len(data):  # the definition of a row has a longer length
            size = struct.unpack_from("<H", data, position + 2)[0] + 1
        position += 2 + (size if size is not None else operand + 1)


def _look(data: bytes, levels: dict[int, int]) -> Paragraph:
    """A style number, then properties: two bytes that name one, and its operand."""
    if len(data) < 2:
        return Paragraph()
    level = levels.get(struct.unpack_from("<H", data)[0], 0)
    row_end = in_table = False
    for code, operand in _properties(data[2:]):
        if code == _ROW_END:
            row_end = operand != 0
        elif code == _IN_TABLE:
            in_table = operand != 0
        elif code == _OUTLINE and operand < 9:
            level = operand + 1
    return Paragraph(level, row_end, in_table)
