"""An OpenAI-compatible endpoint as an answer backend: llama.cpp's server, Ollama, LM Studio, vLLM and their like.

Question and passages go to the endpoint, and nowhere else. What it writes is checked like any other model's text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from core.answer import remote_wire
from core.answer.backend import SEED, Message
from core.answer.stop import until
from core.base.errors import KnownError
from core.base.events import Control
from core.models.endpoint import Endpoint

LARGE_BUDGET = 2600  # prompt tokens, as for a large model on this machine
_STOPS = 4  # that the interface takes; the rest is watched for here
_MARGIN = 8  # tokens of a chat template around each message
_LETTERS_A_TOKEN = 3  # of scripts with letters, on the safe side
_CHARACTERS_A_TOKEN, _EVENTS_A_TOKEN = 40, 8  # beyond that it does not heed `max_tokens`
_LONGEST_LIST = 1 << 20
_MOST_MODELS = 500


class RemoteBackend:
    """The model behind an endpoint. Greedy, as far as the endpoint heeds what it is asked."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

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
        """Raises KnownError besides what every backend raises: the endpoint was not reached, refused or broke off."""
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
        length, events = max_tokens * _CHARACTERS_A_TOKEN, max_tokens * _EVENTS_A_TOKEN + 100
        for event in _events(remote_wire.lines(self.endpoint, "/chat/completions", body, control)):
            piece = _content(event, self.endpoint)
            length, events = length - len(piece), events - 1
            if length < 0 or events < 0:
                return
            if piece:
                yield piece


def offered(endpoint: Endpoint, control: Control) -> tuple[str, ...]:
    """Names of the models that the endpoint offers.

    Raises KnownError: not reached, not allowed, or no such interface; Cancelled.
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
    """The data of server-sent events (WHATWG HTML, section 9.2), up to [DONE]; or the whole text of a plain answer."""
    data, plain, streams = list[str](), list[str](), False
    for raw in received:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line.startswith("data:"):
            streams = True
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            event, data = "\n".join(data), []
            if event.strip() == "[DONE]":
                return
            yield event
        elif not streams and not line.startswith((":", "event:", "id:", "retry:")):
            plain.append(line)
    if data and "\n".join(data).strip() != "[DONE]":
        yield "\n".join(data)
    if not streams and any(plain):
        yield "\n".join(plain)


def _content(event: str, endpoint: Endpoint) -> str:
    """The piece of text in one event. Raises KnownError for an error that the endpoint tells, or what is no event."""
    try:
        value = json.loads(event)
        if value.get("error"):
            raise KnownError(f"{endpoint.host} could not answer: {str(value['error'])[:200]}", "Look at its messages.")
        choice = value["choices"][0] if value["choices"] else {}
        piece = (choice.get("delta") or choice.get("message") or {}).get("content")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, IndexError) as error:
        raise _other(endpoint) from error
    return piece if isinstance(piece, str) else ""


def _other(endpoint: Endpoint) -> KnownError:
    return KnownError(f"{endpoint.host} does not speak the interface of OpenAI.", "Check the address: it ends in /v1.")
