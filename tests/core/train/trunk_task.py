"""A small real task for the trunk's tests: a transformer layer with dropout that learns which half a sequence is of.

`python trunk_task.py` waits for lines "STEPS FOLDER" on standard input and runs the training of each in a child of its
own (so that torch is loaded once), telling "pid N" and, when it has ended, "end CODE". The final weights' hash is in
FOLDER/final.txt.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from core.base.events import Control
from core.train.batches import length_grouped
from core.train.loop import Settings, train

COUNT, WIDTH, WORDS = 90, 16, 40


class Halves(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layer = nn.TransformerEncoderLayer(WIDTH, 2, 32, dropout=0.2, batch_first=True)
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, ids_BT: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(self.words(ids_BT)).mean(1))


class HalvesTask:
    """Draws from the generator in each step and counts its steps, so that a resumed run needs both."""

    def __init__(self, control: Control | None = None, cancel_in_step: int = -1) -> None:
        torch.manual_seed(3)
        data = np.random.default_rng(5)
        self.model = Halves()
        self.lengths = data.integers(3, 9, COUNT).tolist()
        self.labels = data.integers(0, 2, COUNT)
        self.texts = [
            data.integers(label * WORDS // 2, (label + 1) * WORDS // 2, length)
            for label, length in zip(self.labels, self.lengths, strict=True)
        ]
        self.rng = np.random.default_rng(0)
        self.control, self.cancel_in_step = control, cancel_in_step
        self.count = 0

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        return {"halves": self.model}

    def batches(self, epoch: int, rng: np.random.Generator) -> Sequence[Sequence[int]]:
        self.rng = rng
        return length_grouped(self.lengths, 8, rng)

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        keep = 3 + int(self.rng.integers(0, 3))
        self.count += 1
        ids_BT = torch.tensor([np.resize(self.texts[place], keep).tolist() for place in batch])
        scores_B2 = self.model(ids_BT)
        loss = nn.functional.cross_entropy(scores_B2.float(), torch.from_numpy(self.labels[list(batch)]))
        loss.backward()
        if self.control is not None and self.count == self.cancel_in_step:
            self.count -= 1
            self.control.cancel()
            self.control.check()
        return {"loss": float(loss.detach()), "scale": 1.0 + self.count}

    def state(self) -> dict[str, Any]:
        return {"count": self.count}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.count = int(state["count"])

    def hash(self) -> str:
        digest = hashlib.sha256()
        for tensor in self.model.state_dict().values():
            digest.update(tensor.numpy().tobytes())
        return digest.hexdigest()


def settings(steps: int, **others: Any) -> Settings:
    return Settings(**{"steps": steps, "learning_rate": 3e-3, "checkpoint_every": 5, "seed": 11, **others})


def run(folder: Path, steps: int) -> None:
    task = HalvesTask()
    train(task, settings(steps), folder, data_hash="halves")
    (folder / "final.txt").write_text(task.hash())


def serve() -> None:
    """One run for each line, each in a child that may be killed."""
    torch.set_num_threads(1)
    for line in sys.stdin:
        steps, folder = line.rstrip("\n").split(" ", 1)
        child = os.fork()
        if not child:
            run(Path(folder), int(steps))
            os._exit(0)
        print(f"pid {child}", flush=True)
        print(f"end {os.waitpid(child, 0)[1]}", flush=True)


if __name__ == "__main__":
    serve()
