"""ANCE with the mining in a process beside the trainer: it goes on, and takes new negatives when they are there."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from core.base.events import Control
from core.train import handover
from core.train.ance import Ance, AnceSettings, Look
from core.train.finetune import FineTune
from core.train.inferencer import write_task

_STARTS = 3  # an inferencer that dies as often is left alone; the negatives in use go on serving
_END_SECONDS = 10.0
_TOLD = "inferencer.log"


def command(folder: Path) -> list[str]:
    """Program and arguments that start the inferencer of a folder of negatives."""
    return [sys.executable, "-m", "core.train.inferencer", str(folder)]


class AnceBeside(Ance):
    """As `Ance`, asynchronous: use it in a `with` block around `train`; the inferencer ends with the block.

    After each step it looks whether the inferencer has handed over newer negatives, and every `look` steps how far
    those in use have drifted. How soon new ones come depends on the machine and on how often the run writes
    checkpoints, so two runs are not alike to the bit; a resumed run goes on with the negatives that it had.
    """

    def __init__(
        self, task: FineTune, folder: Path, settings: AnceSettings | None = None, *, steps: int | None = None,
        control: Control | None = None, start: Callable[[Path], list[str]] = command,
    ) -> None:  # fmt: skip
        super().__init__(task, folder, settings, steps=steps, control=control)
        self._run, self._start = folder, start
        self.child: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self._told: IO[bytes] | None = None

    def __enter__(self) -> AnceBeside:
        write_task(self.folder, self._run, self.task, self.settings.mining, self.contract)
        self._told = (self.folder / _TOLD).open("wb")
        self._begin()
        return self

    def __exit__(self, *exc: object) -> None:
        if self.child is not None:
            _end(self.child)
        if self._told is not None:
            self._told.close()

    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        self._open_log(step)
        self._keep_running()
        staleness, number, began = step - self.step, self.number, time.monotonic()
        there = handover.newest(self.folder, self.contract, above=number, until=step)
        if there is None and staleness % self.settings.look:
            return
        drift = self._drift()
        if there is not None:
            self._take(there)
        self._tell(Look(step, number, staleness, drift, there is not None, round(time.monotonic() - began, 3)))

    def _begin(self) -> None:
        self.starts += 1
        self.child = subprocess.Popen(
            self._start(self.folder), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self._told
        )

    def _keep_running(self) -> None:
        """One that was killed is started again; one that says that it cannot is believed after some tries."""
        if self.child is not None and self.child.poll() is not None and self.starts < _STARTS:
            _end(self.child)
            self._begin()


def _end(child: subprocess.Popen[bytes]) -> None:
    """Close its input, which tells it to end; one that does not is killed: what it was writing is not seen."""
    if child.stdin is not None:
        child.stdin.close()
    try:
        child.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
