"""One child process and its lines: start, requests, replies, the ladder that ends it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from PySide6.QtCore import QByteArray, QObject, QProcess, QProcessEnvironment, QTimer, Signal

from app.engine.lines import LineBuffer
from app.engine.outcome import Outcome
from core.worker.protocol import Request, decode_reply, encode_request

_ROOT = Path(__file__).resolve().parents[2]
_SLICE = 0.008  # seconds of replies handled before the window gets its turn
_TAIL = 8192
TERMINATE_MS = 2000


class Child(QObject):
    """`replied(Reply)` for each line, `ended(Outcome)` once, at the end. Requests wait until the child is ready."""

    replied = Signal(object)
    ended = Signal(object)

    def __init__(self, role: str, command: Sequence[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.role = role
        self.ready = False
        self.ending = False  # we asked for its end
        self._over = False
        self._lines = LineBuffer()
        self._waiting: list[Request] = []
        self._tail = b""
        self._process = QProcess(self)
        self._process.setProcessEnvironment(_environment())
        self._process.setWorkingDirectory(str(_ROOT))
        self._process.setProgram(command[0])
        self._process.setArguments(list(command[1:]))
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.readyReadStandardError.connect(self._read_errors)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._failed)
        self._more = _single_shot(self, 0, self._work)
        self._kill = _single_shot(self, TERMINATE_MS, self._process.kill)

    def start(self) -> None:
        self._process.start()

    @property
    def pid(self) -> int:
        return int(self._process.processId())

    def send(self, request: Request) -> None:
        if self.ready:
            self._process.write(QByteArray(encode_request(request)))
        else:
            self._waiting.append(request)

    def withdraw(self, request_id: int) -> bool:
        """Take back a request that was not sent yet. True when there was one."""
        before = len(self._waiting)
        self._waiting = [r for r in self._waiting if r.id != request_id]
        return len(self._waiting) < before

    def end(self) -> None:
        """Close its input: a child ends by itself then."""
        self.ending = True
        self._process.closeWriteChannel()

    def terminate(self) -> None:
        """Ask the system to end it, and insist after a while."""
        if self._process.state() != QProcess.ProcessState.NotRunning:
            self._process.terminate()
            self._kill.start()

    def wait_end(self, milliseconds: int) -> bool:
        """Block until it is gone, only for closing the window. True when it is."""
        return self._process.state() == QProcess.ProcessState.NotRunning or self._process.waitForFinished(milliseconds)

    def end_now(self, how: str) -> None:
        """`how` is "terminate" or "kill"; without the rest of the ladder."""
        getattr(self._process, how)()

    # what comes out of it

    def _read(self) -> None:
        self._lines.feed(self._process.readAllStandardOutput().data())
        if not self._more.isActive():
            self._work()

    def _work(self) -> None:
        """Handle whole lines for a short while; the rest after the window had its turn."""
        until = perf_counter() + _SLICE
        while (line := self._lines.take()) is not None:
            self._reply(line)
            if perf_counter() > until and self._lines:
                self._more.start()
                return

    def _reply(self, line: bytes) -> None:
        try:
            reply = decode_reply(line)
        except ValueError:
            self._tail = (self._tail + b"[not a reply] " + line[:200] + b"\n")[-_TAIL:]
            return
        if reply.event == "ready" and reply.id == 0:
            self._become_ready()
        self.replied.emit(reply)

    def _become_ready(self) -> None:
        self.ready = True
        for request in self._waiting:
            self.send(request)
        self._waiting.clear()

    def _read_errors(self) -> None:
        self._tail = (self._tail + self._process.readAllStandardError().data())[-_TAIL:]

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read_errors()
        self._lines.feed(self._process.readAllStandardOutput().data())
        while (line := self._lines.take()) is not None:  # its last words count
            self._reply(line)
        self._over_with(code, status == QProcess.ExitStatus.CrashExit, False)

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._over_with(0, False, True)

    def _over_with(self, code: int, crashed: bool, failed_to_start: bool) -> None:
        if self._over:
            return
        self._over = True
        self._more.stop()
        self._kill.stop()
        self.ended.emit(Outcome(self.role, code, crashed, failed_to_start, self._tail.decode("utf-8", "replace")))


def _environment() -> QProcessEnvironment:
    """Ours, with the folder of the packages in front; the rest (WHYMATCH_HOME too) is passed on."""
    made = QProcessEnvironment.systemEnvironment()
    before = made.value("PYTHONPATH", "")
    made.insert("PYTHONPATH", os.pathsep.join(p for p in (str(_ROOT), before) if p))
    made.insert("PYTHONIOENCODING", "utf-8:backslashreplace")
    return made


def _single_shot(parent: QObject, milliseconds: int, slot: Any) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(slot)
    return timer
