"""coCondenser's two rounds of fine-tuning: against what words find, then against what the first round's encoder finds.

The second round begins again at the weights that the first one began with: what the first learnt against easy
negatives would only be in the way. Source: Gao & Callan 2022, section 4; the training code of tevatron.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.base.events import Control, Listener, ignore
from core.train import nb_recall
from core.train.backbone import Backbone
from core.train.blocks import FOLDER, Keep
from core.train.bundle import weights_hash
from core.train.dense_search import DenseSearch
from core.train.finetune import FineTune, FineTuneSettings, Frozen, Teacher
from core.train.kept import made_once
from core.train.loop import Callback, Settings, train
from core.train.negatives import Mining, Ranked, Search, mine, united
from core.train.record import Record
from core.train.types import Candidates, Piece, Question

FIRST, SECOND = "first", "second"
ASKED = 200  # questions of whose rankings nb-recall is told
_MINED = "mined.json"

Callbacks = Callable[[FineTune, str], Sequence[Callback]]


@dataclass(frozen=True, slots=True)
class TwoStage:
    """The records of both rounds; `began` and `began_again` are the hashes of the weights that they began with;
    `nb` the second encoder's best passages that the first one had at hand."""

    first: Record
    second: Record
    began: str
    began_again: str
    nb: dict[str, float]


def two_stage(
    backbone: Backbone, questions: Sequence[Question], pieces: Sequence[Piece], words: Search, folder: Path, *,
    settings: FineTuneSettings, training: Settings, mining: Mining | None = None, frozen: Frozen | None = None,
    teacher: Teacher | None = None, control: Control | None = None, listener: Listener = ignore,
    callbacks: Callbacks = lambda task, stage: (),
) -> TwoStage:  # fmt: skip
    """Fine-tune `backbone` in place; `words` finds the negatives of the first round (BM25, or the fused search).

    Resumes by itself from what lies in `folder`.

    Raises:
        ValueError: no question has negatives.
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    mining = mining or Mining()
    start = backbone.weights()
    began = weights_hash(start)

    def task(candidates: Sequence[Candidates]) -> FineTune:
        return FineTune(
            backbone,
            questions,
            candidates,
            pieces,
            settings,
            frozen=frozen,
            precision=training.precision,
            teacher=teacher,
        )

    by_words = made_once(folder / FIRST / _MINED, began, lambda: mine(questions, pieces, words, mining))
    first = _train(task(by_words), training, folder / FIRST, FIRST, control, listener, callbacks)
    one = DenseSearch(backbone.vectors, pieces, control, _keep(backbone, folder / FIRST, listener))
    by_meaning = made_once(folder / SECOND / _MINED, began, lambda: mine(questions, pieces, one, mining))
    before = _rankings(one, questions, mining.depth)
    backbone.load_weights(start)
    began_again = weights_hash(backbone.weights())
    hard = united(by_meaning, by_words)
    second = _train(task(hard), training, folder / SECOND, SECOND, control, listener, callbacks)
    two = DenseSearch(backbone.vectors, pieces, control, _keep(backbone, folder / SECOND, listener))
    after = _rankings(two, questions, max(nb_recall.NS))
    return TwoStage(first, second, began, began_again, nb_recall.report(before, after, mining.depth))


def _keep(backbone: Backbone, folder: Path, listener: Listener) -> Keep:
    """Both encodings are told of as the second round's: the first one is what that begins with."""
    return Keep(folder / FOLDER, weights_hash(backbone.weights()), SECOND, listener)


def _train(
    task: FineTune, training: Settings, folder: Path, stage: str, control: Control | None, listener: Listener,
    callbacks: Callbacks,
) -> Record:  # fmt: skip
    return train(
        task, training, folder, control, listener, callbacks(task, stage), data_hash=task.data_hash(), stage=stage
    )


def _rankings(search: Search, questions: Sequence[Question], depth: int) -> dict[int, list[int]]:
    ranked: list[Ranked] = search([q.text for q in questions[:ASKED]], depth)
    return {number: [id for id, _ in one] for number, one in enumerate(ranked)}
