"""The trunk of all training: optimiser, clipping, schedule, checkpoints and the clock around any `Task`.

A run that is killed, cancelled or paused goes on from its newest checkpoint and makes the very steps that it would have
made: the state of torch's generators, the task's generator, the optimiser and the place in the data lie in there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from core.base.errors import Cancelled, KnownError
from core.base.events import Control, Listener, Progress, Throttle, ignore
from core.train import checkpoint
from core.train.clock import Clock
from core.train.precision import Precision, autocast
from core.train.random_state import keep, restore
from core.train.record import DONE, TIME, Curve, Record, hardware
from core.train.record import data_hash as data_hash_of
from core.train.schedule import Decay, factor, share
from core.train.task import Task

STAGE: Final = "training"
_KEPT = 2  # checkpoints: the second newest serves where the newest is damaged
_MAY_CHANGE = ("minutes", "checkpoint_every")  # settings that a run may be resumed with other values of
_NO_DECAY = 2  # tensors of fewer dimensions (biases, norms) are not pulled towards 0


@dataclass(frozen=True, slots=True)
class Settings:
    """`warmup` is a share of the run; `clip` the largest norm of the gradient; `minutes` the time budget, of work."""

    steps: int
    learning_rate: float
    warmup: float = 0.1
    decay: Decay = "linear"
    weight_decay: float = 0.01
    clip: float = 1.0
    precision: Precision = "fp32"
    seed: int = 0
    checkpoint_every: int = 100
    minutes: float | None = None


class Callback:
    """What wants to know how a run goes. It may change the task's data, of which the task keeps the state."""

    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        """After the update that made `step` (from 1)."""

    def on_checkpoint(self, path: Path, step: int) -> None:
        """After the checkpoint was written; the trained tensors are in its `weights.safetensors`."""


Watching = Callable[[str], Sequence[Callback]]  # the callbacks of a stage


def train(
    task: Task, settings: Settings, folder: Path, control: Control | None = None, listener: Listener = ignore,
    callbacks: Sequence[Callback] = (), *, data_hash: str = "", stage: str = STAGE,
) -> Record:  # fmt: skip
    """Train the task's modules until all steps are made or the time is up; `folder` belongs to this run alone.

    Where `folder` has a whole checkpoint the run goes on from there; a run that has ended gives its weights and record
    at once. torch's global generator is seeded.

    Raises:
        Cancelled: by `control`, also when asked to give way; a checkpoint was written.
        DiskFull: the newest checkpoint stays.
        KnownError: the loss is no number, or the checkpoint is of other settings or data.
        ValueError: there is nothing to train, or no batch.
    """
    return _Run(task, settings, folder, control or Control(), listener, callbacks, data_hash, stage).go()


class _Run:
    def __init__(
        self, task: Task, settings: Settings, folder: Path, control: Control, listener: Listener,
        callbacks: Sequence[Callback], data_hash: str, stage: str,
    ) -> None:  # fmt: skip
        self.task, self.settings, self.folder = task, settings, folder
        self.control, self.listener, self.callbacks = control, listener, callbacks
        self.data_hash, self.stage = data_hash, stage
        self.weights = trained(task.modules)
        self.device = next(iter(self.weights.values())).device
        self.optimiser = _optimiser(list(self.weights.values()), settings)
        self.clock, self.curve, self.throttle = Clock(settings.minutes), Curve.of(settings.steps), Throttle()
        self.rng = np.random.default_rng(settings.seed)
        self.step, self.epoch, self.place = 0, 0, 0
        self.epoch_random = self.rng.bit_generator.state
        self.order: Sequence[Sequence[int]] = ()
        self.order_hash = ""
        self.written = -1  # the step of the newest checkpoint

    def go(self) -> Record:
        torch.manual_seed(self.settings.seed)
        ended = self._resume()
        if ended:
            return self._record(ended)
        self.optimiser.zero_grad(set_to_none=True)
        modes = {part: part.training for module in self.task.modules.values() for part in module.modules()}
        for module in self.task.modules.values():
            module.train()
        try:
            ended = self._steps()
        finally:
            for part, mode in modes.items():
                part.training = mode
        record = self._record(ended)
        record.write(self.folder)
        return record

    def _steps(self) -> str:
        while not (ended := self._ended()):
            self._wait()
            self._one_step()
            self._tell()
            if self.step % self.settings.checkpoint_every == 0 and not self._ended():
                self._checkpoint()
        self._checkpoint(ended)
        return ended

    def _ended(self) -> str:
        if self.step >= self.settings.steps:
            return DONE
        return TIME if self.step and self.clock.is_up else ""

    def _wait(self) -> None:
        """Pause, cancel and give way, with a checkpoint behind."""
        if self.control.paused or self.control.cancelled or self.control.giving_way:
            if self.step > self.written:
                self._checkpoint()
            self.control.check()
            if self.control.giving_way:
                raise Cancelled("gave way")

    def _one_step(self) -> None:
        self.clock.start()
        batch = self._batch()
        before = keep(self.rng)
        try:
            with autocast(self.device, self.settings.precision):
                losses = self.task.step(batch)
        except Cancelled:
            self._undo(before)
            raise
        norm, rate = self._update(losses)
        self.step += 1
        self.place += 1
        self.clock.lap()
        self.curve.add(self.step, self.clock.seconds, rate, norm, losses)
        self.clock.start()
        for callback in self.callbacks:  # which may encode a whole library: that is work, too
            callback.after_step(self.step, losses)
        self.clock.lap(of_a_step=False)

    def _undo(self, before: tuple[dict[str, Tensor], dict[str, Any]]) -> None:
        """Half a step was made: go back to its beginning, and keep that."""
        restore(before, self.rng)
        self.optimiser.zero_grad(set_to_none=True)
        self.clock.lap(of_a_step=False)
        if self.step > self.written:
            self._checkpoint()

    def _batch(self) -> Sequence[int]:
        if self.place >= len(self.order):
            self.epoch += bool(self.order)
            self.place = 0
            self.epoch_random = self.rng.bit_generator.state
            self._draw_order()
        return self.order[self.place]

    def _draw_order(self) -> None:
        self.order = self.task.batches(self.epoch, self.rng)
        if not self.order:
            raise ValueError("the task has no batch")
        self.order_hash = data_hash_of(" ".join(map(str, batch)) for batch in self.order)

    def _update(self, losses: Mapping[str, float]) -> tuple[float, float]:
        """Clip, set the rate, change the weights. Returns the norm before clipping and the rate."""
        norm = float(nn.utils.clip_grad_norm_(self.weights.values(), self.settings.clip))
        if not (math.isfinite(norm) and all(map(math.isfinite, losses.values()))):
            raise KnownError(
                f"The training went out of bounds at step {self.step + 1}: its loss is no longer a number.",
                "Use a lower learning rate.",
            )
        behind = share(self.step, self.settings.steps, self.clock.seconds, self.settings.minutes)
        rate = self.settings.learning_rate * factor(behind, self.settings.warmup, self.settings.decay)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return norm, rate

    def _tell(self) -> None:
        if self.throttle.ready() or self.step >= self.settings.steps:
            left = self.settings.steps - self.step
            total = self.step + self.clock.planned(left)
            self.listener(Progress(self.stage, self.step, total, seconds_left=self.clock.left(left)))

    def _checkpoint(self, ended: str = "") -> None:
        self.clock.start()
        path = checkpoint.write(self.folder, self.step, self._state(ended))
        checkpoint.prune(self.folder, _KEPT)
        self.written = self.step
        self.clock.lap(of_a_step=False)
        for callback in self.callbacks:
            callback.on_checkpoint(path, self.step)

    def _state(self, ended: str) -> checkpoint.State:
        tensors, random = keep(self.rng)
        plain = {
            "settings": asdict(self.settings), "data_hash": self.data_hash, "ended": ended, "step": self.step,
            "epoch": self.epoch, "place": self.place, "order": self.order_hash, "epoch_random": self.epoch_random,
            "random": random, "seconds": self.clock.seconds, "curve": self.curve.plain(),
            "task": self.task.state(),
        }  # fmt: skip
        moments = {
            f"optimiser.{place}.{name}": tensor
            for place, named in self.optimiser.state_dict()["state"].items()
            for name, tensor in named.items()
        }
        return checkpoint.State(self.weights, tensors | moments, plain)

    def _resume(self) -> str:
        """Take over the newest whole checkpoint, if there is one; returns how that run ended ("" when it did not)."""
        path = checkpoint.newest(self.folder)
        if path is None:
            return ""
        state = checkpoint.read(path)
        self._compare(state)
        load_trained(self.task.modules, state.weights)
        self._load_optimiser(state.rest)
        plain = state.plain
        self.task.load_state(plain["task"])
        self.step, self.epoch, self.place = plain["step"], plain["epoch"], plain["place"]
        self.clock.seconds, self.curve = plain["seconds"], Curve.from_plain(plain["curve"])
        self.epoch_random, self.written = plain["epoch_random"], self.step
        if plain["order"] and not plain["ended"]:
            self.rng.bit_generator.state = self.epoch_random
            self._draw_order()
            if self.order_hash != plain["order"]:
                raise _others()
        restore((dict(state.rest), plain["random"]), self.rng)
        return str(plain["ended"])

    def _compare(self, state: checkpoint.State) -> None:
        now, then = asdict(self.settings), dict(state.plain["settings"])
        for name in _MAY_CHANGE:
            now.pop(name), then.pop(name)
        shapes = {name: tensor.shape for name, tensor in self.weights.items()}
        same = shapes == {name: tensor.shape for name, tensor in state.weights.items()}
        if now != then or state.plain["data_hash"] != self.data_hash or not same:
            raise _others()

    def _load_optimiser(self, rest: Mapping[str, Tensor]) -> None:
        moments: dict[int, dict[str, Tensor]] = {}
        for key, tensor in rest.items():
            if key.startswith("optimiser."):
                _, place, name = key.split(".")
                moments.setdefault(int(place), {})[name] = tensor
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": moments, "param_groups": groups})

    def _record(self, ended: str) -> Record:
        return Record(
            asdict(self.settings), self.data_hash, self.step, ended, round(self.clock.seconds, 3),
            hardware(self.device), tuple(self.curve.points),
        )  # fmt: skip


def trained(modules: Mapping[str, nn.Module]) -> dict[str, nn.Parameter]:
    """The parameters that are trained, as "module/name"; one that several modules share stands once.

    Raises:
        ValueError: there is none.
    """
    found: dict[str, nn.Parameter] = {}
    seen: set[int] = set()
    for module, owner in modules.items():
        for name, parameter in owner.named_parameters():
            if parameter.requires_grad and id(parameter) not in seen:
                seen.add(id(parameter))
                found[f"{module}/{name}"] = parameter
    if not found:
        raise ValueError("nothing to train")
    return found


def load_trained(modules: Mapping[str, nn.Module], weights: Mapping[str, Tensor]) -> None:
    """Put the tensors of a checkpoint's `weights.safetensors` into modules of the same names and shapes."""
    with torch.no_grad():
        for name, parameter in trained(modules).items():
            parameter.copy_(weights[name])


def _optimiser(weights: list[nn.Parameter], settings: Settings) -> torch.optim.AdamW:
    decayed = [weight for weight in weights if weight.dim() >= _NO_DECAY]
    free = [weight for weight in weights if weight.dim() < _NO_DECAY]
    groups = [
        {"params": decayed, "weight_decay": settings.weight_decay},
        {"params": free, "weight_decay": 0.0},
    ]
    on_chip = all(weight.device.type in ("cpu", "cuda") for weight in weights)
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=settings.learning_rate, fused=on_chip)


class OtherTraining(KnownError):
    """The folder holds a run with other settings or other data."""


def _others() -> OtherTraining:
    return OtherTraining(
        "This training was begun with other settings or other data, so it cannot go on.", "Begin it anew."
    )
