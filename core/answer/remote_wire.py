"""One request to an endpoint: over a connection to an address that was checked, read on a thread, given up at once.

Nothing but the request is sent, redirects are not followed, and no proxy of the environment is asked.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from core.base.errors import EndpointFailed, KnownError
from core.base.events import Control
from core.models.endpoint import Endpoint, addresses

KEY = "WHYMATCH_ENDPOINT_KEY"  # environment variable with the key of an endpoint that wants one
CONNECT_SECONDS = 5.0
SILENT_SECONDS = 180.0  # a large model may read a prompt for minutes before it writes
LONGEST_SECONDS = 1800.0  # of one answer, also where something comes all the time
MOST_BYTES = 8 << 20  # of one answer: hundreds of bytes go with each piece of text
_LONGEST_LINE = 1 << 20
_WAITING_LINES = 16  # that nobody has taken yet
_POLL_SECONDS = 0.02
_LOOK = "Look whether the address is right."
_SHOWN = 200  # characters of what the endpoint says of an error


def lines(endpoint: Endpoint, path: str, body: dict[str, Any] | None, control: Control) -> Iterator[bytes]:
    """The lines of the answer to a POST of `body`, or to a GET without one, as they come.

    Raises:
        EndpointFailed: not reached, not allowed, refused, silent for minutes, without an end, or broken off.
        Cancelled: within a moment, whatever the endpoint does.
    """
    exchange = _Exchange(endpoint, path, body)
    threading.Thread(target=exchange.run, name="endpoint", daemon=True).start()
    try:
        yield from exchange.received(control)
    finally:
        exchange.give_up()


class _Exchange:
    """The thread that talks, and the queue of what it heard: lines, then None or an error."""

    def __init__(self, endpoint: Endpoint, path: str, body: dict[str, Any] | None) -> None:
        self._endpoint, self._path, self._body = endpoint, path, body
        self._heard: queue.Queue[bytes | Exception | None] = queue.Queue(_WAITING_LINES)
        self._over = threading.Event()
        self._socket: socket.socket | None = None  # the connection lets go of it before the answer is read
        self._connection: http.client.HTTPConnection | None = None

    def received(self, control: Control) -> Iterator[bytes]:
        began = last = time.monotonic()
        received = 0
        while True:
            control.check()
            if received > MOST_BYTES or time.monotonic() - began > LONGEST_SECONDS:
                raise EndpointFailed(f"{self._endpoint.host} does not come to an end.", _LOOK)
            try:
                item = self._heard.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if time.monotonic() - last > SILENT_SECONDS:
                    what = f"{self._endpoint.host} has fallen silent."
                    raise EndpointFailed(what, "Look whether it works.") from None
                continue
            last = time.monotonic()
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            received += len(item)
            yield item

    def give_up(self) -> None:
        """Close the connection, which ends the thread wherever it waits."""
        self._over.set()
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def run(self) -> None:
        try:
            self._talk()
            self._put(None)
        except KnownError as error:  # its address is not allowed, or not known
            self._put(EndpointFailed(error.message, error.advice))
        except (OSError, http.client.HTTPException, ValueError) as error:
            what = f"{self._endpoint.host} could not be reached, or broke off ({error or type(error).__name__})."
            self._put(EndpointFailed(what, "Look whether it runs, and whether the address is right."))
        except Exception as error:  # a bug: raised where somebody sees it, not lost with this thread
            self._put(error)
        finally:
            for one in (self._connection, self._socket):
                if one is not None:
                    one.close()

    def _talk(self) -> None:
        self._socket = _socket(self._endpoint)
        self._connection = self._connected(self._socket)
        if self._over.is_set():  # given up before anything was sent
            return
        response = self._asked(self._connection)
        if response.status != http.client.OK:
            raise self._refused(response)
        while not self._over.is_set() and (line := response.readline(_LONGEST_LINE)):
            if len(line) >= _LONGEST_LINE:
                raise EndpointFailed(f"{self._endpoint.host} sends what is no answer.", _LOOK)
            self._put(line)

    def _connected(self, plain: socket.socket) -> http.client.HTTPConnection:
        parts = urlsplit(self._endpoint.url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=SILENT_SECONDS)
        plain.settimeout(SILENT_SECONDS)
        connection.sock = plain
        if parts.scheme == "https":
            self._socket = ssl.create_default_context().wrap_socket(
                plain, server_hostname=parts.hostname, do_handshake_on_connect=False
            )
            self._socket.do_handshake()
            connection.sock = self._socket
        return connection

    def _asked(self, connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
        data = None if self._body is None else json.dumps(self._body).encode()
        headers = {"Accept": "text/event-stream, application/json", "Connection": "close"}
        headers |= {"Content-Type": "application/json"} if data is not None else {}
        if key := os.environ.get(KEY, "").strip():
            if not (key.isascii() and key.isprintable()):  # what the library says of it would show it
                raise EndpointFailed("The key of the endpoint holds signs that no key has.", f"Look at {KEY}.")
            headers["Authorization"] = f"Bearer {key}"
        path = urlsplit(self._endpoint.url).path + self._path
        connection.request("GET" if data is None else "POST", path, data, headers)
        return connection.getresponse()

    def _refused(self, response: http.client.HTTPResponse) -> EndpointFailed:
        if 300 <= response.status < 400:
            what = f"{self._endpoint.host} points to another place, which is not followed."
            return EndpointFailed(what, "Type the address that it should be.")
        said = " ".join(response.read(_SHOWN * 4).decode("utf-8", "replace").split())[:_SHOWN]
        what = f"{self._endpoint.host} refused the request ({response.status}{': ' if said else ''}{said})."
        return EndpointFailed(what, "Look whether the model's name is right and the endpoint wants a key.")

    def _put(self, item: bytes | Exception | None) -> None:
        while not self._over.is_set():
            with contextlib.suppress(queue.Full):
                self._heard.put(item, timeout=_POLL_SECONDS)
                return


def _socket(endpoint: Endpoint) -> socket.socket:
    """Connected to the first address of the host that answers."""
    failed: OSError | None = None
    for place in addresses(endpoint):
        try:
            return socket.create_connection(place, CONNECT_SECONDS)
        except OSError as error:
            failed = error
    raise failed or OSError("no address")
