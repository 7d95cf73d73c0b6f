"""The loop that every role runs: requests in, one at a time; replies out; cancel heard at any moment."""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
import traceback
from collections.abc import Callable
from typing import IO, Any, Protocol

from core.base.errors import Cancelled, KnownError
from core.base.events import Changed, Control, Curve, Event, Notice, Progress
from core.base.wire import to_plain
from core.store.database import explained
from core.worker.protocol import CONTROLS, Reply, Request, decode_request, encode_reply, read_lines

_GRACE_SECONDS = 5.0  # for the request at work when the parent has gone
_EVENTS = {Progress: "progress", Changed: "changed", Notice: "notice", Curve: "curve"}


class Call:
    """One request at work, as its role sees it."""

    def __init__(self, request: Request, send: Callable[[Reply], None]) -> None:
        self.request = request
        self.control = Control()
        self._send = send

    def emit(self, event: str, data: Any) -> None:
        self._send(Reply(self.request.id, event, to_plain(data)))

    def listen(self, event: Event) -> None:
        self.emit(_EVENTS[type(event)], event)


class Role(Protocol):
    """What a child does. `open` is called once, before the first request."""

    def open(self) -> dict[str, Any]:
        """Load what the role needs and return what `ready` shall say. A KnownError is reported, not fatal."""
        ...

    def handle(self, call: Call) -> Any:
        """Do `call.request` and return its result."""
        ...

    def close(self) -> None: ...


class Server:
    """Serves `role` until the requests end. Replies may be sent from any thread."""

    def __init__(self, role: Role, requests: IO[bytes], replies: IO[bytes]) -> None:
        self._role = role
        self._requests = requests
        self._replies = replies
        self._lock = threading.Lock()
        self._queue: queue.Queue[Call | None] = queue.Queue()
        self._calls: dict[int, Call] = {}

    def serve(self) -> None:
        threading.Thread(target=self._listen, name="requests", daemon=True).start()
        self._open()
        try:
            while (call := self._queue.get()) is not None:
                self._answer(call)
                self._calls.pop(call.request.id, None)
        finally:
            self._role.close()

    def _open(self) -> None:
        try:
            self._send(Reply(0, "ready", to_plain(self._role.open())))
        except KnownError as error:
            self._send(Reply(0, "error", _error(error)))
        except (OSError, sqlite3.Error) as error:
            known = explained(error)
            if known is None:
                raise
            self._send(Reply(0, "error", _error(known)))

    def _answer(self, call: Call) -> None:
        try:
            call.control.check()
            reply = Reply(call.request.id, "result", to_plain(self._role.handle(call)))
        except Cancelled:
            reply = Reply(call.request.id, "cancelled")
        except KnownError as error:
            reply = Reply(call.request.id, "error", _error(error))
        except Exception as error:
            known = explained(error) if isinstance(error, (OSError, sqlite3.Error)) else None
            reply = Reply(call.request.id, "error", _error(known)) if known else _bug(call.request.id, error)
        self._send(reply)

    def _send(self, reply: Reply) -> None:
        data = memoryview(encode_reply(reply))
        with self._lock:
            try:
                while data:  # an unbuffered stream may take a part only
                    data = data[self._replies.write(data) :]
            except (BrokenPipeError, ValueError):
                self._abandon()

    def _listen(self) -> None:
        """Runs on its own thread, so that a cancel is heard while the role works."""
        for line in read_lines(self._requests):
            try:
                request = decode_request(line)
            except ValueError:
                continue
            if request.op in CONTROLS:
                call = self._calls.get(request.id)
                if call is not None:
                    getattr(call.control, request.op)()
                continue
            call = Call(request, self._send)
            self._calls[request.id] = call
            self._queue.put(call)
        self._abandon()

    def _abandon(self) -> None:
        """The parent has gone: stop what runs, and end for certain."""
        for call in list(self._calls.values()):
            call.control.cancel()
        self._queue.put(None)
        timer = threading.Timer(_GRACE_SECONDS, os._exit, (1,))
        timer.daemon = True
        timer.start()


def _bug(request: int, error: Exception) -> Reply:
    detail = {"message": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
    return Reply(request, "bug", detail)


def _error(error: KnownError) -> dict[str, str]:
    return {"code": error.code, "message": error.message, "advice": error.advice}
