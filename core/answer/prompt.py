"""The prompt: instructions, the best passages fenced as data, the question; never longer than the budget in tokens.

Text of a document is data. It stands between fences that no document can close (fence marks in the text are taken
out), and the instructions say that nothing between them is to be followed. What a model makes of it all the same
is checked afterwards, sentence by sentence.

A small model loses its way in whole passages (measured: none of 14 answers right, against 14 of 24 when it saw only
the best sentences), so it is given just those; a larger one gets the passages whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from core.answer.backend import Backend, Message
from core.base.paths import resources
from core.base.types import Passage

LEAST_TOKENS = 12  # a remnant of a passage shorter than this tells nothing
LONGEST_QUESTION = 1000  # characters
_FENCE = re.compile(r"[<＜‹〈]\s*/?\s*(?:passage|question)[^>＞›〉\n]*[>＞›〉]?", re.IGNORECASE)
# marks by which chats of all kinds of models tell who speaks: a server elsewhere may read them as such
_CHAT = re.compile(
    r"<[|｜][^|｜>\n]{1,40}[|｜]>|\[/?INST\]|<</?SYS>>|</?s>|<(?:bos|eos|start_of_turn|end_of_turn)>|"
    r"</?(?:system|assistant|user|developer|human|tool)>",
    re.IGNORECASE,
)
_UNSEEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


@dataclass(frozen=True, slots=True)
class Extract:
    """A passage and the spans of its sentences (in its text) in reading order; `best` are those that answer."""

    passage: Passage
    sentences: tuple[tuple[int, int], ...]
    best: tuple[tuple[int, int], ...] = ()


@cache
def text(name: str) -> str:
    """A text that models are told, by its name."""
    return (resources() / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()


def build(question: str, extracts: Sequence[Extract], backend: Backend, answer_tokens: int) -> list[Message]:
    """Messages whose prompt, with `answer_tokens` to follow, fits the backend; the best extracts first.

    An extract that does not fit whole loses sentences from its end; the ones after it are left out. Without room for
    any the list is empty.
    """
    budget = min(backend.prompt_budget, backend.context_size - answer_tokens)
    parts: list[str] = []
    for extract in extracts:
        left = budget - backend.count_prompt(_messages(question, parts))
        part = _fit(extract, len(parts) + 1, backend, left)
        if not part or backend.count_prompt(_messages(question, [*parts, part])) > budget:
            break
        parts.append(part)
    return _messages(question, parts) if parts else []


def _messages(question: str, parts: Sequence[str]) -> list[Message]:
    user = text("question").format(passages="\n".join(parts), question=defused(question[:LONGEST_QUESTION]))
    return [Message("system", text("system")), Message("user", user)]


def _fit(extract: Extract, number: int, backend: Backend, tokens: int) -> str:
    """The fenced extract, cut to sentences that take about `tokens` at most; empty when that is too few."""
    spans = list(extract.best if backend.small else extract.sentences)
    while spans and tokens >= LEAST_TOKENS:
        fenced = _fenced(extract.passage, number, _between(extract.passage.text, spans))
        if backend.count_tokens(fenced) + 4 <= tokens:
            return fenced
        spans.pop()
    return ""


def _between(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text of the spans with what stands between neighbours; a gap is shown."""
    pieces = [text[slice(*spans[0])]]
    for (_, end), (start, stop) in pairwise(spans):
        between = text[end:start]
        pieces += [between if not between.strip() else " … ", text[start:stop]]
    return "".join(pieces)


def _fenced(passage: Passage, number: int, held: str) -> str:
    heading = " > ".join(filter(None, (passage.title, *passage.heading_path)))
    head = f"{defused(heading)}\n" if heading else ""
    return text("passage").format(number=number, text=head + defused(held))


def defused(given: str) -> str:
    """`given` without anything that looks like a fence of ours or a mark of a chat, and without unseen characters."""
    seen = _UNSEEN.sub("", given)
    return _CHAT.sub(" ", _FENCE.sub(" ", seen))
