"""What a question must be to be trained or judged with: each filter gives its name when it lets a question fall."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from core.text.language import detect
from core.text.letters import plain
from core.text.quality import GOOD, quality, script
from core.train.pairs.words import letters, size, units
from core.train.reduced import reduced
from core.train.types import CAPTION, CROP, FAQ, HEADING, KEYWORDS, LINK, SENTENCE, TITLE, Piece, Question

COPIED = 0.9  # share of the question's words that may stand in the passage in one run
LEAST_WORDS, MOST_WORDS, MOST_CHARACTERS = 2, 60, 400
LEAST_LETTERS = 40  # of the passage that is left when the question's words are out
OVER_MANY = 3  # groups of documents that a heading stands over, from which on it names a place and no subject
ALIKE = 0.8  # Jaccard of two questions' words
_SAMPLE = 300  # characters that scripts are told by
_SURE = 60  # letters from which on the language of a text is told surely
_STANDING = frozenset({TITLE, HEADING, CAPTION, FAQ, LINK})
_OWN_WORDS = frozenset({KEYWORDS, SENTENCE, CROP})  # of the passage itself, in whatever language
_CLOSE = ({"no", "nb", "nn", "da"}, {"id", "ms"}, {"hr", "sr", "bs"}, {"ur", "fa"}, {"gl", "pt", "es"})

LENGTH, COPY, LANGUAGE, NOTHING_LEFT, GARBLED = "length", "copy", "language", "nothing left", "garbled"
DUPLICATE, AMBIGUOUS, BOILERPLATE, ROUND_TRIP = "duplicate", "ambiguous", "boilerplate", "round trip"


def alone(question: Question, piece: Piece) -> str:
    """The first fault that a question has by itself; empty when it has none."""
    shown = reduced(piece, [question])
    checks: tuple[tuple[str, Callable[[], bool]], ...] = (
        (LENGTH, lambda: not fits(question)),
        (GARBLED, lambda: quality(question.text) < GOOD),
        (LANGUAGE, lambda: question.kind not in _OWN_WORDS and not same_language(question.text, piece)),
        (NOTHING_LEFT, lambda: letters(shown.text) < LEAST_LETTERS),
        (COPY, lambda: copied(question, shown)),
    )
    return next((name for name, fails in checks if fails()), "")


def fits(question: Question) -> bool:
    """Neither a single word nor a paragraph, and made of words rather than of numbers."""
    text = question.text
    shown = sum(not character.isspace() for character in text)
    return LEAST_WORDS <= size(text) <= MOST_WORDS and len(text) <= MOST_CHARACTERS and letters(text) >= shown / 2


def copied(question: Question, shown: Piece) -> bool:
    """Whether nearly all of the question stands in one run in what is shown of its passage."""
    asked = units(question.text, question.language)
    run = max(1, math.ceil(COPIED * len(asked)))
    there = f" {' '.join(units(shown.input, shown.language))} "
    return any(f" {' '.join(asked[at : at + run])} " in there for at in range(len(asked) - run + 1))


def same_language(text: str, piece: Piece) -> bool:
    """Whether question and passage may be of one language: by their script, and by their words where it can be told."""
    if _scripts(text).isdisjoint(_scripts(piece.text)):
        return False
    own, found = _primary(piece.language), detect(text) if letters(text) >= _SURE else ""
    return not own or not found or own == found or any({own, found} <= close for close in _CLOSE)


def _primary(code: str) -> str:
    return code.partition("-")[0].casefold()


def _scripts(text: str) -> frozenset[str]:
    """Those that at least a fifth of the letters are of."""
    found = [script(character) for character in text[:_SAMPLE] if character.isalpha()]
    return frozenset(name for name in set(found) if found.count(name) * 5 >= len(found))


def boilerplate(questions: Sequence[Question]) -> set[int]:
    """Places of questions whose words, numbers aside, stand over several groups of documents ("Chapter 3")."""
    over: dict[str, set[int]] = defaultdict(set)
    standing = [(at, _unnumbered(q.text)) for at, q in enumerate(questions) if q.kind in _STANDING]
    for at, text in standing:
        over[text].add(questions[at].group)
    return {at for at, text in standing if len(over[text]) >= OVER_MANY}


@cache
def _number() -> re.Pattern[str]:
    return re.compile(r"\d+|\b[ivxlc]+\b")


def _unnumbered(text: str) -> str:
    return " ".join(_number().sub("0", plain(text, "")).split())


def repeated(questions: Sequence[Question]) -> dict[int, str]:
    """Places of questions to leave out: asked before of the same group (of the same passage in nearly these words), or
    asked of several groups, so that no one knows which answers."""
    keys = [" ".join(units(q.text, q.language)) for q in questions]
    groups: dict[str, set[int]] = defaultdict(set)
    for key, question in zip(keys, questions, strict=True):
        groups[key].add(question.group)
    out: dict[int, str] = {}
    seen: set[str] = set()
    of_passage: dict[int, list[frozenset[str]]] = defaultdict(list)
    for at, (key, question) in enumerate(zip(keys, questions, strict=True)):
        words = frozenset(key.split())
        if len(groups[key]) > 1:
            out[at] = AMBIGUOUS
        elif key in seen or any(_alike(words, other) for other in of_passage[question.positive]):
            out[at] = DUPLICATE
        else:
            seen.add(key)
            of_passage[question.positive].append(words)
    return out


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    return len(left & right) >= ALIKE * len(left | right)


def lost(
    questions: Sequence[Question], ranked: Sequence[Sequence[tuple[int, float]]], texts: Mapping[int, str], depth: int
) -> set[int]:
    """Places of questions whose passage, or one that says the same, is not among the first `depth` found (round trip:
    Alberti et al. 2019; for dense retrieval, Dai et al. 2023)."""
    out = set()
    for at, (question, found) in enumerate(zip(questions, ranked, strict=True)):
        wanted = texts[question.positive]
        if not any(id == question.positive or texts.get(id) == wanted for id, _ in found[:depth]):
            out.add(at)
    return out
