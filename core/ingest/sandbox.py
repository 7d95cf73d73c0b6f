"""Reads files in a child process, so that no file can take the app down or hold it up.

Whatever a file does to the child (crash, hang, flood, eat memory), it ends as a document with a state and a
reason, and the next file gets a fresh child. Files within files are unpacked into a folder that ends with the child.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from core.base.errors import Cancelled
from core.base.events import Control
from core.base.types import DocumentState, ReadDocument
from core.base.wire import from_plain, to_plain
from core.ingest import sniff
from core.ingest.budget import REST, Resume
from core.ingest.limits import Limits, Tick, no_tick, step
from core.worker.protocol import PARSE, Reply, Request, command, decode_reply, encode_request

_LOOK_SECONDS = 0.1  # how often cancel is looked for
_START_SECONDS = 30.0
_WHOLE = 10  # times `Limits.seconds` for a document that shows signs of life; once more for each long step that is done
_FILES_A_CHILD = 200
_GROWN = 400 << 20  # bytes; a child that once held more is replaced
_CHUNK = 1 << 18
_RESTARTS = 5  # for one file, behind files within it that did harm
_FILES_IN_FILES = {sniff.ZIP, sniff.TAR, sniff.GZIP, sniff.BZIP2, sniff.XZ, sniff.MBOX}
_SPOOL = "whymatch-read-"  # how the folders for unpacked files begin


def sweep(spool: Path) -> None:
    """Delete what killed processes left in `spool`. Call it while no other process reads files with this spool."""
    for folder in spool.glob(f"{_SPOOL}*"):
        shutil.rmtree(folder, ignore_errors=True)


class _Ended(Exception):
    """The child is gone or was stopped: the state and reason of the file it was reading."""

    def __init__(self, state: DocumentState, reason: str) -> None:
        super().__init__(reason)
        self.state = state
        self.reason = reason


class Sandbox:
    """One reading child at a time. Use from one thread; close it (or leave the `with` block) to end the child."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._child: _Child | None = None
        self._requests = 0

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def make_ready(self, control: Control | None = None) -> None:
        """Have a child running, so that its start does not count as a file's time. Raises Cancelled."""
        try:
            self._ready_child(control or Control())
        except _Ended:  # the next reading tries again, and tells
            self.close()

    def read(
        self, path: str, media_type: str, control: Control | None = None, *, limits: Limits | None = None,
        still: Tick = no_tick,
    ) -> Iterator[ReadDocument]:  # fmt: skip
        """The document(s) of a file; at least one. What goes wrong is told by its state and reason.

        `limits` are those of this file, where they differ from the sandbox's own in what the child is told (its
        cache, its password). `still` is called again and again while the file is at work, and is told of long steps.

        Raises:
            Cancelled: `control` was cancelled. The child is ended within a fraction of a second.
        """
        control = control or Control()
        control.check()
        course = _Course(media_type in _FILES_IN_FILES)
        try:
            while not course.finished:
                try:
                    for document in self._exchange(path, media_type, control, limits or self._limits, still, course):
                        course.take(document)
                        yield document
                    course.finished = True
                except _Ended as end:
                    self.close()
                    course.decide(end)
            if course.end is not None and not course.received:
                yield replace(course.failure(course.end), media_type=media_type)
        finally:
            if not course.finished:  # also when the caller leaves early
                self.close()

    def _exchange(
        self, path: str, media_type: str, control: Control, own: Limits, still: Tick, course: _Course
    ) -> Iterator[ReadDocument]:
        child = self._ready_child(control)
        self._requests += 1
        limits = to_plain(replace(own, spool=child.spool))
        arguments = {"path": str(Path(path).absolute()), "media_type": media_type, "limits": limits}
        if course.resume is not None:
            arguments["resume"] = to_plain(course.resume)
        child.send(Request(self._requests, "read", arguments))
        clock = _Clock(self._limits.seconds)
        while True:
            reply = self._next_reply(child, control, clock, still)
            if reply.event == "partial":
                yield from_plain(ReadDocument, reply.data)
                clock = _Clock(self._limits.seconds)  # the caller's time is not the file's
            elif reply.event == "progress" and reply.data:
                clock.lengthen()
                step(still, str(reply.data["detail"]))
            elif reply.event == "error":
                allowed = self._limits.memory_bytes >> 20
                raise _Ended(DocumentState.CRASHED, f"Reading it needs more than the {allowed:,} MB of memory allowed.")
            elif reply.event == "result":
                self._recycle(child, int(reply.data["peak_bytes"]))
                return

    def _next_reply(self, child: _Child, control: Control, clock: _Clock, still: Tick = no_tick) -> Reply:
        while True:
            line = child.receive(_LOOK_SECONDS)
            still()
            if control.cancelled:
                raise Cancelled("cancelled")
            if line is not None:
                clock.sign_of_life()
                return _reply(line)
            if clock.overdue():
                raise _Ended(DocumentState.TIMED_OUT, f"Reading it took longer than {self._limits.seconds:g} seconds.")

    def _ready_child(self, control: Control) -> _Child:
        if self._child is not None and not self._child.alive():
            self.close()
        if self._child is None:
            self._child = _Child(_longest_line(self._limits), self._limits.spool)
            self._next_reply(self._child, control, _Clock(_START_SECONDS))
        return self._child

    def _recycle(self, child: _Child, peak_bytes: int) -> None:
        child.files += 1
        if child.files >= _FILES_A_CHILD or peak_bytes > _GROWN:
            self.close()


@dataclass(slots=True)
class _Course:
    """How the reading of one file goes: a file within it that ends the child does not take the others with it."""

    holds_files: bool
    own: bool = False  # the file's own document was given; it stays whatever the files within do
    last: ReadDocument | None = None
    received: int = 0  # documents since the last start
    restarts: int = 0
    resume: Resume | None = None
    finished: bool = False
    end: _Ended | None = None  # the last one

    def take(self, document: ReadDocument) -> None:
        self.own = self.own or not document.external_id
        self.last = document
        self.received += 1

    def decide(self, end: _Ended) -> None:
        """The child has ended: read again, behind the file that did the harm, or give up."""
        able = self.received > 0 or (self.holds_files and self.resume is None)
        self.finished = not able or self.restarts >= _RESTARTS
        self.resume = Resume(self.last.external_id if self.last else "", end.state, end.reason)
        self.restarts, self.received, self.end = self.restarts + 1, 0, end

    def failure(self, end: _Ended) -> ReadDocument:
        begun = self.own or self.last is not None
        return ReadDocument("", external_id=REST if begun else "", state=end.state, reason=end.reason)


def _reply(line: bytes) -> Reply:
    try:
        reply = decode_reply(line)
    except ValueError:  # native code wrote into the stream
        raise _Ended(DocumentState.CRASHED, "The reading process lost its way and was ended.") from None
    return reply


class _Clock:
    """Time since the last sign of life, and time in all, which grows with each long step that is done."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._whole = seconds * _WHOLE
        self._begun = self._last = time.monotonic()

    def sign_of_life(self) -> None:
        self._last = time.monotonic()

    def lengthen(self) -> None:
        self._whole += self._seconds

    def overdue(self) -> bool:
        now = time.monotonic()
        return now - self._last > self._seconds or now - self._begun > self._whole


def _longest_line(limits: Limits) -> int:
    # six bytes an escaped character, as much again for blocks and boxes
    return limits.output_characters * 12 + (64 << 20)


class _Child:
    """A running parse process and the thread that takes what it says."""

    def __init__(self, longest_line: int, spool: str) -> None:
        self.files = 0
        if spool:
            Path(spool).mkdir(parents=True, exist_ok=True)
        self.spool = tempfile.mkdtemp(prefix=_SPOOL, dir=spool or None)
        self._longest_line = longest_line
        self._process = subprocess.Popen(
            command(PARSE),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=_environment(),
            start_new_session=True,  # a Ctrl+C in the terminal is for the parent
        )
        self._chunks: queue.Queue[bytes] = queue.Queue(16)
        self._lines: list[bytes] = []
        self._rest: list[bytes] = []
        self._rest_size = 0
        self._thread = threading.Thread(target=self._take, name="parse-replies", daemon=True)
        self._thread.start()

    def alive(self) -> bool:
        return self._process.poll() is None

    def send(self, request: Request) -> None:
        """Raises `_Ended` when the child has died."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(encode_request(request))
        except OSError:
            raise self._end() from None

    def receive(self, seconds: float) -> bytes | None:
        """The next line, None when there is none within `seconds`. Raises `_Ended` when the child has died."""
        until = time.monotonic() + seconds
        while not self._lines:
            try:
                chunk = self._chunks.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return None
            if not chunk:
                raise self._end()
            self._add(chunk)
        return self._lines.pop(0)

    def _add(self, chunk: bytes) -> None:
        if b"\n" not in chunk:
            self._rest.append(chunk)
            self._rest_size += len(chunk)
            if self._rest_size > self._longest_line:
                raise _Ended(DocumentState.CRASHED, "Reading it gave more output than allowed.")
            return
        first, *lines, rest = chunk.split(b"\n")
        self._lines.append(b"".join((*self._rest, first)))
        self._lines.extend(lines)
        self._rest, self._rest_size = [rest], len(rest)

    def _take(self) -> None:
        """Runs on a thread: pipes have no timeout that works everywhere."""
        stdout = self._process.stdout
        assert stdout is not None
        while True:
            try:
                chunk = stdout.read(_CHUNK)
            except (OSError, ValueError):
                chunk = b""
            self._chunks.put(chunk)
            if not chunk:
                return

    def _end(self) -> _Ended:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        return _explain(self._process.returncode)

    def kill(self) -> None:
        """End the process and the thread for certain."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        while self._thread.is_alive():  # it may be waiting to hand something on
            with contextlib.suppress(queue.Empty):
                self._chunks.get(timeout=0.01)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        shutil.rmtree(self.spool, ignore_errors=True)


def _environment() -> dict[str, str]:
    """The child finds this program's code, and its number libraries map no memory for threads they never use."""
    root = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH")
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    threads["MALLOC_ARENA_MAX"] = "2"  # of the C library, which sets 128 MB of addresses aside for every thread
    return os.environ | threads | {"PYTHONPATH": os.pathsep.join([root, known] if known else [root])}


def _explain(code: int | None) -> _Ended:
    """The end of the child as a state and a sentence."""
    if code is None or code >= 0:
        return _Ended(DocumentState.CRASHED, "The reading process ended by itself while it was at this file.")
    if sys.platform != "win32" and -code == signal.SIGXCPU:
        return _Ended(DocumentState.TIMED_OUT, "Reading it took more processor time than allowed.")
    if sys.platform != "win32" and -code == signal.SIGKILL:
        return _Ended(DocumentState.CRASHED, "The system ended the reading process, most likely for lack of memory.")
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return _Ended(DocumentState.CRASHED, f"The file crashed the reading process ({name}).")
