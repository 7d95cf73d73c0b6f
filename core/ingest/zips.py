"""ZIP files opened with care: a table of contents of millions of files is not even loaded."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

_TAIL = (64 << 10) + 22 + 20  # the longest comment, the end record, and what points to its large form
_END, _LARGE_POINTER, _LARGE_END = b"PK\x05\x06", b"PK\x06\x07", b"PK\x06\x06"
_LARGEST_CONTENTS = 32 << 20  # bytes: some 300,000 files


class TooManyFiles(Exception):
    """Its table of contents is larger than any honest one."""


def open_zip(path: str | Path) -> zipfile.ZipFile:
    """An open archive.

    Raises:
        zipfile.BadZipFile: it is no ZIP file, or a damaged one.
        TooManyFiles
        OSError
    """
    with open(path, "rb") as file:
        if _contents_size(file) > _LARGEST_CONTENTS:
            raise TooManyFiles
    return zipfile.ZipFile(path)


def _contents_size(file: IO[bytes]) -> int:
    """Bytes of the table of contents as the end record declares them (APPNOTE.TXT, 4.3.14 to 4.3.16); 0 without one."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    end = tail.rfind(_END)
    if end < 0:
        return 0
    declared = int.from_bytes(tail[end + 12 : end + 16], "little")
    pointer = tail[end - 20 : end] if end >= 20 else b""
    if not pointer.startswith(_LARGE_POINTER):
        return declared
    file.seek(min(size, int.from_bytes(pointer[8:16], "little")))
    record = file.read(56)
    return int.from_bytes(record[40:48], "little") if record.startswith(_LARGE_END) else declared
