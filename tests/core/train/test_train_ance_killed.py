"""Trainer and inferencer as processes that are killed: neither leaves the other with half a file."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import torch

from core.base.errors import LibraryLocked
from core.base.files import FileLock
from core.models.bundles import Bundle
from core.train import handover
from core.train.ance import FOLDER, AnceSettings
from core.train.ance_beside import AnceBeside
from core.train.loop import Callback
from tests.core.train.ance_run import CONTRACT, made_task, mining, run, settings, written

ROOT = Path(__file__).parents[3]
PATIENCE = 120.0  # seconds until a test gives up


class Server:
    """Runs what `ance_run.py` can do, in children whose pid is told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def begin(self, what: str, folder: Path) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what} {folder}\n")
        self._process.stdin.flush()
        child = self._told("pid")
        assert child > 1  # 0 is this process group
        return child

    def end(self) -> int:
        """How the child ended, as `waitpid` says."""
        return self._told("end")

    def _told(self, what: str) -> int:
        """The next number of this kind; what a test that failed did not wait for is passed over."""
        while line := self._line():
            word, number = line.split()
            if word == what:
                return int(number)
        raise AssertionError("the server has ended")

    def kill(self, child: int) -> None:
        with contextlib.suppress(ProcessLookupError):  # it was quicker
            os.kill(child, signal.SIGKILL)
        assert self.end() in (0, signal.SIGKILL)

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@pytest.fixture(scope="module")
def server(tiny_bundle: Bundle) -> Iterator[Server]:
    if sys.platform == "win32":
        pytest.skip("forks")
    command = [sys.executable, str(ROOT / "tests/core/train/ance_run.py"), str(tiny_bundle.folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as made:
        yield Server(made)
        assert made.stdin is not None
        made.stdin.close()


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_writer_killed_at_any_moment_leaves_whole_files_only(server: Server, tmp_path: Path) -> None:
    """Until two were killed while a file was half written."""
    luck, halves, newest = random.Random(1), 0, 0
    for _ in range(100):
        child = server.begin("write", tmp_path)
        highest = newest
        until(lambda highest=highest: max(handover.numbers(tmp_path), default=0) > highest)  # type: ignore[misc]
        time.sleep(luck.uniform(0, 0.05))
        server.kill(child)
        halves += bool(list(tmp_path.glob(".neg-*")))
        found = handover.newest(tmp_path, CONTRACT)
        assert found is not None
        assert found.number == max(handover.numbers(tmp_path)) > newest
        assert found.candidates == written(found.number).candidates
        newest = found.number
        handover.prune(tmp_path, {newest})
        if halves == 2:
            break
    assert halves == 2


def test_killed_at_random_moments_it_ends_with_the_same_weights(server: Server, tmp_path: Path) -> None:
    """As a run in a process of the same kind that nobody killed."""
    server.begin("train", tmp_path / "whole")
    assert server.end() == 0
    luck, final = random.Random(3), tmp_path / "cut" / "final.txt"
    for kill in range(100):
        child = server.begin("train", tmp_path / "cut")
        if kill < 4:
            time.sleep(luck.uniform(0.3, 1.5))
            server.kill(child)
        else:
            assert server.end() == 0
        if final.is_file():
            break
    assert final.read_text() == (tmp_path / "whole" / "final.txt").read_text()


class Wait(Callback):
    """Holds the training up until the inferencer has handed over as often as asked; kills it after the first time."""

    def __init__(self, beside: AnceBeside, times: int) -> None:
        self.beside, self.times = beside, times
        self.killed = -1

    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        if self.killed < 0 and self.beside.number:
            assert self.beside.child is not None
            self.killed = self.beside.child.pid
            self.beside.child.kill()
            self.beside.child.wait()
        if step % 10 == 0 and self.beside.number < self.times:
            above, contract = self.beside.number, self.beside.contract
            until(lambda: handover.newest(self.beside.folder, contract, above=above) is not None or self._gone())

    def _gone(self) -> bool:
        assert self.beside.child is not None
        return self.beside.child.poll() is not None


def test_the_inferencer_hands_over_and_is_started_again_when_it_is_killed(tiny_bundle: Bundle, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    task = made_task(tiny_bundle)
    with AnceBeside(task, tmp_path, AnceSettings(mining=mining(), look=10)) as beside:
        wait = Wait(beside, 2)
        run(task, tmp_path, settings(60), wait, beside)
        assert (beside.folder / "inferencer.log").read_text() == ""
    assert beside.child is not None
    assert beside.child.returncode in (0, -signal.SIGKILL)  # the latter where a busy machine had not yet started it
    assert beside.starts == 2
    assert beside.child.pid != wait.killed > 0
    assert beside.number >= 2
    found = handover.read(beside.folder, beside.number, beside.contract)
    assert found is not None
    assert found.name == task.negatives
    assert found.step % 5 == 0  # of a checkpoint
    taken = [look for look in beside.looks if look.renewed]
    assert len(taken) >= 2
    assert all(0 <= look.drift <= 1 and look.staleness >= 0 for look in beside.looks)
    again = made_task(tiny_bundle)
    recalled = AnceBeside(again, tmp_path, AnceSettings(mining=mining(), look=10))
    run(again, tmp_path, settings(60), recalled)  # it has ended: weights and negatives are taken over
    assert again.negatives == task.negatives
    assert again.candidates == task.candidates


def test_an_inferencer_that_cannot_start_is_left_alone(tiny_bundle: Bundle, tmp_path: Path) -> None:
    task = made_task(tiny_bundle)
    none = AnceBeside(task, tmp_path, start=lambda folder: [sys.executable, "-c", "raise SystemExit(3)"])
    with none:
        run(task, tmp_path, settings(8), none, Gone(none))
    assert none.starts == 3
    assert none.number == 0


class Gone(Callback):
    def __init__(self, beside: AnceBeside) -> None:
        self.beside = beside

    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        assert self.beside.child is not None
        self.beside.child.wait()


def test_the_inferencer_ends_when_its_trainer_is_killed(server: Server, tmp_path: Path) -> None:
    child = server.begin("beside", tmp_path)
    folder = tmp_path / FOLDER
    until(lambda: bool(handover.numbers(folder)))
    with pytest.raises(LibraryLocked), FileLock(folder / "writer.lock"):
        pass
    server.kill(child)

    def is_free() -> bool:
        try:
            with FileLock(folder / "writer.lock"):
                return True
        except LibraryLocked:
            return False

    until(is_free)
    assert not list(folder.glob(".neg-*"))
    assert (folder / "inferencer.log").read_text() == ""
