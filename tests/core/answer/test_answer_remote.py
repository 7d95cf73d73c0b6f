"""An endpoint that writes answers: streamed from a real server, given up at once, marked, and never outside unasked."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from endpoint_server import Served, serving

from core.answer import remote_wire
from core.answer.backend import Message
from core.answer.remote import RemoteBackend, marked, offered
from core.answer.service import Answerer
from core.base.errors import BadSetting, Cancelled, EndpointFailed, KnownError
from core.base.events import Control
from core.base.types import AnswerMode, SearchResult
from core.encode.encoder import Encoder
from core.models import endpoint as endpoints
from core.models.endpoint import Endpoint, is_near, made

QUESTION = "How many passengers does the Tern carry?"
ASKED = [Message("system", "Answer."), Message("user", "How many?")]


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as made:
        yield made


@pytest.fixture
def backend(served: Served) -> RemoteBackend:
    return RemoteBackend(made(served.url, "some-model", in_use=True))


def write(backend: RemoteBackend, tokens: int = 40, stop: tuple[str, ...] = ()) -> str:
    return "".join(backend.generate(ASKED, tokens, Control(), stop))


def test_what_it_streams_comes_piece_by_piece(served: Served, backend: RemoteBackend) -> None:
    served.pieces = ["The ", "Fähre ", "fährt 🚢."]
    assert list(backend.generate(ASKED, 40, Control())) == served.pieces
    (asked,) = served.asked
    assert asked["messages"] == [{"role": m.role, "content": m.content} for m in ASKED]
    assert (asked["model"], asked["max_tokens"], asked["temperature"], asked["stream"]) == ("some-model", 40, 0, True)
    assert served.paths == ["/v1/chat/completions"]
    assert "Authorization" not in served.headers[0]


def test_the_key_of_the_environment_is_sent(
    served: Served, backend: RemoteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(remote_wire.KEY, "secret")
    write(backend)
    assert served.headers[0]["Authorization"] == "Bearer secret"


def test_no_proxy_of_the_environment_is_asked(
    served: Served, backend: RemoteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert write(backend)
    assert served.paths == ["/v1/chat/completions"]


def test_one_that_does_not_stream_is_understood(served: Served, backend: RemoteBackend) -> None:
    served.stream = False
    assert write(backend) == "The Tern carries 240 passengers."


def test_a_stop_word_ends_it_also_across_pieces(served: Served, backend: RemoteBackend) -> None:
    served.pieces = ["Yes. Ques", "tion: next"]
    assert write(backend, stop=("Question:",)) == "Yes. "


def test_an_endless_one_is_cut_off(served: Served, backend: RemoteBackend) -> None:
    served.pieces = ["word " * 10] * 200
    assert 0 < len(write(backend, tokens=10)) <= 400
    served.pieces = [""] * 5000
    assert write(backend, tokens=10) == ""


@pytest.mark.parametrize("closing", [False, True])
def test_a_cancel_takes_effect_while_it_says_nothing(served: Served, backend: RemoteBackend, closing: bool) -> None:
    served.stall, served.closing = 1, closing
    control = Control()
    pieces = backend.generate(ASKED, 40, control)
    assert next(pieces) == served.pieces[0]
    control.cancel()
    with pytest.raises(Cancelled):
        next(pieces)
    assert served.left.wait(10)  # the connection is given up, so that the endpoint stops writing, too


def test_leaving_the_stream_early_gives_the_connection_up(served: Served, backend: RemoteBackend) -> None:
    served.stall = 1
    pieces = backend.generate(ASKED, 40, Control())
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert served.left.wait(10)
    _ends("endpoint")


def _ends(thread: str) -> None:
    deadline = time.monotonic() + 10
    while any(t.name == thread for t in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(t.name == thread for t in threading.enumerate())


FAILURES: dict[str, tuple[Callable[[Served], None], str]] = {
    "refuses": (lambda s: setattr(s, "status", 404), "refused the request .404: .*no such model"),
    "points elsewhere": (lambda s: (setattr(s, "status", 302), setattr(s, "location", "http://127.0.0.1:1/"))[0],
                         "not followed"),
    "breaks off": (lambda s: setattr(s, "break_off", True), "broke off"),
    "no interface": (lambda s: setattr(s, "raw", b"<html>hello</html>\n"), "does not speak"),
    "events of another kind": (lambda s: setattr(s, "raw", b"data: [1, 2]\n\n"), "does not speak"),
    "deep nonsense": (lambda s: setattr(s, "raw", b"data: " + b"[" * 100_000 + b"\n\n"), "does not speak"),
    "an error in the stream": (lambda s: setattr(s, "raw", b'data: {"error": "out of memory"}\n\n'), "out of memory"),
    "lines without end": (lambda s: setattr(s, "raw", (b"x" * 1000 + b"\n") * 9000), "does not come to an end"),
    "an event without end": (lambda s: setattr(s, "raw", b"data: 1\n" * (9 << 17)), "does not come to an end"),
    "a line without an end": (lambda s: setattr(s, "raw", b"data: " + b"x" * (1 << 20)), "no answer"),
}  # fmt: skip


def test_a_reason_to_end_is_the_end(served: Served, backend: RemoteBackend) -> None:
    served.lingers = True
    assert write(backend) == "The Tern carries 240 passengers."
    assert served.left.wait(10)


def test_comments_without_end_are_given_up(
    served: Served, backend: RemoteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_wire, "LONGEST_SECONDS", 0.0)
    served.raw = b": still here\n" * 10
    with pytest.raises(EndpointFailed, match="does not come to an end"):
        write(backend)


def test_half_a_character_is_no_text(served: Served, backend: RemoteBackend) -> None:
    served.pieces = ["Hi \ud800"]
    assert write(backend) == "Hi ?"


def test_a_key_is_told_nowhere(served: Served, backend: RemoteBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(remote_wire.KEY, "sec\nret")
    with pytest.raises(EndpointFailed) as caught:
        write(backend)
    assert "sec" not in str(caught.value).replace("seconds", "")
    assert served.paths == []


def test_nothing_is_sent_when_it_was_given_up_before(
    served: Served, backend: RemoteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled, control, connect = threading.Event(), Control(), remote_wire._socket

    def late(endpoint: Endpoint) -> socket.socket:
        assert cancelled.wait(10)
        return connect(endpoint)

    monkeypatch.setattr(remote_wire, "_socket", late)
    control.cancel()
    with pytest.raises(Cancelled):
        next(backend.generate(ASKED, 40, control))
    cancelled.set()
    _ends("endpoint")
    assert served.paths == []


@pytest.mark.parametrize("name", FAILURES)
def test_what_fails_is_told_in_words(served: Served, backend: RemoteBackend, name: str) -> None:
    spoil, words = FAILURES[name]
    spoil(served)
    with pytest.raises(EndpointFailed, match=words) as caught:
        write(backend)
    assert caught.value.advice
    assert len(served.paths) == 1


def test_one_that_does_not_run_is_told(backend: RemoteBackend) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EndpointFailed, match="could not be reached"):
        write(RemoteBackend(made(f"127.0.0.1:{port}", "m")))


def test_one_that_falls_silent_is_given_up(
    served: Served, backend: RemoteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_wire, "SILENT_SECONDS", 0.2)
    served.stall = 0
    with pytest.raises(EndpointFailed, match=r"fallen silent|broke off"):
        write(backend)


def test_what_it_offers_is_listed(served: Served, backend: RemoteBackend) -> None:
    assert offered(backend.endpoint, Control()) == ("some-model", "other-model")
    served.models = ()
    assert offered(backend.endpoint, Control()) == ()


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        (" http://localhost:1234/v1/ ", "http://localhost:1234/v1"),
        ("https://box.lan/v1/chat/completions", "https://box.lan/v1"),
        ("[::1]:11434", "http://[::1]:11434/v1"),
        ("http://box:8000/api/v2", "http://box:8000/api/v2"),
    ],
)
def test_an_address_is_completed(typed: str, url: str) -> None:
    assert made(typed, "m").url == url


@pytest.mark.parametrize(
    "typed",
    ["", "ftp://box/v1", "http://", "http://me:secret@box/v1", "http://box/v1?key=1", "http://box/#x", "http://b ox/",
     "http://box:99999/v1", "file:///etc/passwd", "http://box\r\nX: y/"],
)  # fmt: skip
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(BadSetting):
        made(typed, "m")


NEAR = ("127.0.0.1", "127.8.8.8", "10.1.2.3", "192.168.0.9", "172.16.0.1", "169.254.3.4", "::1", "fe80::1%eth0",
        "fd00::5", "::ffff:192.168.1.1")  # fmt: skip
FAR = ("8.8.8.8", "172.32.0.1", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "0.0.0.0", "::", "203.0.113.5",
       "224.0.0.1", "240.0.0.1", "100.64.0.1", "2001:db8::1")  # fmt: skip


def test_what_is_near_and_what_is_not() -> None:
    assert [address for address in NEAR if not is_near(address)] == []
    assert [address for address in FAR if is_near(address)] == []


def resolving(monkeypatch: pytest.MonkeyPatch, *found: str) -> None:
    def resolve(host: str, port: int, *options: Any, **named: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_a_name_that_leads_outside_is_refused_before_anything_is_sent(
    served: Served, backend: RemoteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, "127.0.0.1", "8.8.8.8")
    with pytest.raises(KnownError, match="nothing was sent"):
        endpoints.keep(backend.endpoint)
    with pytest.raises(EndpointFailed, match="nothing was sent"):
        write(backend)
    assert served.paths == []
    assert endpoints.kept() is None
    allowed = replace(backend.endpoint, anywhere=True)
    assert endpoints.addresses(allowed)[0] == ("127.0.0.1", served.port)


def test_it_connects_to_the_address_that_was_checked(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "127.0.0.1")
    assert write(RemoteBackend(made(f"no-such-host.example:{served.port}", "m"))) == "The Tern carries 240 passengers."
    assert served.headers[0]["Host"] == f"no-such-host.example:{served.port}"


def test_none_is_in_use_until_it_is_switched_on(served: Served) -> None:
    assert endpoints.in_use() is None
    endpoint = made(served.url, "some-model")
    endpoints.keep(endpoint)
    assert endpoints.kept() == endpoint
    assert endpoints.in_use() is None
    endpoints.keep(replace(endpoint, in_use=True))
    assert endpoints.in_use() == replace(endpoint, in_use=True)
    with pytest.raises(BadSetting):
        endpoints.keep(replace(endpoint, model=""))
    endpoints.forget()
    endpoints.forget()
    assert endpoints.kept() is None


@pytest.mark.parametrize("value", ["[", "[]", '{"url": "http://x/"}', "7"])
def test_a_file_that_cannot_be_read_counts_as_none(value: str) -> None:
    endpoints.keep(Endpoint("http://127.0.0.1:1/v1", "m"))
    endpoints._path().write_text(value)
    assert endpoints.kept() is None
    whole = {"url": "http://127.0.0.1:1/v1", "model": "m", "in_use": "yes", "anywhere": False, "context": 4096}
    endpoints._path().write_text(json.dumps(whole))
    assert endpoints.in_use() is None


def test_its_words_are_checked_and_the_answer_says_where_they_came_from(
    served: Served, backend: RemoteBackend, encoder: Encoder, search: Callable[[str], SearchResult]
) -> None:
    answer = marked(Answerer(encoder, backend).answer(QUESTION, (), search(QUESTION)), backend)
    assert (answer.mode, answer.text) == (AnswerMode.GENERATED, "The Tern carries 240 passengers. [1]")
    assert answer.model == f"some-model @ 127.0.0.1:{served.port}"
    assert answer.record is not None
    assert answer.record.sent_to == f"127.0.0.1:{served.port}"
    served.pieces = ["She was built by Queen Astrid in 1620."]
    answer = Answerer(encoder, backend).answer(QUESTION, (), search(QUESTION))
    assert answer.mode is AnswerMode.EXTRACTIVE
    assert "Astrid" not in answer.text


def test_without_it_the_quotes_stand_and_say_why(
    served: Served, backend: RemoteBackend, encoder: Encoder, search: Callable[[str], SearchResult]
) -> None:
    served.status = 500
    answer = Answerer(encoder, backend).answer(QUESTION, (), search(QUESTION))
    assert answer.mode is AnswerMode.EXTRACTIVE
    assert "240 passengers" in answer.text
    assert "refused the request (500" in answer.reason


def test_what_did_not_go_there_is_not_marked(
    served: Served, backend: RemoteBackend, encoder: Encoder, search: Callable[[str], SearchResult]
) -> None:
    answerer = Answerer(encoder, backend)
    quoted = marked(answerer.answer(QUESTION, (), search(QUESTION), mode="extractive"), backend)
    assert quoted.record is not None
    assert quoted.record.sent_to == ""
    assert served.paths == []


def test_tokens_are_estimated_on_the_safe_side(backend: RemoteBackend) -> None:
    assert backend.count_tokens("A sentence of some words.") >= 7
    assert backend.count_tokens("日本語の文章です") >= 8
    assert backend.count_prompt(ASKED) > backend.count_tokens("Answer.") + backend.count_tokens("How many?")
