"""A small real endpoint on loopback that speaks as it is told: streams, stalls, lies, refuses."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Served:
    """What the endpoint says, and what it was asked. `raw` replaces the events; `stall` waits before piece number n."""

    pieces: list[str] = field(default_factory=lambda: ["The Tern carries ", "240 passengers."])
    status: int = 200
    raw: bytes | None = None
    stall: int | None = None
    stream: bool = True
    location: str = ""
    break_off: bool = False
    closing: bool = False  # says that it will close the connection, as many do
    lingers: bool = False  # ends with a reason, and keeps the connection
    models: tuple[str, ...] = ("some-model", "other-model")
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)  # the other side has closed the connection
    go_on: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextlib.contextmanager
def serving() -> Iterator[Served]:
    served = Served()

    class Handler(_Handler):
        told = served

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    told: Served

    def do_GET(self) -> None:
        self._heard(None)
        self._begin("application/json")
        self._chunk(json.dumps({"data": [{"id": name} for name in self.told.models]}).encode())
        self._chunk(b"")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._heard(body)
        with contextlib.suppress(ConnectionError):
            self._answer()

    def _answer(self) -> None:
        told = self.told
        self._begin("text/event-stream" if told.stream else "application/json")
        if told.raw is not None:
            self._chunk(told.raw)
        elif told.status != 200:
            self._chunk(b'{"error": {"message": "no such model"}}')
        elif not told.stream:
            self._chunk(json.dumps({"choices": [{"message": {"content": "".join(told.pieces)}}]}).encode())
        else:
            self._stream()
        if told.break_off:
            self.connection.close()
            return
        self._chunk(b"")

    def _stream(self) -> None:
        self._event(": a comment\n")
        self._event('data: {"choices": [{"delta": {"role": "assistant", "content": null}}]}\n')
        for number, piece in enumerate(self.told.pieces):
            if number == self.told.stall:
                self._stall()
            self._event(f"data: {json.dumps({'choices': [{'delta': {'content': piece}}]})}\n")
        if self.told.lingers:
            self._event('data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n')
            self._stall()
        elif not self.told.break_off:
            self._event("data: [DONE]\n")

    def _stall(self) -> None:
        """Say nothing until told to go on, or until the other side has gone."""
        self.connection.settimeout(0.02)
        while not self.told.go_on.is_set():
            try:
                if not self.connection.recv(1):
                    self.told.left.set()
                    return
            except TimeoutError:
                continue
            except OSError:
                self.told.left.set()
                return
        self.connection.settimeout(None)

    def _heard(self, body: dict[str, Any] | None) -> None:
        self.told.paths.append(self.path)
        self.told.headers.append(dict(self.headers))
        if body is not None:
            self.told.asked.append(body)

    def _begin(self, kind: str) -> None:
        self.send_response(self.told.status)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        if self.told.closing:
            self.send_header("Connection", "close")
        if self.told.location:
            self.send_header("Location", self.told.location)
        self.end_headers()

    def _event(self, text: str) -> None:
        self._chunk(f"{text}\n".encode())

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass
