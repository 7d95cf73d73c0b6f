"""The record of a run: with what it ran, on what, how its losses went and how it ended."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import torch

from core.base.files import write_json

FILE: Final = "record.json"
DONE: Final = "done"  # all steps were made
TIME: Final = "time"  # the time budget was used up first
_POINTS = 400  # of a curve, at most: it lies in every checkpoint


@dataclass(frozen=True, slots=True)
class Point:
    """Means over the steps since the point before: `losses` by name, the norm of the gradient before clipping."""

    step: int
    seconds: float
    rate: float  # learning rate
    norm: float
    losses: dict[str, float]


@dataclass(frozen=True, slots=True)
class Record:
    """`ended` is "done" or "time"; `seconds` are those of work, without pauses; `step` counts updates of weights."""

    settings: Mapping[str, Any]
    data_hash: str
    step: int
    ended: str
    seconds: float
    hardware: Mapping[str, Any]
    curve: tuple[Point, ...]

    def write(self, folder: Path) -> None:
        """Keep it as `record.json`.

        Raises:
            KnownError: the disk is full, or there is no permission.
        """
        write_json(folder / FILE, asdict(self))


@dataclass(slots=True)
class Curve:
    """Points in the making: the mean of every `every` steps becomes one."""

    every: int
    points: list[Point] = field(default_factory=list)
    sums: dict[str, float] = field(default_factory=dict)
    count: int = 0

    @classmethod
    def of(cls, steps: int) -> Curve:
        return cls(max(1, -(-steps // _POINTS)))

    def add(self, step: int, seconds: float, rate: float, norm: float, losses: Mapping[str, float]) -> None:
        """Count a step (from 1) in; a loss that only some steps have is averaged over all of them."""
        for name, value in (("", norm), *losses.items()):
            self.sums[name] = self.sums.get(name, 0.0) + value
        self.count += 1
        if self.count == self.every:
            means = {name: total / self.count for name, total in self.sums.items()}
            self.points.append(Point(step, round(seconds, 3), rate, means.pop(""), means))
            self.sums, self.count = {}, 0

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Curve:
        points = [Point(**point) for point in plain["points"]]
        return cls(int(plain["every"]), points, dict(plain["sums"]), int(plain["count"]))


def data_hash(parts: Iterable[str]) -> str:
    """32 hex digits of the texts that a run learns from, in their order."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:32]


def hardware(device: torch.device) -> dict[str, Any]:
    """What a run's speed and last bits depend on."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()
    return {
        "device": device.type, "name": name, "cores": os.cpu_count(), "threads": torch.get_num_threads(),
        "torch": torch.__version__, "system": platform.system(),
    }  # fmt: skip
