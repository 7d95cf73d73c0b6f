"""The stage that trains token heads on a library's own questions, and how well each head finds on those held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from core.base.events import Control, Listener, ignore
from core.encode.encoder import PASSAGE, QUERY, Encoder
from core.encode.heads import Heads, read_heads
from core.search.searcher import Searcher
from core.train.backbone import Backbone
from core.train.finetune import FineTuneSettings, Frozen
from core.train.ground import Ground, searching
from core.train.kept import read_candidates, write_candidates
from core.train.loop import Callback, Settings
from core.train.m3 import M3Settings
from core.train.m3_heads import HeadSettings, M3Heads
from core.train.m3_recipe import NAME, HeadsStage
from core.train.m3_training import Trained, train_m3
from core.train.negatives import Mining, mine
from core.train.outcome import StageReport
from core.train.split import spread
from core.train.types import Candidates, Question

_MINED = "mined.json"
_ANCHOR = 1.0


@dataclass(frozen=True, slots=True)
class HeadsCandidate:
    """Heads as they are served and as they were trained, weights of the encoder below them, what training did."""

    heads: Heads
    trained: M3Heads
    weights: dict[str, Tensor]
    report: StageReport


def train_heads(
    backbone: Backbone, ground: Ground, searcher: Searcher, present: Encoder, stage: HeadsStage, folder: Path, *,
    minutes: float | None = None, control: Control | None = None, listener: Listener = ignore,
    callbacks: Sequence[Callback] = (), seed: int = 0, states: Path | None = None,
) -> HeadsCandidate:  # fmt: skip
    """Train heads on `backbone`, the present encoder of passages; it changes only with `all_weights`. `states` as in
    `train_m3`.

    Raises:
        ValueError: no question has negatives.
        KnownError: the lexical head fell silent; and, with Cancelled and DiskFull, see `core.train.loop.train`.
    """
    questions = spread(ground.split.train, stage.questions)
    candidates = _mined(ground, questions, searcher, folder / _MINED, control)
    batch = FineTuneSettings(temperature=0.02, anchor=_ANCHOR if stage.all_weights else 0.0)
    settings = M3Settings(
        batch=batch, heads=HeadSettings(stage.dimension, expansion=stage.expansion), distil=stage.distil,
        all_weights=stage.all_weights,
    )  # fmt: skip
    frozen = None
    if stage.all_weights:
        asked = present.encode([q.text for q in questions], kind=QUERY, control=control)
        frozen = Frozen(asked, present.encode([p.input for p in ground.pieces], kind=PASSAGE, control=control))
    steps = stage.epochs * -(-len(candidates) // batch.questions)
    training = Settings(steps, stage.rate, seed=seed, checkpoint_every=25, minutes=minutes)
    trained = train_m3(
        backbone, questions, candidates, ground.pieces, settings, training, folder, frozen=frozen, control=control,
        listener=listener, callbacks=callbacks, states=states,
    )  # fmt: skip
    served = trained.heads.served(read_heads(backbone.bundle))
    return HeadsCandidate(served, trained.heads, backbone.weights(), _report(trained))


def _mined(
    ground: Ground, questions: tuple[Question, ...], searcher: Searcher, path: Path, control: Control | None
) -> tuple[Candidates, ...]:
    """Negatives by the library's own search, mined once."""
    key = f"{len(questions)} of {len(ground.pieces)}"
    found = read_candidates(path, key)
    if found is None:
        found = mine(questions, ground.pieces, searching(searcher, control), Mining())
        path.parent.mkdir(parents=True, exist_ok=True)
        write_candidates(path, found, key)
    return found


def _report(trained: Trained) -> StageReport:
    record = trained.record
    return StageReport(NAME, record.step, record.seconds, dict(record.curve[-1].losses) if record.curve else {})
