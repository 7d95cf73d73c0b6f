"""Outlook messages (MSG): an OLE file whose streams are MAPI properties (MS-OXMSG)."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import olefile

from core.base.types import DocumentState, ReadDocument
from core.ingest import sniff
from core.ingest.budget import SharedLimits, shared
from core.ingest.limits import Limits, Tick
from core.ingest.members import read_inner, read_member
from core.ingest.readers import registry
from core.ingest.readers.build import TextBuilder, collapse, failure
from core.ingest.readers.charset import decode
from core.ingest.readers.html import decode_page
from core.ingest.readers.mail_body import add_page, add_plain
from core.ingest.readers.rtf_packed import BadPacking, unpack

_SUBJECT, _CLASS, _HEADERS = 0x0037, 0x001A, 0x007D
_SENDER, _SENDER_ADDRESS, _SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
_TO, _CC = 0x0E04, 0x0E03
_BODY, _RTF, _HTML = 0x1000, 0x1009, 0x1013
_SENT, _DELIVERED, _CODE_PAGE, _INTERNET_CODE_PAGE = 0x0039, 0x0E06, 0x3FFD, 0x3FDE
_LONG_NAME, _NAME, _DATA, _SHOWN_NAME, _CONTENT_ID = 0x3707, 0x3704, 0x3701, 0x3001, 0x3712
_HIDDEN = 0x7FFE
_STRING8, _UNICODE, _BINARY, _STORAGE = "001E", "001F", "0102", "000D"
_PROPERTIES = "__properties_version1.0"
_SMALL_PICTURE = 20_000
_EPOCH = datetime.datetime(1601, 1, 1, tzinfo=datetime.UTC)


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    """The message (title is its subject), then its attachments."""
    with olefile.OleFileIO(str(path)) as ole:
        storages = {tuple(entry) for entry in ole.listdir(streams=True, storages=True)}
        yield from _read(_Folder(ole, (), storages, 32), shared(limits), tick)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A storage of properties: the message, an attachment, a message within. `head` is where its fixed ones begin."""

    ole: olefile.OleFileIO
    path: tuple[str, ...]
    entries: set[tuple[str, ...]]
    head: int

    def bytes(self, tag: int, kind: str) -> bytes | None:
        name = (*self.path, f"__substg1.0_{tag:04X}{kind}")
        if name not in self.entries:
            return None
        data: bytes = self.ole.openstream(list(name)).read()
        return data

    def text(self, tag: int) -> str:
        """A text property, whichever way it is stored."""
        wide = self.bytes(tag, _UNICODE)
        if wide is not None:
            return wide.decode("utf-16-le", "replace").strip("\0")
        return decode((self.bytes(tag, _STRING8) or b"").strip(b"\0"), self.code_page(_CODE_PAGE)).text

    def number(self, tag: int) -> int:
        """A fixed property of up to eight bytes (MS-OXMSG, 2.4.2.1); 0 without it."""
        name = (*self.path, _PROPERTIES)
        data = self.ole.openstream(list(name)).read() if name in self.entries else b""
        for at in range(self.head, len(data) - 15, 16):
            if int.from_bytes(data[at + 2 : at + 4], "little") == tag:
                return int.from_bytes(data[at + 8 : at + 16], "little")
        return 0

    def code_page(self, tag: int) -> str:
        number = self.number(tag) & 0xFFFFFFFF
        return {0: "", 65001: "utf-8", 20127: "ascii", 20866: "koi8-r"}.get(number, f"cp{number}")

    def date(self) -> str:
        """When it was sent, else when it came, as ISO 8601."""
        ticks = self.number(_SENT) or self.number(_DELIVERED)
        try:
            return (_EPOCH + datetime.timedelta(microseconds=ticks // 10)).isoformat() if ticks else ""
        except OverflowError:
            return ""

    def inner(self, prefix: str) -> list[tuple[str, ...]]:
        depth = len(self.path)
        found = {e[: depth + 1] for e in self.entries if e[:depth] == self.path and len(e) > depth}
        return sorted(e for e in found if e[depth].startswith(prefix))


def _read(message: _Folder, limits: SharedLimits, tick: Tick) -> Iterator[ReadDocument]:
    yield _own(message, limits, tick)
    for number, path in enumerate(message.inner("__attach_version1.0_#")[: limits.members], 1):
        yield from _attachment(replace(message, path=path, head=8), number, limits, tick)


def _own(message: _Folder, limits: SharedLimits, tick: Tick) -> ReadDocument:
    subject = collapse(message.text(_SUBJECT))
    sender, address = collapse(message.text(_SENDER)), message.text(_SENDER_SMTP) or message.text(_SENDER_ADDRESS)
    shown = f"{sender} <{address}>" if "@" in address and address != sender else sender or address
    lines = (("From", shown), ("To", message.text(_TO)), ("Cc", message.text(_CC)), ("Date", message.date()))
    builder = TextBuilder(limits.output_characters)
    builder.heading(subject, 1)
    builder.add("\n".join(f"{name}: {collapse(value)}" for name, value in lines if value))
    _add_body(message, builder, limits, tick)
    document = builder.build(title=subject, author=sender or address, created=message.date())
    if message.text(_CLASS).lower() == "ipm.note.smime":
        reason = "The message is encrypted; its key is not at hand."
        return replace(document, text="", blocks=(), state=DocumentState.LOCKED, reason=reason)
    return document


def _add_body(message: _Folder, builder: TextBuilder, limits: SharedLimits, tick: Tick) -> None:
    """The plain text; without it the page; without that the formatted text."""
    plain = message.text(_BODY)
    page = message.bytes(_HTML, _BINARY)
    if plain.strip():
        add_plain(plain.replace("\r\n", "\n"), builder)
    elif page or message.text(_HTML):
        declared = message.code_page(_INTERNET_CODE_PAGE)
        text = message.text(_HTML) if not page else decode(page, declared).text if declared else decode_page(page).text
        add_page(text, builder)
    else:
        _add_formatted(message.bytes(_RTF, _BINARY) or b"", builder, limits, tick)


def _add_formatted(packed: bytes, builder: TextBuilder, limits: SharedLimits, tick: Tick) -> None:
    try:
        data = unpack(packed, limits.inflated_bytes)
    except BadPacking:
        return
    inner = replace(limits, search=None, names={})
    for document in read_member("body.rtf", data, inner, tick, media_type=sniff.RTF, packed=False):
        add_plain(document.text, builder)


def _attachment(folder: _Folder, number: int, limits: SharedLimits, tick: Tick) -> Iterator[ReadDocument]:
    name = collapse(folder.text(_LONG_NAME) or folder.text(_NAME) or folder.text(_SHOWN_NAME))
    inside = (*folder.path, f"__substg1.0_{_DATA:04X}{_STORAGE}")
    data = folder.bytes(_DATA, _BINARY)
    if data is not None:
        if not _is_decoration(folder, data):
            yield from read_member(name or f"attachment {number}", data, limits, tick, packed=False)
    elif (*inside, _PROPERTIES) in folder.entries:
        message = replace(folder, path=inside, head=24)

        def read_in(inner: SharedLimits) -> Iterator[ReadDocument]:
            for document in _read(message, inner, tick):
                kind, reader = document.media_type or sniff.MSG, document.reader or registry.SHORT_NAMES[sniff.MSG]
                yield replace(document, media_type=kind, reader=reader)

        yield from read_inner(f"{name or 'message'}.msg", read_in, limits, tick)
    else:

        def refuse(_: SharedLimits) -> Iterator[ReadDocument]:
            yield failure(DocumentState.UNSUPPORTED, "It is linked or embedded in a way that is not read.")

        yield from read_inner(name or f"attachment {number}", refuse, limits, tick)


def _is_decoration(folder: _Folder, data: bytes) -> bool:
    """A small picture that the text shows: a logo or a signature."""
    picture = data.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"))
    return picture and len(data) < _SMALL_PICTURE and bool(folder.text(_CONTENT_ID) or folder.number(_HIDDEN))
