"""A reranker as a judge of candidates: what it finds when it orders a retriever's list, and its scores as lessons.

Whoever trains or serves a reranker is behind two protocols, so that nothing here depends on its kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from core.base.events import Control, Listener, Progress, ignore
from core.evaluate import metrics
from core.train.dense_search import Vectors, nearest
from core.train.kept import made_once
from core.train.outcome import StageReport
from core.train.pool import Pool
from core.train.reduced import reduced
from core.train.types import Candidates, Piece, Question

Values = npt.NDArray[np.float64]

RERANKER: Final = "reranker"
TEACHING: Final = "teaching"
_AT_ONCE = 16  # questions between two looks at whether to go on


class Scorer(Protocol):
    """What gives a question and a passage a score: the higher, the surer that one answers the other."""

    def __call__(self, pairs: Sequence[tuple[str, str]], control: Control | None = None) -> npt.NDArray[np.float32]:
        """Scores [N] of (question, passage) pairs. Raises Cancelled."""
        ...


@dataclass(frozen=True, slots=True)
class Reranker:
    """A trained one; `key` tells its weights from any others. `weights` are for whoever keeps it as a bundle."""

    score: Scorer
    key: str
    report: StageReport
    weights: Mapping[str, Tensor] = field(default_factory=dict)


class Training(Protocol):
    """What trains a reranker on candidates; `folder` is its own, in which it resumes."""

    def __call__(self, candidates: Sequence[Candidates], folder: Path) -> Reranker: ...


def reranked_ndcg(
    pool: Pool, passages: Vectors, queries: Vectors, score: Scorer, depth: int, control: Control | None = None
) -> Values:
    """nDCG@10 [Q] of each question's nearest `depth` passages in the order of the reranker.

    `passages` [P, D] and `queries` [Q, D] are the retriever's unit vectors of the pool, in its order. Equal scores stay
    in the retriever's order.

    Raises:
        Cancelled
    """
    places, _ = nearest(queries, passages, depth)
    texts, names = pool.passages, [document.id for document in pool.dataset.corpus]
    values = []
    for number, (question, row) in enumerate(zip(pool.questions, places.tolist(), strict=True)):
        scores = score([(question.text, texts[place]) for place in row], control)
        order = np.argsort(-scores, kind="stable")[:10]
        values.append(metrics.ndcg([names[row[at]] for at in order], pool.dataset.qrels[str(number)]))
    return np.array(values)


def taught(
    questions: Sequence[Question], candidates: Sequence[Candidates], pieces: Sequence[Piece], reranker: Reranker,
    path: Path, *, key: str = "", control: Control | None = None, listener: Listener = ignore,
) -> tuple[Candidates, ...]:  # fmt: skip
    """The candidates with the reranker's scores as those of their teacher, kept in the file `path`.

    A positive is shown without the words of a question that was taken out of it: with them any reader would know.
    `key` tells what the candidates were mined from.

    Raises:
        Cancelled, DiskFull
    """
    by_id = {piece.id: piece for piece in pieces}

    def make() -> tuple[Candidates, ...]:
        found: list[Candidates] = []
        for start in range(0, len(candidates), _AT_ONCE):
            listener(Progress(TEACHING, start, len(candidates)))
            found += _scored(questions, candidates[start : start + _AT_ONCE], by_id, reranker.score, control)
        return tuple(found)

    return made_once(path, f"{reranker.key} {key}", make)


def _scored(
    questions: Sequence[Question], some: Sequence[Candidates], by_id: dict[int, Piece], score: Scorer,
    control: Control | None,
) -> list[Candidates]:  # fmt: skip
    """All pairs of several questions at once: the reranker puts those of like length together."""
    pairs = []
    for one in some:
        question = questions[one.question]
        shown = reduced(by_id[one.positive], [question])
        passages = [shown.input or by_id[one.positive].input, *(by_id[id].input for id in one.negatives)]
        pairs += [(question.text, passage) for passage in passages]
    scores = iter(score(pairs, control).tolist())
    return [replace(one, teacher=tuple(islice(scores, 1 + len(one.negatives)))) for one in some]
