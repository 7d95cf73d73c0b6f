"""Other judges of the intruder test than a space: whoever can read ten excerpts and say which one does not belong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.answer.backend import Backend, Message
from core.answer.prompt import defused
from core.base.events import Control
from core.base.paths import resources
from core.concepts.intruder import Judge, Trials

_EXCERPT = 300  # characters of each text
_ANSWER_TOKENS = 8
_NUMBER = re.compile(r"\d+")

Choose = Callable[[Sequence[str]], int | None]  # excerpts to the place of the odd one, None for no answer


def by_choice(texts: Sequence[str], choose: Choose) -> Judge:
    """A judge who reads: `choose` sees excerpts of `texts` [N]. No answer counts as a guess."""

    def judge(trials: Trials) -> NDArray[np.float64]:
        credits = []
        for rows, odd in zip(trials.rows, trials.odd, strict=True):
            chosen = choose([excerpt(texts[row]) for row in rows])
            credits.append(1 / len(rows) if chosen is None else float(chosen == odd))
        return np.array(credits)

    return judge


def by_model(backend: Backend, control: Control | None = None) -> Choose:
    """A local language model that chooses; None where it names no excerpt, or where they have no room in its prompt.

    Raises:
        Cancelled: through `control`.
    """

    def choose(excerpts: Sequence[str]) -> int | None:
        lines = "\n".join(f"{n}. {defused(text)}" for n, text in enumerate(excerpts, 1))
        messages = [
            Message("system", _prompt("write-system")),
            Message("user", f"{_prompt('find-intruder')}\n\n{lines}"),
        ]
        if backend.count_prompt(messages) > backend.context_size - _ANSWER_TOKENS:
            return None
        said = "".join(backend.generate(messages, _ANSWER_TOKENS, control or Control()))
        number = _NUMBER.search(said)
        place = int(number.group()) - 1 if number else -1
        return place if 0 <= place < len(excerpts) else None

    return choose


def excerpt(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT else line[:_EXCERPT].rsplit(" ", 1)[0] + " …"


@cache
def _prompt(name: str) -> str:
    return (resources() / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()
