"""What the folder of a library tells: words in its bytes, and answers that quote its documents."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.base.types import Answer, AnswerMode, AnswerSentence, Citation, Support
from core.library import Library
from core.store import database

_PACKED = b"\x78"  # how zlib streams begin
_LONGEST = 1 << 20  # bytes of a stream that are unpacked


def found_in(library: Path, words: Sequence[str]) -> set[tuple[str, str]]:
    """Which words stand where in the library: in the name or the bytes of a file, in any of three encodings, or packed.

    Packed texts are looked for in every value of the database, and in its file wherever a packed stream begins.
    """
    found = set()
    for path in sorted(p for p in library.rglob("*") if p.is_file()):
        data = path.read_bytes()
        found |= {(word, path.name) for word in _said(data, words) | _said(str(path.relative_to(library)), words)}
        for part in _unpacked(data):
            found |= {(word, f"packed in {path.name}") for word in _said(part, words)}
    for table, value in _values(library):
        found |= {(word, table) for word in _said(value, words)}
    return found


def _said(data: bytes | str, words: Sequence[str]) -> set[str]:
    data = (data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data).lower()
    return {
        word for word in words if any(word.encode(encoding) in data for encoding in ("utf-8", "utf-16-le", "utf-16-be"))
    }


def _unpacked(data: bytes) -> Iterator[bytes]:
    at = data.find(_PACKED)
    while at >= 0:
        if int.from_bytes(data[at : at + 2], "big") % 31 == 0:  # a header that is one
            with contextlib.suppress(zlib.error):
                yield zlib.decompressobj().decompress(data[at : at + _LONGEST], _LONGEST)
        at = data.find(_PACKED, at + 1)


def _values(library: Path) -> Iterator[tuple[str, bytes]]:
    """Every packed value of every table."""
    db = database.open_reader(library)
    try:
        for name in db.table_names():
            for row in db.execute(f'SELECT * FROM "{name}"').fetchall():
                for value in row:
                    if isinstance(value, bytes):
                        with contextlib.suppress(zlib.error):
                            yield name, zlib.decompress(value)
    finally:
        db.conn.close()


def cite(library: Path, path: Path, marker: int = 1) -> Citation:
    """A citation of the first passage of the file."""
    reader = Library.open(library)
    document = next(d for d in reader.documents() if d.path == str(path) and d.passages)
    passage = reader.document_passages(document.id)[0]
    reader.close()
    return Citation(
        marker, passage.id, document.id, document.path, document.title, document.external_id, None, passage.start,
        passage.end, passage.text,
    )  # fmt: skip


def ask(library: Path, *citations: Citation) -> None:
    """Store an answer that quotes these places."""
    sentences = tuple(AnswerSentence(c.quote, Support.SUPPORTED, (c,)) for c in citations)
    text = " ".join(f"{s.text} [{s.citations[0].marker}]" for s in sentences)
    reader = Library.open(library)
    answer = Answer("What of bees?", AnswerMode.EXTRACTIVE, text, sentences, citations)
    reader.save_turn(None, f"What of bees? {citations[0].title}", answer)
    reader.close()


def answers(library: Path) -> list[Answer]:
    reader = Library.open(library)
    try:
        return [t.answer for c in reader.conversations() for t in reader.turns(c.id)]
    finally:
        reader.close()
