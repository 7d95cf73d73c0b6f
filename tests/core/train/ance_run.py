"""A small run of ANCE on the tiny encoder for the tests, and a server that runs it in children that may be killed.

`python ance_run.py BUNDLE` waits for lines "WHAT FOLDER" on standard input and does each in a child of its own (so that
torch is loaded once), telling "pid N" and, when it has ended, "end CODE". WHAT is "train" (synchronous), "beside"
(asynchronous) or "write" (one file of negatives after another).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from core.models.bundles import Bundle, load
from core.train import handover
from core.train.ance import Ance, AnceSettings
from core.train.ance_beside import AnceBeside
from core.train.backbone import Backbone
from core.train.bundle import weights_hash
from core.train.finetune import FineTune, FineTuneSettings
from core.train.handover import Contract, Negatives
from core.train.loop import Callback, Settings, train
from core.train.negatives import Mining, mine
from core.train.record import Record
from core.train.types import Candidates
from tests.core.train.asking import ByWords, questions
from tests.core.train.made import documents

STEPS, DEPTH = 24, 10
CONTRACT = Contract("corpus", "questions", "tokenizer", "mining")


def mining(seed: int = 0) -> Mining:
    return Mining(count=4, depth=DEPTH, spread=True, denoise=False, seed=seed)


def made_task(bundle: Bundle, seed: int = 0, count: int = 90, **changed: Any) -> FineTune:
    """The tiny encoder over made-up documents, with negatives that words find."""
    pieces = documents(count, sentences=3, seed=seed)
    asked = questions(pieces, seed=seed + 100)
    small = {"questions": 6, "negatives": 2, "query_tokens": 24, "passage_tokens": 32, "keep_words": 1.0}
    first = mine(asked, pieces, ByWords(pieces), mining(seed))
    return FineTune(Backbone.open(bundle, "cpu"), asked, first, pieces, FineTuneSettings(**{**small, **changed}))


def settings(steps: int = STEPS, **changed: Any) -> Settings:
    return Settings(**{"steps": steps, "learning_rate": 1e-3, "checkpoint_every": 5, "warmup": 0.0, **changed})


def ance(task: FineTune, folder: Path, **changed: Any) -> Ance:
    return Ance(task, folder, AnceSettings(**{"every": 7, "look": 3, "mining": mining(), **changed}))


def run(task: FineTune, folder: Path, asked: Settings, *callbacks: Callback, control: Any = None) -> Record:
    return train(task, asked, folder, control, callbacks=callbacks, data_hash=task.data_hash())


def written(number: int) -> Negatives:
    """Negatives whose content tells their number."""
    candidates = tuple(Candidates(q, q + 1, tuple(range(number, number + 20)), (0.5,) * 21) for q in range(800))
    return Negatives(number, 10 * number, f"weights {number}", candidates, (True,) * 800)


class Slowly(Callback):
    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        time.sleep(0.1)


def do(what: str, folder: Path, bundle: Bundle) -> None:
    if what == "write":
        handover.sweep(folder)
        number = max(handover.numbers(folder), default=0)
        while True:
            number += 1
            handover.write(folder, written(number), CONTRACT)
    task = made_task(bundle)
    if what == "train":
        run(task, folder, settings(), ance(task, folder))
        (folder / "final.txt").write_text(f"{weights_hash(task.backbone.weights())} {task.negatives}")
    else:
        with AnceBeside(task, folder, AnceSettings(mining=mining())):
            run(task, folder, settings(10_000), Slowly())


def serve(bundle: Bundle) -> None:
    torch.set_num_threads(1)
    for line in sys.stdin:
        what, folder = line.rstrip("\n").split(" ", 1)
        child = os.fork()
        if not child:
            do(what, Path(folder), bundle)
            os._exit(0)
        sys.stdout.write(f"pid {child}\n")
        sys.stdout.flush()
        sys.stdout.write(f"end {os.waitpid(child, 0)[1]}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(load(Path(sys.argv[1])))
