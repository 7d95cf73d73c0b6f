"""Files that are either whole or not there, and a lock between processes.

Atomic write: temporary file in the same folder, fsync, replace, fsync of the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sys
import unicodedata
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from core.base.errors import LibraryLocked, from_os_error

TEMPORARY_SUFFIX = ".part"


def sync_folder(folder: Path) -> None:
    """Make renames in `folder` durable. Windows has no such call and needs none."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` when the block ends well, and leaves no trace otherwise.

    Raises:
        KnownError: the disk is full, or there is no permission.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # not mkstemp: its files are for this account alone, while a library may be readable for others
        temporary = path.parent / f".{path.name}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise from_os_error(error, path) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise from_os_error(error, path) from error
        raise


def write_bytes(path: Path, data: bytes) -> None:
    with atomic_file(path) as file:
        file.write(data)


def write_json(path: Path, value: Any) -> None:
    write_bytes(path, json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n")


def read_json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def sha256_file(path: Path) -> str:
    """Hex digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class FileLock:
    """One holder per file among all processes; gone with its process, however that ends.

    Raises:
        LibraryLocked: another process holds it (from `acquire`).
    """

    def __init__(self, path: Path, purpose: str = "") -> None:
        self._path = path
        self._purpose = purpose
        self._file: BinaryIO | None = None

    def acquire(self) -> None:
        try:
            file = self._path.open("a+b")
        except OSError as error:
            raise from_os_error(error, self._path) from error
        try:
            _lock(file)
        except OSError:
            holder = _holder(file)
            file.close()
            raise LibraryLocked(
                f"The library is being changed by another process{holder}.",
                "Wait until it is done, or cancel that work first.",
            ) from None
        self._file = file
        with contextlib.suppress(OSError):  # the disk is full: who holds it is a courtesy, the lock is held
            file.seek(0)
            file.truncate()
            file.write(f"{os.getpid()} {self._purpose}".encode())
            file.flush()

    def release(self) -> None:
        if self._file is not None:
            self._file.close()  # closing drops the lock
            self._file = None

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()


def _holder(file: BinaryIO) -> str:
    with contextlib.suppress(OSError, ValueError):
        file.seek(0)
        pid, _, purpose = file.read(200).decode("utf-8", "replace").partition(" ")
        if pid:
            return f" ({purpose or 'process'} {pid})"
    return ""


if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        # one byte far behind the text, so that others can still read who holds it
        file.seek(1 << 20)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


_BYTES = "bytes:"


def path_text(path: str | Path) -> str:
    """A path as text that any database or pipe can hold; names that are no UTF-8 are kept byte by byte."""
    text = os.fspath(path)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return byte_path_text(text)
    return text


def byte_path_text(path: str | Path) -> str:
    """The form in which `path_text` keeps names that are no UTF-8, for any path: that of the folders above them."""
    return _BYTES + urllib.parse.quote(os.fsencode(path), safe="/")


def has_odd_bytes(text: str) -> bool:
    """Is this the text of a path whose names are no UTF-8?"""
    return text.startswith(_BYTES)


def text_path(text: str) -> Path:
    """The reverse of `path_text`."""
    if text.startswith(_BYTES):
        return Path(os.fsdecode(urllib.parse.unquote_to_bytes(text[len(_BYTES) :])))
    return Path(text)


def path_shown(text: str) -> str:
    """A path from `path_text` for people's eyes: NFC, bytes that are no UTF-8 as U+FFFD. It opens nothing."""
    if has_odd_bytes(text):
        text = urllib.parse.unquote_to_bytes(text[len(_BYTES) :]).decode("utf-8", "replace")
    return unicodedata.normalize("NFC", text)


def path_forms(path: str | Path) -> tuple[str, ...]:
    """All texts with which the stored path of a file in this folder may begin.

    Systems write the same accent as one character or as two, and whoever types a name does not know which; a file
    below whose name is no UTF-8 has its whole path kept byte by byte.
    """
    text = os.fspath(path)
    if has_odd_bytes(text):
        return (text,)
    plain = [text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD"))]
    return tuple(dict.fromkeys([*map(path_text, plain), *map(byte_path_text, plain)]))
