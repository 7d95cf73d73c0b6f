"""What adapting stands on, settled before anything is trained: passages, questions, and which of them are held out.

It is written down, so that a run that was killed goes on with the same questions although the library went on, too.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import KnownError
from core.base.events import Control, Listener, Progress, ignore
from core.base.files import read_json, write_json
from core.base.types import Query
from core.base.wire import from_plain, to_plain
from core.search.searcher import Searcher
from core.train import material
from core.train.gate import LEAST_QUESTIONS
from core.train.negatives import Ranked, Search
from core.train.questions import Writer, make
from core.train.split import Split, hold_out
from core.train.types import Piece, Question

QUESTIONS = "questions"
LEAST_PASSAGES = 200
FILE = "questions.json"


@dataclass(frozen=True, slots=True)
class Ground:
    """The passages of the library that have vectors, and its questions split by document group."""

    pieces: tuple[Piece, ...]
    split: Split


def settle(
    db: Database, searcher: Searcher, folder: Path, limit: int, *, writer: Writer | None = None,
    control: Control | None = None, listener: Listener = ignore,
) -> Ground:  # fmt: skip
    """The ground of the run in `folder`, made at its begin and read afterwards.

    Raises:
        KnownError: the library is too small to learn from.
        Cancelled, DiskFull
    """
    control = control or Control()
    indexed = set(searcher.snapshot().ids().tolist())
    pieces = tuple(piece for piece in material.read(db) if piece.id in indexed)
    require_enough(len(pieces))
    listener(Progress(QUESTIONS, 0, 0))
    kept = _read(folder / FILE)
    if kept is None:
        found = make(pieces, db, writer, searching(searcher, control), limit=limit, control=control)
        kept = _Kept(hold_out(found), tuple(piece.id for piece in pieces))
        write_json(folder / FILE, to_plain(kept))
    ground = _ground(folder, kept, pieces)
    if not ground.split.train or not ground.split.final:
        raise KnownError(
            "The documents give too few questions to learn from.",
            f"Add documents with titles, headings and running text; about {LEAST_QUESTIONS * 5} questions are needed.",
        )
    return ground


@dataclass(frozen=True, slots=True)
class _Kept:
    split: Split
    pieces: tuple[int, ...]


def _ground(folder: Path, kept: _Kept, pieces: Sequence[Piece]) -> Ground:
    """What the run began with, without passages that have come since. Where some have gone, its stages begin anew:
    they name questions by their place."""
    by_id = {piece.id: piece for piece in pieces}
    there = tuple(by_id[id] for id in kept.pieces if id in by_id)  # in their order then: stages know them by place
    if len(there) == len(kept.pieces):
        return Ground(there, kept.split)
    for stage in folder.iterdir():
        if stage.is_dir():
            shutil.rmtree(stage, ignore_errors=True)
    left = _Kept(_living(kept.split, there), tuple(piece.id for piece in there))
    write_json(folder / FILE, to_plain(left))
    return Ground(there, left.split)


def require_enough(passages: int) -> None:
    """Raises KnownError when a library of so many passages is too small to learn from."""
    if passages < LEAST_PASSAGES:
        raise KnownError(
            f"The library has {passages} passages; to learn from it takes {LEAST_PASSAGES}.",
            "Add more documents first.",
        )


def searching(searcher: Searcher, control: Control | None = None) -> Search:
    """The library's own search for whoever mines or checks questions."""

    def search(texts: Sequence[str], depth: int) -> list[Ranked]:
        found = []
        for text in texts:
            if control is not None:
                control.check()
            ranking = searcher.ranking(Query(text, literal=True), depth)
            found.append(list(zip(ranking.ids[:depth].tolist(), ranking.totals[:depth].tolist(), strict=True)))
        return found

    return search


def _read(path: Path) -> _Kept | None:
    try:
        return from_plain(_Kept, read_json(path))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _living(split: Split, pieces: Sequence[Piece]) -> Split:
    """Without questions whose passage has gone meanwhile."""
    there = {piece.id for piece in pieces}

    def kept(questions: Sequence[Question]) -> tuple[Question, ...]:
        return tuple(q for q in questions if q.positive in there)

    return Split(kept(split.train), kept(split.tune), kept(split.final))
