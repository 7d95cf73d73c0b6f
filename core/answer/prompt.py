"""The prompt: instructions, the best passages fenced as data, the question; never longer than the budget in tokens.

Text of a document is data. It stands between fences that no document can close (fence marks in the text are taken
out), and the instructions say that nothing between them is to be followed. What a model makes of it all the same
is checked afterwards, sentence by sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from core.answer.backend import Backend, Message
from core.base.paths import resources
from core.base.types import Hit, Passage
from core.text.sentences import split

MAX_PASSAGES = 8
LEAST_TOKENS = 24  # a remnant of a passage shorter than this tells nothing
LONGEST_QUESTION = 1000  # characters
_FENCE = re.compile(r"[<＜]\s*/?\s*(?:passage|question)[^>＞\n]*[>＞]?", re.IGNORECASE)


@cache
def _text(name: str) -> str:
    return (resources() / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()


def build(question: str, hits: Sequence[Hit], backend: Backend, answer_tokens: int) -> list[Message]:
    """Messages whose prompt, with `answer_tokens` to follow, fits the backend; best passages first.

    A passage that does not fit whole is cut at a sentence end; passages after it are left out. Without room for any
    passage the list is empty.
    """
    budget = min(backend.prompt_budget, backend.context_size - answer_tokens)
    parts: list[str] = []
    for hit in hits[:MAX_PASSAGES]:
        left = budget - backend.count_prompt(_messages(question, parts))
        fenced = _fit(hit.passage, len(parts) + 1, backend, left)
        if not fenced:
            break
        if backend.count_prompt(_messages(question, [*parts, fenced])) > budget:
            break
        parts.append(fenced)
    return _messages(question, parts) if parts else []


def _messages(question: str, parts: Sequence[str]) -> list[Message]:
    user = _text("question").format(passages="\n".join(parts), question=_defused(question[:LONGEST_QUESTION]))
    return [Message("system", _text("system")), Message("user", user)]


def _fit(passage: Passage, number: int, backend: Backend, tokens: int) -> str:
    """The fenced passage, cut to whole sentences that take `tokens` at most; empty when that is too few."""
    if tokens < LEAST_TOKENS:
        return ""
    ends = [end for _, end in split(passage.text)]
    while ends:
        fenced = _fenced(passage, number, passage.text[: ends[-1]])
        if backend.count_tokens(fenced) + 4 <= tokens:
            return fenced
        ends.pop()
    return ""


def _fenced(passage: Passage, number: int, text: str) -> str:
    heading = " > ".join(filter(None, (passage.title, *passage.heading_path)))
    head = f"{_defused(heading)}\n" if heading else ""
    return _text("passage").format(number=number, text=head + _defused(text))


def _defused(text: str) -> str:
    """`text` without anything that looks like a fence of ours."""
    return _FENCE.sub(" ", text)
