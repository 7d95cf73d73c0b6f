"""The parent's end of a child process, for programs without an event loop (command line, tests)."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.base.errors import Cancelled, ChildDied, known_error
from core.base.events import Control
from core.worker.protocol import Reply, Request, command, decode_reply, encode_request, read_lines

_GRACE_SECONDS = 3.0
_POLL_SECONDS = 0.05
PROJECT = Path(__file__).resolve().parents[2]


class ChildClient:
    """One child of `role`. Use as a context manager: leaving it ends the child, by force if it must be."""

    def __init__(self, role: str, library: Path | None = None) -> None:
        self._role = role
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(PROJECT), environment.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            command(role, str(library) if library else None), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment, bufsize=0,
        )  # fmt: skip
        self._replies: queue.Queue[Reply | None] = queue.Queue()
        self._next = 0
        threading.Thread(target=self._listen, name=f"{role}-replies", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> ChildClient:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def call(
        self, op: str, args: dict[str, Any] | None = None, *, on_event: Callable[[Reply], None] | None = None,
        control: Control | None = None,
    ) -> Any:  # fmt: skip
        """Send a request and wait for its result; other replies of it go to `on_event`.

        Raises:
            Cancelled: through `control`.
            ChildDied: the child ended before it answered.
            KnownError: what the child reported.
            RuntimeError: the child met a bug; the message holds its traceback.
        """
        self._next += 1
        self._write(Request(self._next, op, args or {}))
        told = False
        while True:
            if control is not None and control.cancelled and not told:
                self._write(Request(self._next, "cancel"))
                told = True
            try:
                reply = self._replies.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
            if reply is None:
                raise ChildDied(f"The {self._role} process {self.ending()}.", "Try again.")
            if reply.id != self._next:
                continue
            if reply.last:
                return self._outcome(reply)
            if on_event is not None:
                on_event(reply)

    def _outcome(self, reply: Reply) -> Any:
        match reply.event:
            case "result":
                return reply.data
            case "cancelled":
                raise Cancelled("cancelled")
            case "error":
                raise known_error(reply.data["code"], reply.data["message"], reply.data["advice"])
        raise RuntimeError(f"{reply.data['message']}\n{reply.data['traceback']}")

    def _write(self, request: Request) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the listening thread will say that it died
            self._process.stdin.write(encode_request(request))

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in read_lines(self._process.stdout):
            with contextlib.suppress(ValueError):
                self._replies.put(decode_reply(line))
        self._process.wait()
        self._replies.put(None)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def ending(self) -> str:
        """How the process ended, as the end of a sentence."""
        return describe_ending(self._process.wait())

    def close(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError, OSError):
            self._process.stdin.close()
        for stop in (lambda: None, self._process.terminate, self._process.kill):
            stop()
            try:
                self._process.wait(_GRACE_SECONDS)
                break
            except subprocess.TimeoutExpired:
                continue
        if self._process.stdout is not None:
            self._process.stdout.close()


def describe_ending(code: int) -> str:
    """'ended with code 1' or 'was ended by SIGKILL (perhaps out of memory)'."""
    if code >= 0:
        return f"ended with code {code}"
    name = signal.Signals(-code).name if sys.platform != "win32" else str(code)
    return f"was ended by {name}" + (" (perhaps out of memory)" if name == "SIGKILL" else "")
