"""The person's own signals as questions: they know best what their library is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlite_utils import Database

from core.store import judgements
from core.text.letters import plain
from core.train.types import JUDGED, LIKED, OPENED, PINNED, Piece, Question

WEIGHTS: Final = {JUDGED: 4.0, PINNED: 4.0, LIKED: 3.0, OPENED: 2.0}
_ORDER = (JUDGED, PINNED, LIKED, OPENED)


def read(db: Database, pieces: Sequence[Piece]) -> tuple[Question, ...]:
    """Each question and passage once, by the strongest signal; not those with a thumb down or judged no answer."""
    by_id = {piece.id: piece for piece in pieces}
    refused = refusals(db)
    found: dict[tuple[str, int], Question] = {}
    said = sorted(judgements.judgements(db, _ORDER), key=lambda one: (_ORDER.index(one.kind), one.id))
    for one in said:
        key = (key_of(one.question), one.passage_id)
        piece = by_id.get(one.passage_id)
        if piece is not None and one.gain >= judgements.ANSWERS and key not in refused:
            question = Question(one.question, piece.id, one.kind, piece.group, piece.language, WEIGHTS[one.kind])
            found.setdefault(key, question)
    return tuple(found.values())


def refusals(db: Database) -> frozenset[tuple[str, int]]:
    """Questions (as `key_of`) with passages that the person said do not answer them."""
    said = judgements.judgements(db, (judgements.DISLIKED, judgements.JUDGED))
    return frozenset(
        (key_of(one.question), one.passage_id) for one in said
        if one.kind == judgements.DISLIKED or one.gain == judgements.NOT
    )  # fmt: skip


def key_of(question: str) -> str:
    return " ".join(plain(question, "").split())
