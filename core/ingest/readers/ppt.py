"""PowerPoint presentations of the old kind (.ppt, 97 to 2003): slides in order, with notes and comments.

After [MS-PPT]: the file is a log of edits. The last edit lists where each object stands now; the document object lists
the slides in order, with the text of their outlines; the other texts stand in the shapes of each slide.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder
from core.ingest.readers.old_office import Compound, Locked, NotUnderstood, read_old

_DOCUMENT, _SLIDE, _NOTES, _LIST, _PERSIST = 1000, 1006, 1008, 4080, 1011
_HEADER, _CHARS, _BYTES, _OUTLINE_REF = 3999, 4000, 4008, 3998
_EDIT, _DIRECTORY, _CRYPT, _STRING, _COMMENT, _SLIDE_SHOW, _NOTES_ATOM = 4085, 6002, 12052, 4026, 12000, 1017, 1009
_HIDDEN = 0x04
_TITLES, _NOTE_TEXT = (0, 6), 2  # kinds of text
_ENCRYPTED_TOKEN = 0xF3D1C4DF
_DEEPEST, _MOST_EDITS = 20, 1000


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    yield from read_old(path, limits, tick, _direct, "pptx")


@dataclass(frozen=True, slots=True)
class _Record:
    kind: int
    instance: int
    container: bool
    start: int  # of its content
    end: int


@dataclass(slots=True)
class _Entry:
    """A slide in the list of slides: its object's number, its id, and the texts of its outline."""

    persist: int
    id: int
    texts: list[tuple[int, str]] = field(default_factory=list)


def _direct(path: Path, limits: Limits, tick: Tick) -> ReadDocument:
    with Compound(path, limits) as compound:
        builder = TextBuilder(limits.output_characters)
        user = compound.stream("Current User")
        if len(user) >= 20 and struct.unpack_from("<I", user, 12)[0] == _ENCRYPTED_TOKEN:
            raise Locked
        _Reader(compound.stream("PowerPoint Document"), user, builder, tick).read()
        return compound.build(builder)


class _Reader:
    def __init__(self, data: bytes, user: bytes, builder: TextBuilder, tick: Tick) -> None:
        if len(data) < 8 or len(user) < 20:
            raise NotUnderstood
        self._data = data
        self._builder = builder
        self._tick = tick
        self._objects = self._directory(struct.unpack_from("<I", user, 16)[0])

    def _record(self, position: int) -> _Record:
        version, kind, size = struct.unpack_from("<HHI", self._data, position)
        end = min(position + 8 + size, len(self._data))
        return _Record(kind, version >> 4, version & 0xF == 0xF, position + 8, end)

    def _children(self, parent: _Record) -> Iterator[_Record]:
        position = parent.start
        while position + 8 <= parent.end:
            record = self._record(position)
            yield record
            position = max(record.end, position + 8)

    def _walk(self, parent: _Record, depth: int = 0) -> Iterator[_Record]:
        """All records below `parent`, in the order of the file."""
        for record in self._children(parent):
            yield record
            if record.container and depth < _DEEPEST:
                yield from self._walk(record, depth + 1)

    def _directory(self, position: int) -> dict[int, int]:
        """Number of an object → where it stands. Later edits win, so they are read first."""
        found: dict[int, int] = {}
        for _ in range(_MOST_EDITS):
            edit = self._record(position)
            if edit.kind != _EDIT or edit.end - edit.start < 28:
                raise NotUnderstood
            earlier, offset = struct.unpack_from("<8xII", self._data, edit.start)
            self._edition(offset, found)
            if edit.end - edit.start >= 32:  # the number of an encryption session
                session = found.get(struct.unpack_from("<I", self._data, edit.start + 28)[0])
                if session is not None and self._record(session).kind == _CRYPT:
                    raise Locked
            if not earlier:
                return found
            position = earlier
        raise NotUnderstood

    def _edition(self, position: int, found: dict[int, int]) -> None:
        directory = self._record(position)
        if directory.kind != _DIRECTORY:
            raise NotUnderstood
        position = directory.start
        while position + 4 <= directory.end:
            head = struct.unpack_from("<I", self._data, position)[0]
            first, count = head & 0xFFFFF, head >> 20
            offsets = struct.unpack_from(f"<{count}I", self._data, position + 4)
            for step, offset in enumerate(offsets):
                found.setdefault(first + step, offset)
            position += 4 + 4 * count

    def read(self) -> None:
        document = next((r for r in map(self._record, self._objects.values()) if r.kind == _DOCUMENT), None)
        if document is None:
            raise NotUnderstood
        lists = {r.instance: r for r in self._children(document) if r.kind == _LIST}
        slides = self._entries(lists[0]) if 0 in lists else []
        notes = self._notes(self._entries(lists[2]) if 2 in lists else [])
        for number, entry in enumerate(slides, start=1):
            self._tick()
            if self._builder.full:
                return
            self._slide(number, entry, notes.get(entry.id, []))

    def _entries(self, parent: _Record) -> list[_Entry]:
        """The slides of a list, in order."""
        entries: list[_Entry] = []
        kind = 0
        for record in self._children(parent):
            if record.kind == _PERSIST:
                persist, ident = struct.unpack_from("<I8xI", self._data, record.start)
                entries.append(_Entry(persist, ident))
            elif record.kind == _HEADER:
                kind = struct.unpack_from("<I", self._data, record.start)[0]
            elif record.kind in (_CHARS, _BYTES) and entries:
                entries[-1].texts.append((kind, self._text(record)))
        return entries

    def _text(self, record: _Record) -> str:
        data = self._data[record.start : record.end]
        return data.decode("latin-1") if record.kind == _BYTES else data.decode("utf-16-le", "replace")

    def _object(self, persist: int, kind: int) -> _Record | None:
        position = self._objects.get(persist)
        record = self._record(position) if position is not None else None
        return record if record is not None and record.kind == kind else None

    def _notes(self, entries: list[_Entry]) -> dict[int, list[str]]:
        """Id of a slide → what its speaker notes say."""
        found: dict[int, list[str]] = {}
        for entry in entries:
            record = self._object(entry.persist, _NOTES)
            atom = next((r for r in self._children(record) if r.kind == _NOTES_ATOM), None) if record else None
            if record is not None and atom is not None:
                slide = struct.unpack_from("<I", self._data, atom.start)[0]
                texts = [(kind, text) for kind, text in self._texts(record, entry) if text.strip() not in ("", "*")]
                found[slide] = [text for kind, text in texts if kind == _NOTE_TEXT] or [text for _, text in texts]
        return found

    def _texts(self, parent: _Record, entry: _Entry) -> list[tuple[int, str]]:
        """Kind and text of each shape; a shape may show a text of the outline by its number."""
        found: list[tuple[int, str]] = []
        kind, used = 4, set()
        for record in self._walk(parent):
            if record.kind == _HEADER:
                kind = struct.unpack_from("<I", self._data, record.start)[0]
            elif record.kind in (_CHARS, _BYTES):
                found.append((kind, self._text(record)))
            elif record.kind == _OUTLINE_REF:
                number = struct.unpack_from("<I", self._data, record.start)[0]
                if number < len(entry.texts) and number not in used:
                    used.add(number)
                    found.append(entry.texts[number])
        return [text for number, text in enumerate(entry.texts) if number not in used] + found

    def _slide(self, number: int, entry: _Entry, notes: list[str]) -> None:
        record = self._object(entry.persist, _SLIDE)
        children = list(self._children(record)) if record is not None else []
        show = next((r for r in children if r.kind == _SLIDE_SHOW and r.end - r.start >= 12), None)
        hidden = show is not None and bool(struct.unpack_from("<8xxxH", self._data, show.start)[0] & _HIDDEN)
        self._builder.leave_headings()
        self._builder.open_page(number, label=f"Slide {number}{' (hidden)' if hidden else ''}")
        texts = self._texts(record, entry) if record is not None else entry.texts
        for kind, text in sorted(texts, key=lambda pair: pair[0] not in _TITLES):
            self._say(kind, text)
        if any(text.strip() for text in notes):
            self._builder.heading("Speaker notes", 2)
        for text in notes:
            self._say(_NOTE_TEXT, text)
        for text in self._comments(record) if record is not None else ():
            self._builder.add(text)

    def _say(self, kind: int, text: str) -> None:
        text = text.replace("\x0b", "\n" if kind not in _TITLES else " ")
        if kind in _TITLES:
            self._builder.heading(text, 1)
            return
        separator = "\n\n"
        for line in text.split("\r"):
            outline = kind in (1, 5, 7, 8) and len(text) > len(line)
            self._builder.add(line, BlockKind.LIST_ITEM if outline else BlockKind.PARAGRAPH, separator=separator)
            separator = "\n"

    def _comments(self, slide: _Record) -> Iterator[str]:
        for record in self._walk(slide):
            if record.kind == _COMMENT:
                parts = {r.instance: self._text(r) for r in self._children(record) if r.kind == _STRING}
                if parts.get(1, "").strip():
                    yield f"Comment by {parts.get(0, '')}: {parts[1]}" if parts.get(0) else f"Comment: {parts[1]}"
