"""A backend without a model: it says what it was told to say. For tests and for machines without a model file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.answer.backend import Message
from core.answer.stop import until
from core.base.events import Control

_PIECE = re.compile(r"\s*\S{1,8}|\s+")


class EchoBackend:
    """Streams `reply` in small pieces; without one, the last message. A token is a piece of up to 8 letters."""

    def __init__(
        self, reply: str | None = None, *, context_size: int = 2048, prompt_budget: int = 1024, small: bool = False
    ) -> None:
        self._reply = reply
        self._context_size = context_size
        self._prompt_budget = prompt_budget
        self._small = small
        self.prompts: list[list[Message]] = []

    @property
    def id(self) -> str:
        return "echo"

    @property
    def context_size(self) -> int:
        return self._context_size

    @property
    def prompt_budget(self) -> int:
        return self._prompt_budget

    @property
    def small(self) -> bool:
        return self._small

    def count_tokens(self, text: str) -> int:
        return len(_PIECE.findall(text))

    def count_prompt(self, messages: Sequence[Message]) -> int:
        return sum(self.count_tokens(message.content) + 2 for message in messages)

    def generate(
        self, messages: Sequence[Message], max_tokens: int, control: Control, stop: Sequence[str] = ()
    ) -> Iterator[str]:
        self.prompts.append(list(messages))
        reply = messages[-1].content if self._reply is None else self._reply
        return until(self._pieces(reply, max_tokens, control), stop)

    def close(self) -> None:
        """Nothing to give back."""

    @staticmethod
    def _pieces(reply: str, max_tokens: int, control: Control) -> Iterator[str]:
        for piece in _PIECE.findall(reply)[:max_tokens]:
            control.check()
            yield piece
