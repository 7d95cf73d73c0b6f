"""Making a follow-up question stand alone, so that it can be searched: by rules, without a model.

A question that leans on the conversation (a pronoun, "and in 2023?", "why?") is given the content words of the
question before it and the names of the answer. A self-contained question is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.base.types import Turn
from core.search import words as known_words
from core.search.words import POINTERS_UNSPACED, Words

_WORD = re.compile(r"[^\W_]+(?:[-][^\W_]+)*")
_UNSPACED = re.compile("[\u0e01-\u0e5b\u3041-\u30ff\u3400-\u9fff]")
_POINTER_UNSPACED = re.compile(POINTERS_UNSPACED)
_FEW_CHARACTERS = 5  # a question of a script without spaces that is this short leaves its subject out
_MOST_WITH_PRONOUN, _MOST_WITH_POINTER, _MOST_WITH_LEAD = 4, 2, 3  # content words of a follow-up
_KEPT_WORDS, _KEPT_NAMES = 12, 4
_ANSWER_CHARACTERS = 400
_NAME = re.compile(
    r"(?<![.!?:] )(?<!^)\b[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+)*|\b[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+)+"
)


def standalone(question: str, history: Sequence[Turn]) -> str:
    """The question to search for: `question` itself, or with the words it leaves out."""
    question = question.strip()
    if not history or not needs_context(question):
        return question
    last = history[-1]
    have = {word.casefold() for word in _WORD.findall(question)}
    added = []
    for word in [*content_words(last.search_text or last.question)[:_KEPT_WORDS], *_names(last.answer)]:
        if word.casefold() not in have:
            have.add(word.casefold())
            added.append(word)
    return " ".join([question, *added])


def needs_context(question: str) -> bool:
    """Whether the question cannot be understood without what was said before it."""
    if _UNSPACED.search(question):
        short = len(re.sub(r"\W", "", question)) <= _FEW_CHARACTERS
        return short or _POINTER_UNSPACED.search(question) is not None
    words = [word.casefold() for word in _WORD.findall(question)]
    if not words:
        return False
    known = known_words.of(words)
    content = [w for w in content_words(question) if not w.isdecimal()]
    if not content:
        return True
    if known.pronouns.intersection(words):
        return len(content) <= _MOST_WITH_PRONOUN
    if known.pointers.intersection(words):
        return len(content) <= _MOST_WITH_POINTER
    if words[0] in known.leads or words[:2] in (["what", "about"], ["how", "about"]):
        return len(content) <= _MOST_WITH_LEAD
    return len(content) == 1 and len(words) > 1 and not _defines(known, words) and not _is_name(content[0], question)


def content_words(text: str) -> list[str]:
    """Words that carry meaning, in order, each once. Text without spaces counts as it stands."""
    if _UNSPACED.search(text):
        return [text.strip("?？。！! ")]
    found = _WORD.findall(text)
    empty = known_words.of([word.casefold() for word in found]).all
    return list({w.casefold(): w for w in reversed(found) if w.casefold() not in empty}.values())[::-1]


def _defines(known: Words, words: Sequence[str]) -> bool:
    """ "What is photosynthesis?" has its subject, though it is one word."""
    return words[0] in known.defining and (len(words) < 3 or bool(known.copulas.intersection(words)))


def _is_name(word: str, question: str) -> bool:
    inner = question.lstrip("\"'«¿¡( ").find(word) > 0
    return (word[:1].isupper() and inner) or word[1:].upper() == word[1:] != "" or any(c.isdigit() for c in word)


def _names(answer: str) -> list[str]:
    """Names in an answer: capitalised words within a sentence, or several in a row."""
    text = re.sub(r"\[\d+\]", "", answer[:_ANSWER_CHARACTERS])
    return list(dict.fromkeys(_NAME.findall(text)))[:_KEPT_NAMES]
