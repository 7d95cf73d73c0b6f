"""The formats in which conversations and answers leave the library, and the one function that writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from core.base.errors import BadSetting
from core.base.types import Document
from core.base.wire import to_plain
from core.store.exports.content import content, one_line
from core.store.exports.docx import docx
from core.store.exports.html import html, html_part
from core.store.exports.markdown import markdown
from core.store.exports.references import bibtex, csl, references
from core.store.turns import StoredTurn

VERSION = 1  # of the JSON
_LONGEST_NAME = 200  # bytes: file systems take 255 with the ending
_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))}  # on Windows


class Format(StrEnum):
    MARKDOWN = "md"
    HTML = "html"
    DOCX = "docx"
    JSON = "json"
    BIBTEX = "bib"
    CSL = "csl"

    @property
    def suffix(self) -> str:
        """How a file's name ends."""
        return ".csl.json" if self is Format.CSL else f".{self.value}"


def written(kind: Format, title: str, turns: Sequence[StoredTurn], documents: Mapping[int, Document]) -> bytes:
    """The exchanges as the bytes of a file; `documents` are those of the cited that the library still has."""
    match kind:
        case Format.MARKDOWN:
            return _bytes(markdown(content(title, turns)))
        case Format.HTML:
            return _bytes(html(content(title, turns)))
        case Format.DOCX:
            return docx(content(title, turns))
        case Format.JSON:
            return _json(title, turns)
        case Format.BIBTEX:
            return _bytes(bibtex(references([turn.answer for turn in turns], documents)))
        case Format.CSL:
            return _bytes(csl(references([turn.answer for turn in turns], documents)))


def rich_text(title: str, turns: Sequence[StoredTurn]) -> str:
    """The exchanges as HTML for the clipboard."""
    return html_part(content(title, turns))


def format_of(path: Path) -> Format:
    """The format that a file's name asks for. Raises BadSetting."""
    for kind in sorted(Format, key=lambda kind: -len(kind.suffix)):
        if path.name.lower().endswith(kind.suffix):
            return kind
    known = ", ".join(kind.suffix for kind in Format)
    raise BadSetting(f"The name {path.name} does not tell a format.", f"Let it end with one of: {known}.")


def file_name(title: str, kind: Format) -> str:
    """A name that every file system takes."""
    plain = "".join(" " if c in '<>:"/\\|?*' or not c.isprintable() else c for c in title)
    short = one_line(plain).strip(". ")[:80].encode("utf-8", "replace")[:_LONGEST_NAME].decode("utf-8", "ignore")
    name = short.rstrip(". ") or "conversation"
    return ("_" if name.split(".")[0].strip().upper() in _DEVICES else "") + name + kind.suffix


def _json(title: str, turns: Sequence[StoredTurn]) -> bytes:
    value = {"format": "whymatch-conversation", "version": VERSION, "title": title, "turns": to_plain(tuple(turns))}
    return _bytes(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
