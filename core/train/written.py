"""Questions that the local language model writes for passages, in several styles, and what is thrown away of them.

A model small enough for a laptop writes much that is no question. So its text is believed only when it has the form
asked for and its words come from the passage; all that falls is counted by reason, and nothing of it is repaired.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from core.answer.backend import Backend, Message
from core.answer.evidence import content_words
from core.answer.prompt import defused
from core.base.events import Control
from core.base.files import read_json, write_json
from core.base.paths import resources
from core.encode.encoder import input_hash
from core.text.sentences import split
from core.train.pairs.source import asked
from core.train.pairs.words import size, units
from core.train.types import WRITTEN, Piece, Question

QUESTION, CLAIM, KEYWORDS, TITLE = "question", "claim", "keywords", "title"
STYLES: Final = (QUESTION, CLAIM, KEYWORDS, TITLE)
SMALL_STYLES: Final = (QUESTION,)  # measured with 135 M parameters: of questions 6 of 8 stay, of the others 4 of 22
ANSWER_TOKENS = 48
LEAST_TOKENS = 24  # of a passage that fits the prompt
_SMALL_TOKENS = 120  # of a passage that a small model is shown: it loses its way in longer ones
_IN_A_ROW = 8  # passages in one style: the beginning of the prompt, which stays, is evaluated once
FROM_PASSAGE = 0.5  # share of the words that must be the passage's own
_KEPT_EVERY = 16  # texts
_LONGEST_TITLE, _LONGEST = 14, 40  # words

_LEAD = re.compile(
    r"^(?:[-*•#>\s]+|\(?\d{1,2}[.)]\s+|(?:sure|here (?:is|are)|question|claim|statement|fact|sentence|keywords?|title|"
    r"frage|titel|stichw[oö]rter|titre|pregunta|título|问题|标题|关键词)\b[^:：\n]{0,60}[:：]\s*)+",
    re.IGNORECASE,
)
_ABOUT_TEXT = re.compile(
    r"\b(?:the|this|that|above|given|following) (?:passage|text|paragraph|excerpt|article|document|author|sentence|"
    r"context|section|study|paper|work)s?\b|\b(?:de[rmns]|die|das|diese[mrs]?) (?:Text|Abschnitt|Absatz|Artikel)s?\b|"
    r"\b(?:as an ai|i (?:cannot|can't|am sorry))\b|本文|这段|文中|この文章|本段",
    re.IGNORECASE,
)
_QUOTES = " \t\"'“”„«»‘’「」『』`*_"
_ASKS = ("?", "؟", "？", ";")
_WHOLE = re.compile(r"[.!…。！।؟]$")
_STOP = ("\n\n", "<passage", "</passage", "\nAnswer", "\nPassage")


class Writer:
    """Writes until `minutes` are over or `most` questions stand. `skipped` counts by reason what was thrown away.

    What was written is kept in the file `kept`, so that a later run with the same model and passages does not ask
    again. The styles take turns every few passages; a small model writes questions only.
    """

    def __init__(
        self, backend: Backend, *, minutes: float = 10.0, most: int = 2_000, styles: Sequence[str] = (),
        kept: Path | None = None, control: Control | None = None, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.skipped: Counter[str] = Counter()
        self._backend, self._most = backend, most
        self._styles = tuple(styles) or (SMALL_STYLES if backend.small else STYLES)
        self._seconds, self._clock = 60 * minutes, clock
        self._path, self._control = kept, control or Control()
        self._known = _read(kept, backend.id) if kept is not None else {}

    def __call__(self, pieces: Sequence[Piece]) -> list[Question]:
        """Raises Cancelled; what was written until then is kept."""
        until, found = self._clock() + self._seconds, list[Question]()
        try:
            for number, piece in enumerate(pieces):
                self._control.check()
                style = self._styles[number // _IN_A_ROW % len(self._styles)]
                known = self._key(piece, style) in self._known
                if len(found) >= self._most or (not known and self._clock() >= until):
                    break
                text, fault = cleaned(self._text(piece, style), style, piece)
                self.skipped.update([fault] if fault else [])
                found += [] if fault else [asked(text, piece, WRITTEN)]
        finally:
            self._keep()
        return found

    def _text(self, piece: Piece, style: str) -> str:
        key = self._key(piece, style)
        if key not in self._known:
            self._known[key] = self._generate(piece, style)
            if len(self._known) % _KEPT_EVERY == 0:
                self._keep()
        return self._known[key]

    def _generate(self, piece: Piece, style: str) -> str:
        messages = _messages(piece, style, self._backend)
        pieces = self._backend.generate(messages, ANSWER_TOKENS, self._control, _STOP) if messages else ()
        return "".join(pieces).strip()

    def _key(self, piece: Piece, style: str) -> str:
        return f"{input_hash(piece.input)} {style}"

    def _keep(self) -> None:
        if self._path is not None and self._known:
            write_json(self._path, {"model": self._backend.id, "texts": self._known})


def _read(path: Path, model: str) -> dict[str, str]:
    """What was kept of this model; nothing where the file is not there or not of it."""
    try:
        told = read_json(path)
        texts = told["texts"] if told["model"] == model else {}
        return {str(key): str(text) for key, text in texts.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


@cache
def _examples() -> tuple[Mapping[str, str], ...]:
    return tuple(json.loads((resources() / "prompts" / "write-examples.json").read_text(encoding="utf-8")))


@cache
def _prompt(name: str) -> str:
    return (resources() / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()


def _messages(piece: Piece, style: str, backend: Backend) -> list[Message]:
    """The passage, cut to whole sentences that fit, and then what is wanted; empty when too little of it fits."""
    budget = min(backend.prompt_budget, backend.context_size - ANSWER_TOKENS)
    shown = _SMALL_TOKENS if backend.small else budget
    for _, end in reversed(split(piece.text)):
        text = piece.text[:end]
        tokens = backend.count_tokens(text)
        if tokens < LEAST_TOKENS:
            break
        if tokens <= shown and backend.count_prompt(messages := _filled(text, style)) <= budget:
            return messages
    return []


def _filled(text: str, style: str) -> list[Message]:
    """With examples, as turns of the same conversation: small models follow them better than words."""
    messages = [Message("system", _prompt("write-system"))]
    for example in _examples():
        messages += [_given(example["passage"], style), Message("assistant", example[style])]
    return [*messages, _given(text, style)]


def _given(text: str, style: str) -> Message:
    fenced = _prompt("passage").format(number=1, text=defused(text))
    return Message("user", f"{fenced}\n\n{_prompt(f'write-{style}')}")


def cleaned(text: str, style: str, piece: Piece) -> tuple[str, str]:
    """The question in what a model wrote, and why there is none (empty when there is one)."""
    line = _first_line(text, style)
    checks: Mapping[str, Callable[[], bool]] = {
        "empty": lambda: not line,
        "about the text": lambda: bool(_ABOUT_TEXT.search(line)),
        "form": lambda: not _has_form(line, style),
        "repeats itself": lambda: _repeats(line),
        "not from the passage": lambda: _from_passage(line, piece) < FROM_PASSAGE,
    }
    fault = next((name for name, fails in checks.items() if fails()), "")
    return ("", fault) if fault else (_spoken(line, style), "")


def _first_line(text: str, style: str) -> str:
    """Without what models write around it: "Sure, here is a question:", numbers, quotes."""
    lines = [_LEAD.sub("", line.strip(_QUOTES)).strip(_QUOTES) for line in text.splitlines()]
    lines = [line for line in lines if line]
    if style == KEYWORDS:  # one a line is as good as one after the other
        return ", ".join(lines)
    line = lines[0] if lines else ""
    end = next((at for at, character in enumerate(line) if character in _ASKS[:3]), -1)
    return line[: end + 1] if style == QUESTION and end >= 0 else line


def _has_form(line: str, style: str) -> bool:
    if style == KEYWORDS:
        return 2 <= len(_keywords(line)) <= 10 and all(size(word) <= 4 for word in _keywords(line))
    if style == TITLE:
        return size(line) <= _LONGEST_TITLE
    if style == QUESTION:
        return line.endswith(_ASKS) and size(line) <= _LONGEST
    return bool(_WHOLE.search(line)) and size(line) <= _LONGEST and len(split(line)) == 1


def _keywords(line: str) -> list[str]:
    words = [word.strip(_QUOTES + ".") for word in re.split(r"[,;，、；|]|\s+-\s+", line)]
    return [word for word in dict.fromkeys(words) if word]


def _spoken(line: str, style: str) -> str:
    return " ".join(_keywords(line)[:6]) if style == KEYWORDS else line.rstrip(".") if style == TITLE else line


def _repeats(line: str) -> bool:
    words = units(line)
    return len(words) > 6 and len(set(words)) < 0.6 * len(words)


def _from_passage(line: str, piece: Piece) -> float:
    """The share of the line's content words that the passage has."""
    words = content_words(line, piece.language)
    return len(words & content_words(piece.input, piece.language)) / len(words) if words else 0.0
