"""Questions without labels: made of all kinds that a library gives, filtered, and mixed so that no kind outweighs.

Mixed types of questions train better than any one of them, and how like they are to real ones counts most (Tamber et
al. 2025); sentences and crops only reward common words, so they are few unless there is nothing else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from sqlite_utils import Database

from core.base.events import Control
from core.train import filters, signals
from core.train.negatives import Search
from core.train.pairs import caption, crop, definition, faq, heading, keywords, link, sentence, title
from core.train.pairs.source import Source
from core.train.types import (
    CAPTION,
    CROP,
    DEFINITION,
    FAQ,
    HEADING,
    KEYWORDS,
    LINK,
    SENTENCE,
    TITLE,
    WRITTEN,
    Piece,
    Question,
)

LIMIT = 20_000
A_PASSAGE = 4  # questions of one passage at most
FIRST = 20  # ranks among which a question's own passage must be
FILLING: Final = frozenset({SENTENCE, CROP})
FILLING_WEIGHT = 0.5
LEAST = 200  # questions, below which sentences and crops fill up
_TRIED = 1.5  # times the limit that is looked for in the round trip
_AT_ONCE = 64  # questions a search

Writer = Callable[[Sequence[Piece]], Sequence[Question]]
Pairs = Callable[[Source], Iterator[Question]]

# from the strongest kind to the weakest, with its part of the mix
_SHARES: Final = {
    FAQ: 3.0, WRITTEN: 3.0, DEFINITION: 2.0, HEADING: 2.0, TITLE: 2.0, CAPTION: 1.5, LINK: 1.0, KEYWORDS: 2.0,
    SENTENCE: 0.5, CROP: 0.5,
}  # fmt: skip
_PAIRS: Final[Mapping[str, Pairs]] = {
    FAQ: faq.pairs, DEFINITION: definition.pairs, HEADING: heading.pairs, TITLE: title.pairs, CAPTION: caption.pairs,
    LINK: link.pairs, KEYWORDS: keywords.pairs, SENTENCE: sentence.pairs, CROP: crop.pairs,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Made:
    """`questions` with the person's own first; `dropped` counts by reason what the filters took out."""

    questions: tuple[Question, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)

    @property
    def kinds(self) -> dict[str, int]:
        return dict(Counter(question.kind for question in self.questions))


def make(
    pieces: Sequence[Piece], db: Database | None = None, writer: Writer | None = None, search: Search | None = None,
    seed: int = 0, limit: int = LIMIT, *, per_passage: int = A_PASSAGE, control: Control | None = None,
) -> tuple[Question, ...]:  # fmt: skip
    """The questions of `made`."""
    found = made(pieces, db, writer, search, seed, limit, per_passage=per_passage, control=control)
    return found.questions


def made(
    pieces: Sequence[Piece], db: Database | None = None, writer: Writer | None = None, search: Search | None = None,
    seed: int = 0, limit: int = LIMIT, *, per_passage: int = A_PASSAGE, control: Control | None = None,
) -> Made:  # fmt: skip
    """At most `limit` questions made of the documents, at most `per_passage` of one passage, and the person's own.

    `db` gives captions, links and the person's signals. `writer` writes questions for passages, best begun at the
    first. With `search` a question stays only if its own passage is among the first 20. The same arguments give the
    same questions.

    Raises:
        Cancelled
    """
    control = control or Control()
    own = signals.read(db, pieces) if db is not None else ()
    refused = signals.refusals(db) if db is not None else frozenset()
    by_id = {piece.id: piece for piece in pieces}
    dropped: Counter[str] = Counter()
    sound = _sound(_raw(Source(pieces, db, seed=seed, most=limit), writer, control), by_id, dropped, control)
    asked = {(signals.key_of(q.text), q.positive) for q in own}
    sound = [q for q in sound if (signals.key_of(q.text), q.positive) not in asked | refused]
    chosen = _mixed(sound, int(limit * (_TRIED if search else 1)), per_passage, seed)
    if search is not None:
        chosen = _mixed(_found(chosen, search, by_id, dropped, control), limit, per_passage, seed)
    return Made((*own, *map(_weighed, chosen)), dict(dropped))


def _raw(source: Source, writer: Writer | None, control: Control) -> list[Question]:
    found: list[Question] = []
    for kind in _SHARES:
        control.check()
        if kind == WRITTEN:
            found += writer(source.drawn) if writer is not None else ()
        else:
            found += _PAIRS[kind](source)
    return found


def _sound(
    questions: Sequence[Question], by_id: Mapping[int, Piece], dropped: Counter[str], control: Control
) -> list[Question]:
    """Those that no filter takes out, in the order of the kinds."""
    kept = []
    for question in questions:
        control.check()
        fault = filters.alone(question, by_id[question.positive])
        kept += [] if fault else [question]
        dropped.update([fault] if fault else [])
    standing = filters.boilerplate(kept)
    dropped.update([filters.BOILERPLATE] * len(standing))
    kept = [question for at, question in enumerate(kept) if at not in standing]
    twice = filters.repeated(kept)
    dropped.update(twice.values())
    return [question for at, question in enumerate(kept) if at not in twice]


def _found(
    questions: Sequence[Question], search: Search, by_id: Mapping[int, Piece], dropped: Counter[str], control: Control
) -> list[Question]:
    texts = {id: piece.text for id, piece in by_id.items()}
    kept: list[Question] = []
    for start in range(0, len(questions), _AT_ONCE):
        control.check()
        part = questions[start : start + _AT_ONCE]
        lost = filters.lost(part, search([q.text for q in part], FIRST), texts, FIRST)
        dropped.update([filters.ROUND_TRIP] * len(lost))
        kept += [question for at, question in enumerate(part) if at not in lost]
    return kept


def _mixed(questions: Sequence[Question], limit: int, per_passage: int, seed: int) -> list[Question]:
    """At most `limit`, drawn so that each kind has its share as far as it goes; what one leaves goes to the others."""
    by_kind: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_kind[question.kind].append(question)
    chance = np.random.default_rng(seed)
    waiting = {kind: [own[n] for n in chance.permutation(len(own)).tolist()] for kind, own in sorted(by_kind.items())}
    taken: dict[str, list[Question]] = defaultdict(list)
    held: Counter[int] = Counter()
    while sum(map(len, taken.values())) < limit and (kind := _next(waiting, taken)):
        question = waiting[kind].pop()
        if held[question.positive] < per_passage:
            held[question.positive] += 1
            taken[kind].append(question)
    return [question for kind in _SHARES for question in taken[kind]]


def _next(waiting: Mapping[str, Sequence[Question]], taken: Mapping[str, Sequence[Question]]) -> str:
    """The kind that is furthest behind its share; empty when there is none left."""
    counts = {kind: len(taken.get(kind, ())) for kind in _SHARES}
    ready = [kind for kind in _SHARES if waiting.get(kind)]
    if not any(kind not in FILLING for kind in ready) and sum(counts.values()) >= LEAST:
        ready = []  # nothing but sentences and crops would follow
    return min(ready, key=lambda kind: counts[kind] / _SHARES[kind], default="")


def _weighed(question: Question) -> Question:
    return replace(question, weight=FILLING_WEIGHT) if question.kind in FILLING else question
