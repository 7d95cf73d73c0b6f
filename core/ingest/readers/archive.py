"""Archives and packed files: each file in them is read as a document of its own, one after the other."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from core.base.types import DocumentState, ReadDocument
from core.ingest.budget import SharedLimits, shared
from core.ingest.limits import Limits, Tick
from core.ingest.member_names import decode_name
from core.ingest.members import Source, read_member, unread_member
from core.ingest.readers.build import failure
from core.ingest.zips import TooManyFiles, open_zip

_UTF8_NAME = 0x800  # flag bits of a ZIP entry
_ENCRYPTED = 0x1
_UNICODE_PATH = 0x7075  # extra field
_TAR_BLOCK = 512
_SUFFIXES = {".tgz": ".tar", ".tbz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg"}
_DAMAGED = (tarfile.TarError, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError)
_NOTHING = ReadDocument("", state=DocumentState.EMPTY, reason="The archive holds no files.")


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    """The documents of the files in the archive; one of the archive itself only when there is none of them."""
    inside = shared(limits)
    if inside.nesting <= 0:
        yield failure(DocumentState.TOO_LARGE, "The archive lies deeper in others than is read.")
        return
    with path.open("rb") as file:
        start = file.read(_TAR_BLOCK)
    members = _zip(path, inside, tick) if start.startswith(b"PK") else _stream(path, start, inside, tick)
    empty = True
    for document in members:
        empty = False
        yield document
    if empty and not inside.budget.left_out and inside.search is None:
        yield _NOTHING


def _zip(path: Path, limits: SharedLimits, tick: Tick) -> Iterator[ReadDocument]:
    try:
        archive = open_zip(path)
    except TooManyFiles:
        yield failure(DocumentState.TOO_LARGE, "The archive lists more files than can be read.")
        return
    except zipfile.BadZipFile:
        yield failure(DocumentState.BROKEN, "The file is damaged or cut short: its table of contents cannot be read.")
        return
    with archive:
        entries = [entry for entry in archive.infolist() if _is_file(entry)]
        for index, entry in enumerate(entries):
            if limits.budget.spent:
                limits.budget.left_out += len(entries) - index
                return
            name = _zip_name(entry)
            password = limits.password.encode() if entry.flag_bits & _ENCRYPTED else None
            if password == b"":
                yield from unread_member(name, DocumentState.LOCKED, "It is encrypted and needs a password.", limits)
                continue
            source = partial(archive.open, entry, pwd=password)
            yield from read_member(name, cast(Source, source), limits, tick)


def _is_file(entry: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    return not entry.is_dir() and kind in (0, stat.S_IFREG) and not _is_litter(entry.filename)


def _is_litter(name: str) -> bool:
    """What systems leave in archives beside the person's files."""
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or (parts[-1:] or ("",))[0] in (".DS_Store", "Thumbs.db", "desktop.ini")


def _zip_name(entry: zipfile.ZipInfo) -> str:
    if entry.flag_bits & _UTF8_NAME:
        return entry.orig_filename
    return _unicode_path(entry.extra) or decode_name(entry.orig_filename.encode("cp437", "replace"))


def _unicode_path(extra: bytes) -> str:
    """The name in UTF-8 that some programs add for others to find (APPNOTE.TXT, 4.6.9)."""
    while len(extra) >= 4:
        kind, size = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        if kind == _UNICODE_PATH and size > 5:
            return extra[9 : 4 + size].decode("utf-8", "replace")
        extra = extra[4 + size :]
    return ""


def _stream(path: Path, start: bytes, limits: SharedLimits, tick: Tick) -> Iterator[ReadDocument]:
    """A tar archive, packed or not, or a single packed file."""
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        unpacked = _Ticking(_unpacked(file, start), tick)
        try:
            head = unpacked.read(_TAR_BLOCK)
        except _DAMAGED as error:
            yield failure(DocumentState.BROKEN, f"The packed file is damaged: {error}.")
            return
        whole = _Ticking(unpacked, tick, head)
        if is_tar(head):
            yield from _tar(whole, limits, tick)
        elif head:
            yield from read_member(_single_name(path, start), cast(IO[bytes], whole), limits, tick)


def _unpacked(file: IO[bytes], start: bytes) -> IO[bytes]:
    if start.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if start.startswith(b"BZh"):
        return bz2.BZ2File(file)
    if start.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMAFile(file)
    return file


class _Ticking(io.RawIOBase):
    """A stream that shows signs of life, also while files in it are passed over. `head` comes first."""

    def __init__(self, stream: IO[bytes] | _Ticking, tick: Tick, head: bytes = b"") -> None:
        self._stream = stream
        self._tick = tick
        self._head = head

    def read(self, size: int = -1, /) -> bytes:
        self._tick()
        if self._head:
            part, self._head = self._head[:size], self._head[size:]
            return part
        return self._stream.read(size) or b""


def is_tar(head: bytes) -> bool:
    """Whether a block of 512 bytes is the header of a tar entry: by its sign, or its checksum in the oldest kind."""
    if len(head) < _TAR_BLOCK:
        return False
    if head[257:262] == b"ustar":
        return True
    try:
        declared = int(head[148:156].strip(b" \0") or b"0", 8)
    except ValueError:
        return False
    return declared > 0 and declared == sum(head[:148]) + sum(head[156:]) + 8 * ord(" ")


def _tar(stream: _Ticking, limits: SharedLimits, tick: Tick) -> Iterator[ReadDocument]:
    try:
        with tarfile.open(fileobj=cast(IO[bytes], _Full(stream)), mode="r|") as archive:
            for entry in archive:
                cast(Any, archive).members.clear()  # it keeps each entry otherwise
                if not entry.isreg() or _is_litter(entry.name):
                    continue
                name = decode_name(entry.name.encode("utf-8", "surrogateescape"))
                yield from read_member(name, cast(Source, partial(archive.extractfile, entry)), limits, tick)
                if limits.budget.spent:
                    limits.budget.left_out += 1  # at least: how many follow is not known
                    return
    except _DAMAGED as error:
        yield failure(DocumentState.BROKEN, f"The archive is damaged or cut short: {error}.")


class _Full:
    """`tarfile` takes a short read for the end of the archive."""

    def __init__(self, stream: _Ticking) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        parts = []
        while size > 0 and (part := self._stream.read(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _single_name(path: Path, start: bytes) -> str:
    """The name the packed file had: told by gzip, else the name of the archive without its suffix."""
    if start.startswith(b"\x1f\x8b\x08") and start[3] & 0x08 and not start[3] & 0x04:
        told = start[10:].partition(b"\0")[0]
        if told:
            return decode_name(told)
    return path.stem + _SUFFIXES.get(path.suffix.lower(), "")
