"""Questions for the person to judge by hand, with the passages that any channel of the search finds for them.

Candidates are pooled from the channels, as test collections are made (Spärck Jones & van Rijsbergen 1975): were they
those of one ranking alone, the verdicts would favour it. Their order tells nothing of who found them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.types import BM25, DENSE, Passage, Query, SearchResult
from core.store import database, history, judgements
from core.train import material, questions
from core.train.signals import key_of
from core.train.types import CROP, SENTENCE, Piece

WANTED = 50  # questions, enough for an interval that tells something
POOLED = 5  # passages a question
_CONVERSATIONS = 200
_MOST_PIECES = 2_000  # that questions are made of
_MADE = 400  # questions, more than a person ever judges
_SEED = 11
_POOLS = ((), (BM25,), (DENSE,))

Candidate = tuple[str, int | None]  # a question, and a passage that should be among those shown


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage that may answer; `document` is what its document is called."""

    id: int
    document: str
    text: str


@dataclass(frozen=True, slots=True)
class ToJudge:
    """A question with its candidates; empty when there is none left. `done` of `wanted` questions are judged."""

    question: str
    passages: tuple[Shown, ...]
    done: int
    wanted: int = WANTED


class Judging:
    """First what the person asked, then what the documents ask; what is judged already does not come again."""

    def __init__(self, library: Path, search: Callable[[Query], SearchResult]) -> None:
        self._library, self._search = library, search
        self._made: list[Candidate] | None = None

    def next(self, asked: Collection[str]) -> ToJudge:
        """The next question, none of those `asked` in this session.

        Raises:
            NotALibrary, IndexDamaged
        """
        db = database.open_reader(self._library)
        try:
            judged = {key_of(one.question) for one in judgements.judgements(db, (judgements.JUDGED,))}
            if self._made is None:
                self._made = list(_made(db))
            wanted = [*_asked(db), *self._made]
        finally:
            db.conn.close()
        over = judged | {key_of(question) for question in asked} | {""}
        for text, own in wanted:
            passages = _pool(self._search, text, own) if key_of(text) not in over else ()
            if passages:
                shown = tuple(Shown(one.id, one.context_title, one.text) for one in passages)
                return ToJudge(text, shown, len(judged))
            over.add(key_of(text))
        return ToJudge("", (), len(judged))


def _asked(db: Database) -> Iterator[Candidate]:
    """What the person asked, newest first, and what they pinned, liked or opened."""
    for conversation in history.conversations(db, _CONVERSATIONS):
        for turn in history.turns(db, conversation.id):
            yield turn.search_text or turn.question, None
    kinds = (judgements.PINNED, judgements.LIKED, judgements.OPENED)
    for one in sorted(judgements.judgements(db, kinds), key=lambda one: kinds.index(one.kind)):
        yield one.question, one.passage_id


def _made(db: Database) -> Iterator[Candidate]:
    """Questions of the documents, of all kinds in turn; sentences and crops are nothing that a person would ask."""
    by_kind: dict[str, list[Candidate]] = {}
    for question in questions.make(_some(material.read(db)), limit=_MADE, per_passage=1, seed=_SEED):
        if question.kind not in (SENTENCE, CROP):
            by_kind.setdefault(question.kind, []).append((question.text, question.positive))
    for row in zip_longest(*by_kind.values()):
        yield from (one for one in row if one is not None)


def _some(pieces: tuple[Piece, ...]) -> list[Piece]:
    """Passages of documents drawn at random, whole documents at a time."""
    order = np.random.default_rng(_SEED).permutation(sorted({piece.document for piece in pieces})).tolist()
    place = {document: at for at, document in enumerate(order)}
    return sorted(pieces, key=lambda piece: place[piece.document])[:_MOST_PIECES]


def _pool(search: Callable[[Query], SearchResult], text: str, own: int | None) -> tuple[Passage, ...]:
    """The best of each channel in turn, and the passage that the question is about where any channel finds it."""
    rankings = [
        [hit.passage for hit in search(Query(text, k=POOLED, channels=channels, literal=True)).hits]
        for channels in _POOLS
    ]
    ranked = {passage.id: passage for row in zip_longest(*rankings) for passage in row if passage is not None}
    chosen = list(ranked)[:POOLED]
    if own in ranked and own is not None and own not in chosen:
        chosen[-1] = own
    order = np.random.default_rng(zlib.crc32(text.encode("utf-8", "surrogatepass"))).permutation(len(chosen)).tolist()
    return tuple(ranked[chosen[place]] for place in order)
