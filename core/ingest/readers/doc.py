"""Word documents of the old kind (.doc, Word 6 to 2003): headings, paragraphs, table rows, notes, comments, boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.doc_pieces import WordFile
from core.ingest.readers.old_office import Compound, NotUnderstood, read_old
from core.ingest.readers.rows import table_rows

_MARK = re.compile(r"[\r\x07\x0c]")
_FIELD = re.compile(r"\x13[^\x13\x14\x15]*(?:\x14([^\x13\x14\x15]*))?\x15")  # an instruction, and what it shows
_NOTES = {2: (3, 2, "footnotes"), 46: (47, 2, "endnotes"), 4: (5, 30, "comments")}  # of the FIB: references, texts
_SIGNS = {"\x0b": "\n", "\x1e": "-", "\x1f": "", "\xa0": " ", "\x01": "", "\x02": "", "\x05": "", "\x08": ""}
_SIGN = re.compile("[\x01\x02\x05\x08\x0b\x1e\x1f\xa0]")


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    yield from read_old(path, limits, tick, _direct, "docx")


def _direct(path: Path, limits: Limits, tick: Tick) -> ReadDocument:
    with Compound(path, limits) as compound:
        word = WordFile(compound.stream("WordDocument"), (compound.stream("0Table"), compound.stream("1Table")))
        builder = TextBuilder(limits.output_characters)
        _Writer(word, builder, tick).write()
        if word.text and builder.length * 20 < len(word.text.strip("\0\r")):
            raise NotUnderstood  # most of it was no text
        return compound.build(builder)


class _Writer:
    def __init__(self, word: WordFile, builder: TextBuilder, tick: Tick) -> None:
        self._word = word
        self._builder = builder
        self._tick = tick
        self._cell = ""  # the paragraphs of the cell at hand
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._notes: list[tuple[int, str]] = sorted(self._note_texts())

    def write(self) -> None:
        start, end = self._word.part("text")
        self._part(start, end, with_notes=True)
        for name in ("boxes", "headers"):
            self._builder.leave_headings()
            seen: set[str] = set()
            for line in _MARK.split(self._word.text[slice(*self._word.part(name))]):
                text = collapse(_shown(line))
                if text and text not in seen and not text.isdigit():
                    seen.add(text)
                    self._builder.add(text)

    def _note_texts(self) -> Iterator[tuple[int, str]]:
        """Where in the text a note or comment is referred to, and what it says."""
        for references, (texts, extra, part) in _NOTES.items():
            start, end = self._word.part(part)
            places, bounds = self._word.references(references, extra), self._word.places(texts)
            for index, place in enumerate(places):
                if index + 1 < len(bounds):
                    text = self._word.text[min(start + bounds[index], end) : min(start + bounds[index + 1], end)]
                    said = collapse(_shown(text))
                    yield place, f"Comment: {said}" if said and part == "comments" else said

    def _part(self, start: int, end: int, with_notes: bool) -> None:
        """Paragraphs and cells between two positions; each ends with a mark."""
        position = start
        for mark in _MARK.finditer(self._word.text, start, end):
            self._tick()
            if self._builder.full:
                return
            self._paragraph(self._word.text[position : mark.start()], mark[0], mark.start())
            position = mark.end()
            while with_notes and self._notes and self._notes[0][0] < position and not self._cells:
                self._end_table()
                self._builder.add(self._notes.pop(0)[1])
        self._paragraph(self._word.text[position:end], "\r", end)
        self._end_table()
        for _, text in self._notes if with_notes else ():
            self._builder.add(text)

    def _paragraph(self, raw: str, mark: str, position: int) -> None:
        text = "\n".join(collapse(line) for line in _shown(raw).split("\n")).strip()
        look = self._word.look(position)
        row_end = look.row_end if self._word.modern else not text and bool(self._cells)
        if mark == "\x07" and row_end:
            self._rows.append(self._cells)
            self._cells = []
        elif mark == "\x07":
            self._cells.append(collapse(f"{self._cell} {text}"))
            self._cell = ""
        elif look.in_table:  # a paragraph of a cell that has more of them
            self._cell = f"{self._cell} {text}"
        elif text:
            self._end_table()
            if look.level:
                self._builder.heading(text, look.level)
            else:
                self._builder.add(text)

    def _end_table(self) -> None:
        if self._cells or self._cell.strip():
            self._rows.append([*self._cells, collapse(self._cell)])
        for line in table_rows(self._rows, has_header=False):
            self._builder.add(line, BlockKind.TABLE_ROW, separator="\n")
        self._rows, self._cells, self._cell = [], [], ""


def _shown(text: str) -> str:
    """Text as it is seen: fields by what they show, signs of the program as plain ones."""
    for _ in range(8):  # fields may stand in fields
        text, count = _FIELD.subn(lambda match: match[1] or "", text)
        if not count:
            break
    text = re.sub(r"\x13[^\x14\x15]*\x14?|[\x14\x15]", "", text)
    return _SIGN.sub(lambda match: _SIGNS[match[0]], text)
