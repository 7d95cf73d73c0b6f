"""An OpenAI-compatible endpoint as an answer backend: llama.cpp's server, Ollama, LM Studio, vLLM and their like.

Question and passages go to the endpoint, and nowhere else. What it writes is checked like any other model's text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from core.answer import remote_wire
from core.answer.backend import SEED, Backend, Message
from core.answer.stop import until
from core.base.errors import EndpointFailed
from core.base.events import Control
from core.base.types import Answer
from core.models.endpoint import Endpoint

LARGE_BUDGET = 2600  # prompt tokens, as for a large model on this machine
_STOPS = 4  # that the interface takes; the rest is watched for here
_MARGIN = 8  # tokens of a chat template around each message
_LETTERS_A_TOKEN = 3  # of scripts with letters, on the safe side
_CHARACTERS_A_TOKEN, _EVENTS_A_TOKEN = 40, 8  # beyond that it does not heed `max_tokens`
_LONGEST_LIST = 1 << 20
_MOST_MODELS = 500
_DONE = "[DONE]"


class RemoteBackend:
    """The model behind an endpoint. Greedy, as far as the endpoint heeds what it is asked."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.asked = False  # whether anything was sent to it

    @property
    def id(self) -> str:
        return self.endpoint.title

    @property
    def context_size(self) -> int:
        return self.endpoint.context

    @property
    def prompt_budget(self) -> int:
        return min(LARGE_BUDGET, self.context_size - self.context_size // 4)

    @property
    def small(self) -> bool:
        return False

    def count_tokens(self, text: str) -> int:
        """An estimate on the safe side: the endpoint's own vocabulary is not known."""
        letters = sum(1 for character in text if ord(character) < 0x800)
        return -(-letters // _LETTERS_A_TOKEN) + 2 * (len(text) - letters)

    def count_prompt(self, messages: Sequence[Message]) -> int:
        return sum(self.count_tokens(message.content) + _MARGIN for message in messages)

    def generate(
        self, messages: Sequence[Message], max_tokens: int, control: Control, stop: Sequence[str] = ()
    ) -> Iterator[str]:
        """As every backend. Raises EndpointFailed, too: the endpoint was not reached, refused or broke off."""
        body = {
            "model": self.endpoint.model, "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": max_tokens, "temperature": 0, "seed": SEED, "stream": True, "stop": list(stop[:_STOPS]),
        }  # fmt: skip
        if not stop:
            del body["stop"]
        return until(self._pieces(body, max_tokens, control), stop)

    def close(self) -> None:
        """Nothing is held: each answer has a connection of its own."""

    def _pieces(self, body: dict[str, Any], max_tokens: int, control: Control) -> Iterator[str]:
        self.asked = True
        length, events = max_tokens * _CHARACTERS_A_TOKEN, max_tokens * _EVENTS_A_TOKEN + 100
        for event in _events(remote_wire.lines(self.endpoint, "/chat/completions", body, control)):
            if event.strip() == _DONE:
                return
            piece, last = _content(event, self.endpoint)
            length, events = length - len(piece), events - 1
            if length < 0 or events < 0:
                return
            if piece:
                yield piece
            if last:  # some keep the connection open
                return
        raise EndpointFailed(f"{self.endpoint.host} broke off in the middle.", "Look whether it still runs.")


def marked(answer: Answer, backend: Backend | None, *, going: bool = False) -> Answer:
    """`answer`, saying where its passages went, or are `going` to next: nobody shall have to guess it."""
    if not isinstance(backend, RemoteBackend) or answer.record is None or not (going or backend.asked):
        return answer
    return replace(answer, record=replace(answer.record, sent_to=backend.endpoint.host))


def offered(endpoint: Endpoint, control: Control) -> tuple[str, ...]:
    """Names of the models that the endpoint offers.

    Raises EndpointFailed: not reached, not allowed, or no such interface; Cancelled.
    """
    data = b""
    for line in remote_wire.lines(endpoint, "/models", None, control):
        data += line
        if len(data) > _LONGEST_LIST:
            break
    try:
        names = [entry["id"] for entry in json.loads(data)["data"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _other(endpoint) from error
    return tuple(name for name in names if isinstance(name, str) and name)[:_MOST_MODELS]


def _events(received: Iterator[bytes]) -> Iterator[str]:
    """The data of server-sent events (WHATWG HTML, section 9.2), or the whole text of a plain answer."""
    data, plain, streams = list[str](), list[str](), False
    for raw in received:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line.startswith("data:"):
            streams = True
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
        elif not streams and not line.startswith((":", "event:", "id:", "retry:")):
            plain.append(line)
    if data or any(plain):
        yield "\n".join(data or plain)


def _content(event: str, endpoint: Endpoint) -> tuple[str, bool]:
    """The piece of text in one event, and whether it is the last one.

    Raises EndpointFailed for an error that it tells, and for what is no event.
    """
    try:
        value = json.loads(event)
        if value.get("error"):
            said = f"{endpoint.host} could not answer: {str(value['error'])[:200]}"
            raise EndpointFailed(said, "Look at its own messages.")
        choice = value["choices"][0] if value["choices"] else {}
        piece = (choice.get("delta") or choice.get("message") or {}).get("content")
        last = "message" in choice or bool(choice.get("finish_reason"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _other(endpoint) from error
    # half of a surrogate pair is no text, and could not be stored
    return piece.encode("utf-8", "replace").decode() if isinstance(piece, str) else "", last


def _other(endpoint: Endpoint) -> EndpointFailed:
    what = f"{endpoint.host} does not speak the interface of OpenAI."
    return EndpointFailed(what, "Check the address: it ends in /v1.")
