"""A follow-up question made to stand alone by a language model, where one is capable; else by rules.

Rules (core.search.standalone) add the words that a question leaves out; a model writes the question that was meant.
What it writes is used only when it is one question made of words of the conversation: whatever else it may write could
find passages that nobody asked for. Small models fail at this too often, and are not asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.answer.backend import Backend, Message
from core.answer.evidence import content_words
from core.answer.orders import is_order, remote
from core.answer.prompt import LONGEST_QUESTION, defused, text
from core.base.events import Control
from core.base.types import Turn
from core.search.standalone import needs_context
from core.text.language import detect

TOKENS = 60
TURNS = 3  # of the conversation that are shown
LONGEST = 240  # characters of the question written
_ANSWER = 400  # characters of each answer that are shown
KEPT = 0.5  # share of the question's own content words that must be in it


def stand_alone(question: str, history: Sequence[Turn], backend: Backend | None, control: Control) -> str:
    """The question as the model writes it; empty when it stands alone already, no capable model is there, or what it
    wrote is not to be trusted. Raises Cancelled.
    """
    if backend is None or backend.small or not history or not needs_context(question):
        return ""
    messages = _messages(question, history)
    if backend.count_prompt(messages) + TOKENS > backend.context_size:
        return ""
    written = "".join(backend.generate(messages, TOKENS, control, ("\n",))).strip().strip("\"'“”«»")
    return written if _holds(written, question, history) else ""


def _messages(question: str, history: Sequence[Turn]) -> list[Message]:
    said = [f"Question: {_short(turn.question)}\nAnswer: {_short(turn.answer)}" for turn in history[-TURNS:]]
    asked = defused(question[:LONGEST_QUESTION])
    user = "\n".join([*said, f"Last question: {asked}", "", "The last question alone:"])
    return [Message("system", text("stand-alone")), Message("user", user)]


def _short(said: str) -> str:
    return defused(" ".join(said.split())[:_ANSWER])


def _holds(written: str, question: str, history: Sequence[Turn]) -> bool:
    """Is it a question made of the conversation's words, that keeps those of the question itself?"""
    if not written or len(written) > LONGEST or is_order(written) or remote(written) or needs_context(written):
        return False
    language = detect(question, default="en")
    said = " ".join(part for turn in history for part in (turn.question, turn.search_text, turn.answer))
    own, known = content_words(question, language), content_words(f"{question} {said}", language)
    words = content_words(written, language)
    return bool(words) and words <= known and len(words & own) >= KEPT * len(own)
