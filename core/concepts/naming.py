"""Names that a local language model writes for concepts, kept only where they lead to the passages better.

The model sees excerpts of the passages in which a latent is strongest. Its name and the one by contrast are then put to
the same test, on passages that the model was not shown: which of the two lets a judge pick those in which the latent is
active? Source: Park, Kim, Ko (arXiv 2506.00041) section 5: 1 to 8 words from the 30 strongest passages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.answer.backend import Backend, Message
from core.answer.prompt import defused
from core.base.events import Control
from core.base.paths import resources
from core.concepts.simulate import picked
from core.concepts.terms import Text, content_words
from core.text.sentences import split

SHOWN = 30  # passages, of which a latent's third weakest are kept apart for the test
LEAST_HELD = 3
MARGIN = 0.01  # of the pairs: what a name must win by
_HELD, _OTHERS = 200, 500  # passages of the test, at most
_EXCERPT = 220  # characters
_ANSWER_TOKENS = 24
_LONGEST_WORDS, _LONGEST = 8, 60  # words; characters, for scripts without spaces too
_LEAD = re.compile(
    r"^(?:[-*•#>\s]+|\(?\d{1,2}[.)]\s+|\[\d{1,2}\]\s*|(?:the |shared )?(?:name|idea|topic|title|concept)\s*[:：]\s*)+",
    re.I,
)
_ABOUT_TEXT = re.compile(
    r"\b(?:lines?|passages?|excerpts?|texts?|sentences?) (?:share|above|below|are|is)\b|\bas an ai\b", re.I
)
_QUOTES = " \t\"'“”„«»‘’「」『』`*_.:"

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
NameJudge = Callable[[Text], Floats]  # how near each text [N] is to a name


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of asking for a name: the `name` to keep ("" for none) and why not (`fault`).

    `before` and `after` are how often the old and the written name lead to the right one of two passages.
    """

    name: str = ""
    fault: str = ""
    wrote: str = ""
    before: float = float("nan")
    after: float = float("nan")


class Namer:
    """Asks `backend` for names, and judges them with `judges`, who all score the same `texts`."""

    def __init__(
        self, backend: Backend, texts: Sequence[Text], judges: Sequence[NameJudge], control: Control | None = None
    ) -> None:
        self._backend, self._texts, self._judges = backend, texts, judges
        self._control = control or Control()

    def __call__(self, activations: Floats, label: str, terms: Sequence[str], taken: Collection[str] = ()) -> Trial:
        """A better name than `label` for the latent with these `activations` [N]; `taken` are names of others, folded.

        Raises:
            Cancelled: through `control`.
        """
        shown, held, others, language = self._sides(activations)
        if len(held) < LEAST_HELD or not len(others):
            return Trial(fault="too few passages")
        messages = self._messages(shown, activations, terms)
        if not messages:
            return Trial(fault="no room for the passages")
        text = "".join(self._backend.generate(messages, _ANSWER_TOKENS, self._control, ("\n\n",)))
        name, fault = cleaned(text, language)
        if not fault and name.casefold() in {label.casefold(), *taken}:
            fault = "is one already"
        if fault:
            return Trial(fault=fault, wrote=text.strip())
        before, after = (self._leads(Text(one, language), held, others) for one in (label, name))
        if after < before + MARGIN:
            return Trial("", "no better", name, before, after)
        return Trial(name, "", name, before, after)

    def _sides(self, activations: Floats) -> tuple[Rows, Rows, Rows, str]:
        """Passages to show, to test with, and without activation: all of the latent's main language."""
        order = np.argsort(-activations, kind="stable")
        active = order[activations[order] > 0]
        strength: dict[str, float] = {}
        for row in active:
            strength[self._texts[row].language] = strength.get(self._texts[row].language, 0.0) + float(activations[row])
        language = max(strength, key=lambda one: (strength[one], one), default="")
        alike = np.array([text.language == language for text in self._texts])
        active, others = active[alike[active]], np.flatnonzero(alike & (activations <= 0))
        shown = min(SHOWN, len(active) - len(active) // 3)
        step = max(1, len(others) // _OTHERS)
        return active[:shown], active[shown : shown + _HELD], others[::step], language

    def _leads(self, name: Text, held: Rows, others: Rows) -> float:
        return float(np.mean([picked(judge(name), held, others) for judge in self._judges]))

    def _messages(self, rows: Rows, activations: Floats, terms: Sequence[str]) -> list[Message]:
        """As many excerpts, strongest first, as the model's prompt has room for; empty when not even three fit."""
        budget = min(self._backend.prompt_budget, self._backend.context_size - _ANSWER_TOKENS)
        lines = [
            f"[{max(1, round(10 * activations[row] / activations[rows[0]]))}] {excerpt(self._texts[row].text, terms)}"
            for row in rows
        ]
        for count in range(len(lines), LEAST_HELD - 1, -1):
            content = f"{_prompt('name-concept')}\n\n" + "\n".join(lines[:count])
            messages = [Message("system", _prompt("write-system")), Message("user", content)]
            if self._backend.count_prompt(messages) <= budget:
                return messages
        return []


def excerpt(text: str, terms: Sequence[str]) -> str:
    """The sentence that holds most of the terms, of equal ones the first, on one line and not too long."""
    folded = [term.casefold() for term in terms]
    sentences = [text[start:end] for start, end in split(text)] or [text]
    best = max(sentences, key=lambda s: sum(term in s.casefold() for term in folded))
    line = defused(" ".join(best.split()))
    return line if len(line) <= _EXCERPT else line[:_EXCERPT].rsplit(" ", 1)[0] + " …"


def cleaned(text: str, language: str) -> tuple[str, str]:
    """The name in a model's answer, or what is wrong with it."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    name = " ".join(_LEAD.sub("", first.strip()).strip(_QUOTES).split())
    if not name:
        return "", "empty"
    if len(name.split()) > _LONGEST_WORDS or len(name) > _LONGEST or name.endswith(("?", "？", "؟")):
        return "", "form"
    if _ABOUT_TEXT.search(name):
        return "", "about the text"
    words = [word.casefold() for word in name.split()]
    if len(words) >= 4 and len(set(words)) <= len(words) / 2:
        return "", "repeats itself"
    return (name, "") if content_words(name, language) else ("", "says nothing")


@cache
def _prompt(name: str) -> str:
    return (resources() / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()
