"""The reading side of ingestion: a thread that hashes files, has the sandbox read them, and hands on the result.

It works ahead of the thread that stores and encodes, by a bounded queue.
"""

from __future__ import annotations

import contextlib
import hashlib
import queue
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from core.base.errors import Cancelled
from core.base.events import Control
from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.sandbox import Sandbox
from core.ingest.scan import FoundFile
from core.ingest.sniff import sniff

_AHEAD = 64  # documents waiting to be stored
_TRIES = 3  # for a file that changes while it is read
_SETTLE_SECONDS = 0.5
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Started:
    """`file` is about to be read; its content has this hash. `unchanged` when the library knows that hash."""

    file: FoundFile
    hash: str
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    document: ReadDocument


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the file last started. `steady` is False when it changed under the reader until the end."""

    seconds: float
    steady: bool = True


Item = Started | Read | Ended


class ReadingThread:
    """Iterate over what reading the files gives, in order. Close it (or leave the `with` block) to stop."""

    def __init__(self, files: Sequence[FoundFile], limits: Limits, control: Control) -> None:
        self._files = files
        self._limits = limits
        self._control = control
        self._stop = Control()
        self._queue: queue.Queue[Item | BaseException | None] = queue.Queue(_AHEAD)
        self._thread = threading.Thread(target=self._run, name="reading", daemon=True)
        self.done = False  # every file is read and every item taken

    def __enter__(self) -> ReadingThread:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.cancel()
        while self._thread.is_alive():  # it may be waiting to hand something on
            with contextlib.suppress(queue.Empty):
                self._queue.get(timeout=0.05)

    def poll(self, seconds: float) -> Item | None:
        """The next item, or None when nothing came within `seconds` or all is read (see `done`).

        Raises what the reading side raised.
        """
        try:
            item = self._queue.get(timeout=seconds) if seconds > 0 else self._queue.get_nowait()
        except queue.Empty:
            return None
        if isinstance(item, BaseException):
            raise item
        self.done = item is None
        return item

    def _run(self) -> None:
        try:
            with Sandbox(self._limits) as sandbox:
                for file in self._files:
                    self._stop.check()
                    self._control.check()
                    for item in read_file(file, sandbox, self._limits, self._stop):
                        self._put(item)
            self._put(None)
        except BaseException as error:
            if not self._stop.cancelled:
                self._put(error)

    def _put(self, item: Item | BaseException | None) -> None:
        while True:
            self._stop.check()
            try:
                self._queue.put(item, timeout=0.1)
                return
            except queue.Full:
                continue


def read_file(file: FoundFile, sandbox: Sandbox, limits: Limits, control: Control) -> Iterator[Item]:
    """Read one file. A single document is handed on only when the file stood still meanwhile."""
    begun = time.monotonic()
    for _ in range(_TRIES):
        try:
            before = _stamp(file)
            file = replace(file, size=before[0], mtime_ns=before[1])
            content_hash = "" if file.size > limits.file_bytes else _hash(file, control)
        except OSError as error:
            yield Started(file, "")
            yield Read(_unreadable(error))
            yield Ended(time.monotonic() - begun)
            return
        if content_hash and content_hash == file.known_hash:
            yield Started(file, content_hash, unchanged=True)
            yield Ended(time.monotonic() - begun)
            return
        started, documents = False, []
        for document in _documents(file, sandbox, limits, control):
            if document.external_id and not started:  # a collection is too large to hold: hand it on as it comes
                yield Started(file, content_hash)
                yield from (Read(before_it) for before_it in documents)
                started = True
            if started:
                yield Read(document)
            else:
                documents.append(document)
        steady = _steady(file, before)
        if started:
            yield Ended(time.monotonic() - begun, steady)
            return
        if steady:
            yield Started(file, content_hash)
            yield from (Read(d) for d in documents)
            yield Ended(time.monotonic() - begun)
            return
        _wait(control)
    yield Started(file, "")
    reason = "The file kept changing while it was read. It will be read again in the next scan."
    yield Read(ReadDocument("", state=DocumentState.CHANGING, reason=reason))
    yield Ended(time.monotonic() - begun)


def _documents(file: FoundFile, sandbox: Sandbox, limits: Limits, control: Control) -> Iterator[ReadDocument]:
    if file.size > limits.file_bytes:
        gigabytes = limits.file_bytes / (1 << 30)
        yield ReadDocument("", state=DocumentState.TOO_LARGE, reason=f"The file is larger than {gigabytes:.1f} GB.")
        return
    try:
        media_type = sniff(file.path)
    except OSError as error:
        yield _unreadable(error)
        return
    for document in sandbox.read(str(file.path), media_type, control):
        yield _storable(replace(document, media_type=document.media_type or media_type))


def _storable(document: ReadDocument) -> ReadDocument:
    """Lone surrogates cannot be stored: one character for one, so that offsets stay."""
    values: dict[str, Any] = {field.name: getattr(document, field.name) for field in fields(document)}
    clean: dict[str, Any] = {n: _SURROGATES.sub("\ufffd", v) for n, v in values.items() if type(v) is str}
    blocks = tuple(
        replace(block, heading_path=tuple(_SURROGATES.sub("\ufffd", heading) for heading in block.heading_path))
        if _SURROGATES.search("".join(block.heading_path))
        else block
        for block in document.blocks
    )
    return replace(document, **clean, blocks=blocks)


def _stamp(file: FoundFile) -> tuple[int, int]:
    status = file.path.stat()
    return status.st_size, status.st_mtime_ns


def _steady(file: FoundFile, before: tuple[int, int]) -> bool:
    try:
        return _stamp(file) == before
    except OSError:
        return False


def _hash(file: FoundFile, control: Control) -> str:
    digest = hashlib.sha256()
    with file.path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            control.check()
            digest.update(chunk)
    return digest.hexdigest()


def _unreadable(error: OSError) -> ReadDocument:
    if isinstance(error, FileNotFoundError):
        return ReadDocument("", state=DocumentState.MISSING, reason="The file vanished before it could be read.")
    if isinstance(error, PermissionError):
        return ReadDocument("", state=DocumentState.DENIED, reason="No permission to read this file.")
    return ReadDocument("", state=DocumentState.BROKEN, reason=f"The file could not be read: {error.strerror}.")


def _wait(control: Control) -> None:
    end = time.monotonic() + _SETTLE_SECONDS
    while time.monotonic() < end:
        if control.cancelled:
            raise Cancelled("cancelled")
        time.sleep(0.05)
