"""The one door to a language model: what every answer backend offers, and nothing of how it does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.base.events import Control

SEED = 1  # of whatever a model draws by chance


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the prompt; `role` is "system", "user" or "assistant"."""

    role: str
    content: str


class Backend(Protocol):
    """A language model that continues a chat. Deterministic: the same messages give the same text."""

    @property
    def id(self) -> str:
        """Name of the model, as kept with an answer."""

    @property
    def context_size(self) -> int:
        """Tokens that prompt and answer may hold together."""

    @property
    def prompt_budget(self) -> int:
        """Tokens a prompt should hold at most, so that its evaluation stays within seconds."""

    @property
    def small(self) -> bool:
        """Should it be given the best sentences only, because whole passages confuse it?"""

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` as content of a message (control words of the model count as plain text)."""

    def count_prompt(self, messages: Sequence[Message]) -> int:
        """Tokens of the whole prompt, the model's chat template included."""

    def generate(
        self, messages: Sequence[Message], max_tokens: int, control: Control, stop: Sequence[str] = ()
    ) -> Iterator[str]:
        """Pieces of text as they are made, up to the model's end, `max_tokens` or a `stop` string (left out).

        Raises `Cancelled` between tokens and during the evaluation of the prompt.
        """

    def close(self) -> None:
        """Give the memory back. Safe to call twice."""
