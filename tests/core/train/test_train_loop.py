"""The trunk: what is killed, cancelled or paused goes on as if nothing had been."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from core.base.errors import Cancelled, KnownError
from core.base.events import Control, Progress
from core.train import checkpoint
from core.train.loop import Callback, train, trained
from core.train.record import FILE
from tests.core.train.trunk_task import HalvesTask, settings

ROOT = Path(__file__).parents[3]
STEPS = 40


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


class Watch(Callback):
    """Keeps all losses; cancels or pauses after a step when told to."""

    def __init__(self, control: Control | None = None, cancel_after: int = -1) -> None:
        self.losses: dict[int, float] = {}
        self.checkpoints: list[int] = []
        self._control, self._cancel_after = control, cancel_after

    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        assert step not in self.losses
        self.losses[step] = losses["loss"]
        if step == self._cancel_after and self._control is not None:
            self._control.cancel()

    def on_checkpoint(self, path: Path, step: int) -> None:
        assert checkpoint.is_whole(path)
        self.checkpoints.append(step)


def undisturbed(folder: Path, steps: int = STEPS, **others: Any) -> tuple[Watch, str]:
    watch, task = Watch(), HalvesTask()
    train(task, settings(steps, **others), folder, callbacks=[watch])
    return watch, task.hash()


def test_it_learns_and_keeps_a_record(tmp_path: Path) -> None:
    task, watch, told = HalvesTask(), Watch(), list[Any]()
    record = train(
        task, settings(120, checkpoint_every=20), tmp_path, listener=told.append, callbacks=[watch], data_hash="abc"
    )
    losses = list(watch.losses.values())
    assert sum(losses[-10:]) < 0.5 * sum(losses[:10])
    assert (record.step, record.ended, record.data_hash) == (120, "done", "abc")
    assert [point.step for point in record.curve] == list(range(1, 121))
    assert record.curve[7].losses["loss"] == pytest.approx(watch.losses[8])
    assert record.hardware["device"] == "cpu"
    assert 0 < record.seconds < 60
    assert max(point.rate for point in record.curve) == pytest.approx(3e-3, rel=0.05)
    assert record.curve[-1].rate < 3e-5
    assert record.curve[0].rate < 3e-4
    assert (tmp_path / FILE).is_file()
    assert watch.checkpoints == list(range(20, 121, 20))
    progress = [event for event in told if isinstance(event, Progress)]
    assert progress[-1].done == progress[-1].total == 120
    assert len(list(tmp_path.glob("step-*"))) == 2
    assert not list(tmp_path.glob(".*"))


def test_a_run_that_has_ended_gives_its_weights_and_record_at_once(tmp_path: Path) -> None:
    _, hash = undisturbed(tmp_path)
    again, watch = HalvesTask(), Watch()
    assert again.hash() != hash
    record = train(again, settings(STEPS), tmp_path, callbacks=[watch])
    assert again.hash() == hash
    assert not watch.losses
    assert record.step == STEPS


@pytest.mark.parametrize("cancel_in_step", [False, True])
def test_cancelled_anywhere_it_goes_on_with_the_same_losses(tmp_path: Path, cancel_in_step: bool) -> None:
    whole, hash = undisturbed(tmp_path / "whole")
    losses: dict[int, float] = {}
    for stop in (1, 2, 14, 17, 36):  # within an epoch, at its ends and beyond
        control = Control()
        watch = Watch(control, -1 if cancel_in_step else stop)
        task = HalvesTask(control if cancel_in_step else None, stop)
        with pytest.raises(Cancelled):
            train(task, settings(STEPS), tmp_path / "cut", control, callbacks=[watch])
        made = stop - cancel_in_step
        assert watch.losses.keys() == set(range(max(losses, default=0) + 1, made + 1))  # no step is made twice
        losses |= watch.losses
    task, watch = HalvesTask(), Watch()
    train(task, settings(STEPS), tmp_path / "cut", callbacks=[watch])
    assert losses | watch.losses == whole.losses
    assert task.hash() == hash


def test_a_pause_is_kept_on_disk_and_no_work(tmp_path: Path) -> None:
    control, watch = Control(), Watch()
    _, hash = undisturbed(tmp_path / "whole", 5, checkpoint_every=100)

    class Pause(Callback):
        def after_step(self, step: int, losses: Mapping[str, float]) -> None:
            if step == 4:
                control.pause()

    def resume() -> None:
        while not watch.checkpoints:
            time.sleep(0.01)
        seen.append(list(watch.checkpoints))
        time.sleep(0.5)
        control.resume()

    seen: list[list[int]] = []
    waiter = threading.Thread(target=resume)
    waiter.start()
    task = HalvesTask()
    callbacks = [Pause(), watch]
    record = train(task, settings(5, checkpoint_every=100), tmp_path / "cut", control, callbacks=callbacks)
    waiter.join()
    assert seen == [[4]]
    assert task.hash() == hash
    assert record.seconds < 0.5


def test_asked_to_give_way_it_ends_soon_and_goes_on_later(tmp_path: Path) -> None:
    _, hash = undisturbed(tmp_path / "whole")
    control = Control()
    control.give_way()
    with pytest.raises(Cancelled):
        train(HalvesTask(), settings(STEPS), tmp_path / "cut", control)
    task = HalvesTask()
    train(task, settings(STEPS), tmp_path / "cut")
    assert task.hash() == hash


def test_out_of_time_it_ends_in_good_order_and_has_decayed(tmp_path: Path) -> None:
    timed = settings(1_000_000, minutes=1.2 / 60, checkpoint_every=10_000)
    told: list[Any] = []
    record = train(HalvesTask(), timed, tmp_path, listener=told.append)
    assert record.ended == "time"
    assert 10 < record.step < 1_000_000
    assert 0.5 < record.seconds < 3
    assert record.curve == () or record.curve[-1].step <= record.step
    newest = checkpoint.newest(tmp_path)
    assert newest is not None
    assert checkpoint.read(newest).plain["ended"] == "time"
    lefts = [event.seconds_left for event in told if event.seconds_left is not None]
    assert lefts
    assert all(0 <= left <= 1.2 for left in lefts)
    assert lefts[-1] < lefts[0]
    totals = [event.total for event in told if event.seconds_left is not None]
    assert max(totals) < 100_000  # told as far as the time goes, not as asked for
    again = train(HalvesTask(), timed, tmp_path)
    assert again.step == record.step


def test_other_settings_or_data_are_not_mixed_in(tmp_path: Path) -> None:
    undisturbed(tmp_path)
    for others, data in (({"learning_rate": 1e-4}, ""), ({"seed": 1}, ""), ({}, "other")):
        with pytest.raises(KnownError, match="other settings or other data"):
            train(HalvesTask(), settings(STEPS, **others), tmp_path, data_hash=data)
    train(HalvesTask(), settings(STEPS, checkpoint_every=7, minutes=1.0), tmp_path)


def test_other_order_of_the_data_is_noticed(tmp_path: Path) -> None:
    control = Control()
    with pytest.raises(Cancelled):
        train(HalvesTask(), settings(STEPS), tmp_path, control, callbacks=[Watch(control, 5)])
    task = HalvesTask()
    task.lengths.reverse()
    with pytest.raises(KnownError, match="other data"):
        train(task, settings(STEPS), tmp_path)


def test_a_loss_without_bounds_ends_the_run_with_the_last_good_weights_kept(tmp_path: Path) -> None:
    class Broken(HalvesTask):
        def step(self, batch: Any) -> dict[str, float]:
            losses = super().step(batch)
            if self.count == 8:
                self.model.out.weight.grad.fill_(float("inf"))  # type: ignore[union-attr]
            return losses

    with pytest.raises(KnownError, match="no longer a number"):
        train(Broken(), settings(STEPS), tmp_path)
    newest = checkpoint.newest(tmp_path)
    assert newest is not None
    state = checkpoint.read(newest)
    assert state.plain["step"] == 5
    assert all(t.isfinite().all() for t in state.weights.values())


def test_the_gradient_is_clipped_and_biases_do_not_decay(tmp_path: Path) -> None:
    task = HalvesTask()
    before = {name: weight.detach().clone() for name, weight in trained(task.modules).items()}
    record = train(task, settings(1, clip=1e-30, weight_decay=0.5, learning_rate=0.1, warmup=0.0), tmp_path)
    after = trained(task.modules)
    assert record.curve[0].norm > 1e-3
    rate = record.curve[0].rate
    name = "halves/layer.linear1.weight"  # a gradient this small is no step for Adam: what is left is decay
    assert torch.allclose(after[name], before[name] * (1 - rate * 0.5), atol=1e-6)
    assert torch.equal(after["halves/layer.norm1.weight"], before["halves/layer.norm1.weight"])


def test_shared_weights_are_trained_and_kept_once() -> None:
    task = HalvesTask()
    both = {**task.modules, "again": task.model.words}
    assert trained(both).keys() == trained(task.modules).keys()
    for weight in task.model.parameters():
        weight.requires_grad = False
    with pytest.raises(ValueError, match="nothing to train"):
        trained(task.modules)


@pytest.mark.parametrize("decay", ["cosine", "constant"])
def test_bfloat16_and_other_decays_resume_alike(tmp_path: Path, decay: str) -> None:
    whole, hash = undisturbed(tmp_path / "whole", 12, precision="bf16", decay=decay)
    assert whole.losses != undisturbed(tmp_path / "exact", 12, decay=decay)[0].losses
    control = Control()
    asked = replace(settings(12), precision="bf16", decay=decay)
    with pytest.raises(Cancelled):
        train(HalvesTask(), asked, tmp_path / "cut", control, callbacks=[Watch(control, 7)])
    task = HalvesTask()
    train(task, asked, tmp_path / "cut")
    assert task.hash() == hash
    assert all(weight.dtype == torch.float32 for weight in task.model.parameters())


def test_cut_checkpoints_are_passed_over_in_a_run(tmp_path: Path) -> None:
    _, hash = undisturbed(tmp_path / "whole")
    control = Control()
    with pytest.raises(Cancelled):
        train(HalvesTask(), settings(STEPS), tmp_path / "cut", control, callbacks=[Watch(control, 13)])
    newest = checkpoint.newest(tmp_path / "cut")
    assert newest is not None
    assert newest.name == "step-00000013"
    with (newest / checkpoint.REST).open("rb+") as file:
        file.truncate(100)
    task, watch = HalvesTask(), Watch()
    train(task, settings(STEPS), tmp_path / "cut", callbacks=[watch])
    assert min(watch.losses) == 11
    assert task.hash() == hash


@pytest.fixture
def server() -> Iterator[subprocess.Popen[str]]:
    """Runs trainings in children of its own."""
    if sys.platform == "win32":
        pytest.skip("forks")
    command = [sys.executable, str(ROOT / "tests/core/train/trunk_task.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as server:
        yield server
        assert server.stdin is not None
        server.stdin.close()


def killed_until_done(server: subprocess.Popen[str], folder: Path, steps: int, kills: int) -> tuple[str, int]:
    """Run in children that are killed at random moments, `kills` times at most; the hash and how many died."""
    luck, died = random.Random(4), 0
    assert server.stdin is not None
    assert server.stdout is not None
    while not (folder / "final.txt").is_file():
        print(steps, folder, file=server.stdin, flush=True)
        child = int(server.stdout.readline().split()[1])
        if died < kills:
            time.sleep(luck.uniform(0.0, 0.3))
            os.kill(child, signal.SIGKILL)
        died += server.stdout.readline().split()[1] == str(int(signal.SIGKILL))
    return (folder / "final.txt").read_text(), died


@pytest.mark.parametrize(("steps", "kills"), [(60, 6), pytest.param(200, 20, marks=pytest.mark.e2e)])
def test_killed_at_random_moments_it_ends_with_the_same_weights(
    server: subprocess.Popen[str], tmp_path: Path, steps: int, kills: int
) -> None:
    hash, none = killed_until_done(server, tmp_path / "whole", steps, 0)
    other, died = killed_until_done(server, tmp_path / "cut", steps, kills)
    assert (none, died) == (0, kills)
    assert other == hash
    assert not list((tmp_path / "cut").glob(".*"))


def test_steps_are_numbered_without_gaps(tmp_path: Path) -> None:
    whole, _ = undisturbed(tmp_path)
    assert all(later - earlier == 1 for earlier, later in pairwise(sorted(whole.losses)))
