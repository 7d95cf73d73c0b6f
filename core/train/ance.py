"""ANCE: training goes on against what the encoder of the moment takes for answers.

Negatives grow stale as the weights move: those that the encoder has learnt to tell apart teach it nothing more. Their
staleness (steps since their checkpoint) and drift (the share that the present weights no longer rank among the first)
are looked at as training goes, and they are renewed when they are behind. Source: Xiong et al. 2021.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from core.base.errors import KnownError
from core.base.events import Control
from core.base.files import read_json, write_json
from core.train import blocks, checkpoint, handover
from core.train.blocks import Keep
from core.train.bundle import weights_hash
from core.train.finetune import FineTune
from core.train.handover import Contract, Negatives
from core.train.loop import Callback, trained
from core.train.negatives import DEPTH, Mining
from core.train.refresh import Refresher
from core.train.types import Candidates

FOLDER: Final = "negatives"  # in that of the run
LOG: Final = "looks.json"


@dataclass(frozen=True, slots=True)
class AnceSettings:
    """Every `look` steps the drift is measured on `probes` questions, among at most `sample` passages. Negatives are
    renewed above `drift`, and after `every` steps at the latest."""

    every: int = 200
    look: int = 50
    drift: float = 0.3
    probes: int = 64
    sample: int = 1000
    mining: Mining = field(default_factory=lambda: Mining(count=20, depth=DEPTH, spread=True))


@dataclass(frozen=True, slots=True)
class Look:
    """How the negatives in use stood at `step`: `number` of their file (0: those that the run began with), staleness
    in steps, drift (0..1), whether they were exchanged then, and the seconds that it all took."""

    step: int
    number: int
    staleness: int
    drift: float
    renewed: bool
    seconds: float


class Ance(Callback):
    """Renews the negatives of `task` between two steps of the run in `folder`, in the training process itself.

    What it does depends on weights and steps alone, so a run that was killed makes the same exchanges again. Nothing is
    renewed any more at the last of `steps`. Make it before `train` is called: it tells the task how to recall.
    """

    def __init__(
        self, task: FineTune, folder: Path, settings: AnceSettings | None = None, *, steps: int | None = None,
        control: Control | None = None,
    ) -> None:  # fmt: skip
        self.task, self.settings = task, settings or AnceSettings()
        self.folder, self._steps, self._control = folder / FOLDER, steps, control
        self.contract = Contract.of(task.questions, task.pieces, task.backbone.bundle, self.settings.mining)
        self.number, self.step = 0, 0  # of the negatives in use
        self.looks: list[Look] = []
        self._probes = self._drawn(task.candidates)
        self._refresher = Refresher(
            task.backbone, task.questions, task.pieces, task.piece_ids, task.settings.query_tokens, self.settings.mining
        )
        self._read_log = False
        task.recall = self._recall

    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        self._open_log(step)
        staleness, began = step - self.step, time.monotonic()
        due = staleness >= self.settings.every
        if not due and staleness % self.settings.look:
            return
        number, drift = self.number, self._drift()
        renew = (due or drift > self.settings.drift) and (self._steps is None or step < self._steps)
        if renew:
            self._take(self._renewed(step))
        self._tell(Look(step, number, staleness, drift, renew, round(time.monotonic() - began, 3)))

    def on_checkpoint(self, path: Path, step: int) -> None:
        """Keep the files that a checkpoint names, and what may still come."""
        handover.prune(self.folder, _named_by(path.parent))

    def _renewed(self, step: int) -> Negatives:
        """Mined now, or taken from the file where a run that was killed had come this far before."""
        weights = weights_hash(trained(self.task.modules))
        there = handover.read(self.folder, self.number + 1, self.contract)
        if there is not None and (there.step, there.weights) == (step, weights):
            return there
        handover.sweep(self.folder)
        keep = Keep(self.folder / blocks.FOLDER, weights)
        found, fresh = self._refresher.renew(self.task.candidates, self.number + 1, self._control, keep)
        made = handover.write(self.folder, Negatives(self.number + 1, step, weights, found, fresh), self.contract)
        shutil.rmtree(keep.folder, ignore_errors=True)
        return made

    def _drift(self) -> float:
        return self._refresher.drift(self._probes, self.settings.sample, control=self._control)

    def _take(self, made: Negatives) -> None:
        self.task.use(made.candidates, made.name)
        self._in_use(made)

    def _in_use(self, made: Negatives) -> None:
        self.number, self.step = made.number, made.step
        fresh = [one for one, new in zip(made.candidates, made.fresh, strict=True) if new]
        self._probes = self._drawn(fresh or made.candidates)

    def _drawn(self, candidates: tuple[Candidates, ...] | list[Candidates]) -> list[Candidates]:
        """The questions that drift is measured on: always the same ones of the same negatives."""
        count = min(self.settings.probes, len(candidates))
        places = np.random.default_rng(self.settings.mining.seed).choice(len(candidates), count, replace=False)
        return [candidates[place] for place in sorted(places.tolist())]

    def _recall(self, name: str) -> tuple[Candidates, ...]:
        """
        Raises:
            KnownError: they are not there as they were.
        """
        found = handover.named(self.folder, name, self.contract)
        if found is None:
            raise KnownError(
                "The negatives that this training used are lost, or were mined with other settings.", "Begin it anew."
            )
        self._in_use(found)
        return found.candidates

    def _open_log(self, step: int) -> None:
        """What was looked at in steps that a killed run made in vain is not told."""
        if not self._read_log:
            self._read_log = True
            with contextlib.suppress(OSError, ValueError, TypeError):  # there is none, or a person changed it
                told = [Look(**one) for one in read_json(self.folder / LOG)]
                self.looks = [one for one in told if one.step < step]

    def _tell(self, look: Look) -> None:
        self.looks.append(look)
        write_json(self.folder / LOG, [asdict(one) for one in self.looks])


def _named_by(run: Path) -> set[int]:
    """Numbers of the negatives that the checkpoints of a run name."""
    found = set()
    for path in run.glob(f"step-*/{checkpoint.PLAIN}"):
        with contextlib.suppress(OSError, ValueError, KeyError):  # no whole checkpoint names anything
            told: dict[str, Any] = read_json(path)["task"]
            found.add(int(str(told["negatives"]).partition(":")[0] or 0))
    return found
