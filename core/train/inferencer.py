"""`python -m core.train.inferencer FOLDER`: the side of ANCE that mines, in a process of its own.

It waits for a newer checkpoint of the run, encodes the passages with it, searches, mines and hands the negatives over;
and so on until its standard input closes (the trainer is gone, however that ended) or the run says that it has ended.
FOLDER holds the task as `write_task` left it, and receives the negatives.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from core.base.errors import Cancelled, KnownError, LibraryLocked
from core.base.events import Control
from core.base.files import FileLock, read_json, write_bytes
from core.base.wire import from_plain, to_plain
from core.ingest.guards import lower_priority
from core.models.bundles import load
from core.train import blocks, checkpoint, handover
from core.train.backbone import Backbone
from core.train.blocks import Keep
from core.train.bundle import weights_hash
from core.train.finetune import FineTune
from core.train.handover import Contract, Negatives
from core.train.kept import read_weights, write_weights
from core.train.loop import load_trained, trained
from core.train.negatives import Mining
from core.train.refresh import Refresher
from core.train.types import Candidates, Piece, Question

TASK: Final = "task.json"
_REST = "untrained.safetensors"
_LOCK = "writer.lock"
MODULE = "backbone"  # the name under which the task trains it
_WAIT_SECONDS = 0.2  # between two looks at the run's folder


@dataclass(frozen=True, slots=True)
class Told:
    """What the trainer tells the inferencer once: paths of the run and of the bundle, data and settings."""

    run: str
    bundle: str
    device: str
    query_tokens: int
    passage_tokens: int
    mining: Mining
    contract: Contract
    questions: tuple[Question, ...]
    pieces: tuple[Piece, ...]
    candidates: tuple[Candidates, ...]


def write_task(folder: Path, run: Path, task: FineTune, mining: Mining, contract: Contract) -> None:
    """Leave all that the inferencer needs but the checkpoints: what is trained it takes from those.

    Raises:
        DiskFull, KnownError
    """
    backbone, settings = task.backbone, task.settings
    told = Told(
        str(run.resolve()), str(backbone.bundle.folder.resolve()), str(backbone.device), settings.query_tokens,
        settings.passage_tokens, mining, contract, tuple(task.questions), tuple(task.pieces), task.candidates,
    )  # fmt: skip
    learnt = trained({MODULE: backbone})
    rest = {name: t for name, t in backbone.state_dict().items() if f"{MODULE}/{name}" not in learnt}
    write_weights(folder / _REST, rest)
    write_bytes(folder / TASK, json.dumps(to_plain(told)).encode())


class Inferencer:
    """Mines for the newest checkpoint again and again. Raises KnownError: the task is not what it was written as."""

    def __init__(self, folder: Path, control: Control) -> None:
        told = from_plain(Told, read_json(folder / TASK))
        bundle = load(Path(told.bundle))
        self._folder, self._run, self._control, self._contract = folder, Path(told.run), control, told.contract
        if Contract.of(told.questions, told.pieces, bundle, told.mining) != told.contract:
            raise KnownError("The task of this training has changed.", "Begin the training anew.")
        self._first = told.candidates
        self._backbone = Backbone.open(bundle, told.device)
        self._backbone.load_state_dict(read_weights(folder / _REST), strict=False)
        ids = self._backbone.ids([piece.input for piece in told.pieces], max_tokens=told.passage_tokens)
        self._refresher = Refresher(self._backbone, told.questions, told.pieces, ids, told.query_tokens, told.mining)
        self._seen = ""  # the name of the newest checkpoint that was looked at

    def go(self) -> None:
        """Until the run has ended, or `control` is cancelled.

        Raises:
            Cancelled, DiskFull
        """
        while True:
            self._control.check()
            path = self._next()
            if path is None:
                time.sleep(_WAIT_SECONDS)
                continue
            try:
                plain = read_json(path / checkpoint.PLAIN)
                if plain["ended"]:
                    return
                weights = load_file(path / checkpoint.WEIGHTS)
            except (OSError, ValueError, SafetensorError):  # the trainer has a newer one, and has deleted this
                continue
            self._hand_over(int(plain["step"]), weights)

    def _next(self) -> Path | None:
        """The newest whole checkpoint, unless it was looked at. Names first: reading all of one has a price."""
        name = max((path.name for path in self._run.glob("step-*")), default="")
        if name == self._seen:
            return None
        self._seen = name
        return checkpoint.newest(self._run)

    def _hand_over(self, step: int, weights: Mapping[str, Tensor]) -> None:
        last = handover.newest(self._folder, self._contract)
        if last is not None and last.step >= step:
            return
        load_trained({MODULE: self._backbone}, weights)
        number = last.number + 1 if last is not None else 1
        before = last.candidates if last is not None else self._first
        keep = Keep(self._folder / blocks.FOLDER, weights_hash(weights))
        found, fresh = self._refresher.renew(before, number, self._control, keep)
        handover.write(self._folder, Negatives(number, step, keep.key, found, fresh), self._contract)
        shutil.rmtree(keep.folder, ignore_errors=True)


def main(folder: Path) -> int:
    """Run; returns the exit code: 0 also where the trainer went first."""
    lower_priority()
    control = Control()
    threading.Thread(target=_watch, args=(control,), daemon=True).start()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // 2))  # the trainer needs the others
    lock = FileLock(folder / _LOCK, "inferencer")
    try:
        _acquire(lock, control)
        handover.sweep(folder)
        Inferencer(folder, control).go()
    except Cancelled:
        return 0
    except KnownError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        lock.release()
    return 0


def _watch(control: Control) -> None:
    """The trainer's end of the pipe closes with the trainer, even where that is killed."""
    while os.read(0, 1 << 10):
        pass
    control.cancel()


def _acquire(lock: FileLock, control: Control) -> None:
    """Wait for an inferencer of an earlier trainer to end: there is one writer at a time."""
    while True:
        control.check()
        try:
            lock.acquire()
        except LibraryLocked:
            time.sleep(_WAIT_SECONDS)
        else:
            return


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
