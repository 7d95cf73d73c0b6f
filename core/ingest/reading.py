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
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from core.base.events import Control
from core.base.types import DocumentState, ReadDocument
from core.ingest.hashing import content_hash, stamp
from core.ingest.limits import Limits, Tick
from core.ingest.passwords import Passwords
from core.ingest.sandbox import Sandbox
from core.ingest.scan import FoundFile
from core.ingest.sniff import sniff
from core.ingest.strikes import Marker
from core.store.copies import kind_of
from core.store.living import QUARANTINE_STRIKES

_AHEAD = 64  # documents waiting to be stored
_TRIES = 3  # for a file that changes while it is read
SETTLE_SECONDS = 2.0  # a file changed so short a time ago may not be whole yet
QUARANTINE_REASON = (
    "Reading this file ended the reading process again and again. It is left alone until it changes or is tried again."
)
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Started:
    """`file` is about to be read; its content has this hash. `unchanged` when the library knows that hash."""

    file: FoundFile
    hash: str
    unchanged: bool = False
    keeps: bool = False  # nothing will come: what is stored of it stays
    twin: bool = False  # nothing will come: another file of equal content is read already


@dataclass(frozen=True, slots=True)
class Read:
    document: ReadDocument


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the file last started. `steady` is False when it changed under the reader until the end.

    `dropped`: the file was not even started, since it was removed from the library meanwhile.
    """

    seconds: float
    steady: bool = True
    reason: str = ""
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A long step of reading `file` is done, such as a page read from its picture; it may come before `Started`."""

    file: FoundFile
    detail: str


Item = Started | Read | Ended | Step


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What reading a file needs beside the file. `wanted` is False for a file that was removed meanwhile.

    `limits.cache` names the folder under which each file has its own (see `cache_of`).
    """

    limits: Limits
    marker: Marker | None = None
    wanted: Callable[[FoundFile], bool] = lambda file: True
    twins: frozenset[tuple[str, str]] = frozenset()  # content and kind of files that are read (core.store.copies)
    passwords: Passwords = field(default_factory=Passwords)


class ReadingThread:
    """Iterate over what reading the files gives, in order. Close it (or leave the `with` block) to stop.

    When `control` asks to give way it ends after the file at work.
    """

    def __init__(self, files: Sequence[FoundFile], around: Surroundings, control: Control) -> None:
        self._files = files
        self._around = around
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
            with Sandbox(self._around.limits) as sandbox:
                for file in self._files:
                    self._stop.check()
                    self._control.check()
                    if self._control.giving_way:
                        break
                    self._read(file, sandbox)
            self._put(None)
        except BaseException as error:
            if not self._stop.cancelled:
                self._put(error)

    def _read(self, file: FoundFile, sandbox: Sandbox) -> None:
        if not self._around.wanted(file):
            self._put(Ended(0.0, dropped=True))
            return
        around = self._around

        def told(detail: str) -> None:
            self._put(Step(file, detail))

        for item in read_file(
            file, sandbox, around.limits, self._stop, around.marker, around.twins, told, around.passwords
        ):
            self._put(item)

    def _put(self, item: Item | BaseException | None) -> None:
        while True:
            self._stop.check()
            try:
                self._queue.put(item, timeout=0.1)
                return
            except queue.Full:
                continue


def read_file(
    file: FoundFile, sandbox: Sandbox, limits: Limits, control: Control, marker: Marker | None = None,
    twins: Collection[tuple[str, str]] = (), told: Callable[[str], None] | None = None,
    passwords: Passwords | None = None,
) -> Iterator[Item]:  # fmt: skip
    """Read one file. A single document is handed on only when the file stood still meanwhile. `told` hears of steps."""
    begun = time.monotonic()
    for _ in range(_TRIES):
        if not _settled(file, control):
            continue
        file, found, known = _without_reading(file, limits, control, twins)
        if known:
            yield from known
            yield Ended(time.monotonic() - begun)
            return
        documents: list[ReadDocument] = []
        started = False
        read_with = partial(_documents, file, sandbox, control=control, marker=marker, told=told)
        for document in (passwords or Passwords()).read(file.text, found, _own(limits, file), read_with):
            if document.external_id and not started:  # a collection is too large to hold: hand it on as it comes
                yield Started(file, found)
                yield from (Read(before_it) for before_it in documents)
                started = True
            if started:
                yield Read(document)
            else:
                documents.append(document)
        steady = _steady(file)
        if started:
            yield Ended(time.monotonic() - begun, steady)
            return
        if steady:
            yield Started(file, found)
            yield from (Read(d) for d in documents)
            yield Ended(time.monotonic() - begun)
            return
    yield from _still_changing(file, begun)


def _without_reading(
    file: FoundFile, limits: Limits, control: Control, twins: Collection[tuple[str, str]]
) -> tuple[FoundFile, str, tuple[Item, ...]]:
    """The file as it is now, its content's hash, and what can be said of it already; nothing when it is to be read."""
    if file.online_only:
        reason = "Only a placeholder of this file is on this disk; its content is with a cloud service."
        placeholder = ReadDocument("", state=DocumentState.ONLINE_ONLY, reason=reason)
        return file, "", (Started(file, ""), Read(placeholder))
    try:
        file, found = _identified(file, limits, control)
    except OSError as error:
        return file, "", (Started(file, ""), Read(_unreadable(error)))
    if found and found == file.known_hash:
        return file, found, (Started(file, found, unchanged=True),)
    if file.strikes >= QUARANTINE_STRIKES and _same_content(file, found):
        left_alone = ReadDocument("", state=DocumentState.QUARANTINED, reason=QUARANTINE_REASON)
        return file, found, (Started(file, found), Read(left_alone))
    if (found, kind_of(file.text)) in twins:
        return file, found, (Started(file, found, twin=True),)
    return file, found, ()


def _identified(file: FoundFile, limits: Limits, control: Control) -> tuple[FoundFile, str]:
    """The file as it is now, and the hash of its content. Raises OSError, Cancelled."""
    before = stamp(file.path)
    hashed = file.hash if before == (file.size, file.mtime_ns) else ""
    file = replace(file, size=before[0], mtime_ns=before[1])
    if file.size > limits.file_bytes:
        return file, ""
    return file, hashed or content_hash(file.path, control)


def _settled(file: FoundFile, control: Control) -> bool:
    """Wait until the last change is a while ago: whoever writes the file may not be done. False when it goes on."""
    end = time.monotonic() + SETTLE_SECONDS + 0.1
    while True:
        try:
            age = time.time() - file.path.stat().st_mtime_ns / 1e9
        except OSError:  # reading it will say why
            return True
        if file.online_only or not 0 <= age < SETTLE_SECONDS:
            return True
        if time.monotonic() > end:
            return False
        control.check()
        time.sleep(min(0.1, SETTLE_SECONDS - age))


def _same_content(file: FoundFile, found: str) -> bool:
    """Whether the strikes are against this content; a hash that is not known came to no reading."""
    return file.struck_hash in ("", found)


def _still_changing(file: FoundFile, begun: float) -> Iterator[Item]:
    reason = "The file kept changing while it was read. It will be read again in the next scan."
    yield Started(file, "", keeps=file.stored)
    if not file.stored:
        yield Read(ReadDocument("", state=DocumentState.CHANGING, reason=reason))
    yield Ended(time.monotonic() - begun, steady=not file.stored, reason=reason if file.stored else "")


def cache_of(folder: str, path: str) -> str:
    """The folder, under `folder`, in which what was read from the pictures of the file at `path` is kept."""
    return str(Path(folder) / hashlib.sha256(path.encode()).hexdigest()[:32]) if folder else ""


def _own(limits: Limits, file: FoundFile) -> Limits:
    """The limits of this file."""
    return replace(limits, cache=cache_of(limits.cache, file.text))


def _documents(
    file: FoundFile, sandbox: Sandbox, limits: Limits, control: Control, marker: Marker | None,
    told: Callable[[str], None] | None,
) -> Iterator[ReadDocument]:  # fmt: skip
    try:
        media_type = sniff(file.path)
    except OSError as error:
        yield _unreadable(error)
        return
    sandbox.make_ready(control)
    marker = marker or Marker(None)
    heard = _Heard(marker.still, told)
    marker.begin(file.text)
    try:
        for document in sandbox.read(str(file.path), media_type, control, limits=limits, still=heard):
            yield _storable(replace(document, media_type=document.media_type or media_type))
            marker.begin(file.text)  # the time that whoever stores it took is not the file's
    finally:  # also when cancelled: only a death leaves its mark
        marker.end()


class _Heard:
    """What is heard of a file at work: signs of life go to its note, long steps to whoever shows them."""

    def __init__(self, still: Tick, told: Callable[[str], None] | None) -> None:
        self._still = still
        self._told = told

    def __call__(self) -> None:
        self._still()

    def step(self, detail: str) -> None:
        self._still()
        if self._told is not None:
            self._told(detail)


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


def _steady(file: FoundFile) -> bool:
    try:
        return stamp(file.path) == (file.size, file.mtime_ns)
    except OSError:
        return False


def _unreadable(error: OSError) -> ReadDocument:
    if isinstance(error, FileNotFoundError):
        return ReadDocument("", state=DocumentState.MISSING, reason="The file vanished before it could be read.")
    if isinstance(error, PermissionError):
        return ReadDocument("", state=DocumentState.DENIED, reason="No permission to read this file.")
    return ReadDocument("", state=DocumentState.BROKEN, reason=f"The file could not be read: {error.strerror}.")
