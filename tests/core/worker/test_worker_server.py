"""The loop of a child: one request at a time, cancel heard while it works, an end when the parent goes."""

import os
import threading
import time

import pytest

from core.base.errors import NotFound
from core.base.events import Progress
from core.worker.protocol import Request, decode_reply, encode_request, read_lines
from core.worker.server import Server


class Role:
    """A real role of few words."""

    def __init__(self):
        self.closed = threading.Event()
        self.started = threading.Event()

    def open(self):
        return {"role": "test"}

    def handle(self, call):
        match call.request.op:
            case "echo":
                call.listen(Progress("echo", 1, 2))
                return call.request.args
            case "work":
                self.started.set()
                while True:
                    call.control.check()
                    time.sleep(0.005)
            case "missing":
                raise NotFound("It is not here.", "Look elsewhere.")
        raise ValueError("no such operation")

    def close(self):
        self.closed.set()


class Peer:
    def __init__(self, role):
        requests_out, requests_in = os.pipe()
        replies_out, replies_in = os.pipe()
        self.to_child = os.fdopen(requests_in, "wb", buffering=0)
        self._streams = [os.fdopen(requests_out, "rb", buffering=0), os.fdopen(replies_in, "wb", buffering=0)]
        self.from_child = os.fdopen(replies_out, "rb", buffering=0)
        self._lines = read_lines(self.from_child)
        self._thread = threading.Thread(target=Server(role, *self._streams).serve)
        self._thread.start()

    def send(self, number, op, **args):
        self.to_child.write(encode_request(Request(number, op, args)))

    def reply(self):
        return decode_reply(next(self._lines))

    def close(self):
        self.to_child.close()
        self._thread.join(5)
        assert not self._thread.is_alive()
        for stream in (*self._streams, self.from_child):
            stream.close()


@pytest.fixture
def role():
    return Role()


@pytest.fixture
def peer(role, monkeypatch):
    monkeypatch.setattr("core.worker.server._GRACE_SECONDS", 3600)  # this process must not be ended by its timer
    made = Peer(role)
    assert made.reply().event == "ready"
    yield made
    made.close()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
    assert role.closed.is_set()


def test_results_come_after_their_progress(peer):
    peer.send(1, "echo", word="grün 文 \ud800")
    first, last = peer.reply(), peer.reply()
    assert (first.event, first.data["stage"]) == ("progress", "echo")
    assert (last.id, last.event, last.data) == (1, "result", {"word": "grün 文 \ud800"})


def test_cancel_is_heard_while_the_role_works(peer, role):
    peer.send(1, "work")
    assert role.started.wait(5)
    peer.send(2, "echo")
    peer.send(1, "cancel")
    assert (peer.reply().event, peer.reply().id) == ("cancelled", 2)


def test_a_waiting_request_can_be_cancelled_before_it_starts(peer, role):
    peer.send(1, "work")
    assert role.started.wait(5)
    peer.send(2, "work")
    peer.send(2, "cancel")
    peer.send(1, "cancel")
    assert [(r.id, r.event) for r in (peer.reply(), peer.reply())] == [(1, "cancelled"), (2, "cancelled")]


def test_errors_are_told_apart_from_bugs(peer):
    peer.send(1, "missing")
    known = peer.reply()
    assert (known.event, known.data) == (
        "error", {"code": "not-found", "message": "It is not here.", "advice": "Look elsewhere."},
    )  # fmt: skip
    peer.send(2, "nonsense")
    bug = peer.reply()
    assert bug.event == "bug"
    assert "no such operation" in bug.data["traceback"]
    peer.send(3, "echo")
    assert peer.reply().id == 3


def test_a_line_that_is_no_request_does_no_harm(peer):
    peer.to_child.write(b"\xff\xfe nonsense\n[]\n{}\n" + b"[" * 100_000 + b"\n")
    for line in ('{"id": 1e400, "op": "echo"}', '{"id": null, "op": "echo"}', '{"op": "echo", "args": [1]}'):
        peer.to_child.write(line.encode() + b"\n")
    peer.send(1, "echo")
    assert peer.reply().id == 1


def test_work_ends_when_the_parent_goes(peer, role):
    peer.send(1, "work")
    assert role.started.wait(5)
    # the fixture closes the pipe now and checks that the loop ends
