"""Checkpoints: whole or not taken, on a full disk too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from core.base.errors import Cancelled, DiskFull
from core.base.events import Control
from core.train import checkpoint
from core.train.checkpoint import DONE, PLAIN, REST, WEIGHTS, State, newest, prune, read, write
from core.train.loop import Callback, train
from tests.core.train.trunk_task import HalvesTask, settings


def state(number: int, size: int = 10) -> State:
    return State({"a/b": torch.full((size, 3), float(number))}, {"r": torch.arange(5)}, {"step": number, "x": [1, "ü"]})


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 300 kB, where this account may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    if not sys.platform.startswith("linux") or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("no file system can be mounted")
    command = ["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no file system can be mounted")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert newest(tmp_path) is None
    path = write(tmp_path / "run", 12, state(12))
    assert path.name == "step-00000012"
    assert newest(tmp_path / "run") == path
    found = read(path)
    assert torch.equal(found.weights["a/b"], state(12).weights["a/b"])
    assert torch.equal(found.rest["r"], torch.arange(5))
    assert found.plain == {"step": 12, "x": [1, "ü"]}


def test_nothing_that_was_written_is_replaced(tmp_path: Path) -> None:
    first, second = write(tmp_path, 3, state(3)), write(tmp_path, 3, state(4))
    assert newest(tmp_path) == second
    assert read(first).plain["step"] == 3
    for step in (10, 9):
        write(tmp_path, step, state(step))
    found = newest(tmp_path)
    assert found is not None
    assert read(found).plain["step"] == 10


@pytest.mark.parametrize("name", [WEIGHTS, REST, PLAIN, DONE])
def test_a_file_cut_anywhere_or_changed_is_never_taken(tmp_path: Path, name: str) -> None:
    older, path = write(tmp_path, 1, state(1)), write(tmp_path, 2, state(2))
    whole = (path / name).read_bytes()
    for size in {0, 1, len(whole) // 2, len(whole) - 1}:
        (path / name).write_bytes(whole[:size])
        assert newest(tmp_path) == older
    (path / name).write_bytes(whole[:-2] + bytes([whole[-2] ^ 1]) + whole[-1:])
    assert newest(tmp_path) == older
    (path / name).unlink()
    assert newest(tmp_path) == older
    (path / name).write_bytes(whole)
    assert newest(tmp_path) == path


def test_what_killed_writers_left_is_swept_and_old_ones_go(tmp_path: Path) -> None:
    (tmp_path / ".step-00000007.xy.part").mkdir()
    (tmp_path / ".step-00000007.xy.part" / WEIGHTS).write_bytes(b"half")
    (tmp_path / "step-00000008").mkdir()  # its deletion was cut off
    (tmp_path / "record.json").write_text("{}")
    written = [write(tmp_path, step, state(step)) for step in (1, 2, 3, 9)]
    prune(tmp_path, 2)
    assert sorted(tmp_path.iterdir()) == sorted([*written[2:], tmp_path / "record.json"])


def test_a_full_disk_is_told_and_leaves_the_last_checkpoint(small_disk: Path) -> None:
    path = write(small_disk, 1, state(1, 8_000))
    with pytest.raises(DiskFull):
        write(small_disk, 2, state(2, 20_000))
    assert list(small_disk.iterdir()) == [path]
    assert newest(small_disk) == path


def test_a_run_on_a_full_disk_goes_on_when_there_is_space(small_disk: Path, tmp_path: Path) -> None:
    whole = HalvesTask()
    train(whole, settings(20), tmp_path / "whole")

    class Fill(Callback):
        def on_checkpoint(self, path: Path, step: int) -> None:
            if step == 10:
                free = shutil.disk_usage(small_disk).free
                (small_disk / "other").write_bytes(bytes(free - 20_000))

    with pytest.raises(DiskFull):
        train(HalvesTask(), settings(20), small_disk / "run", callbacks=[Fill()])
    found = newest(small_disk / "run")
    assert found is not None
    assert read(found).plain["step"] == 10
    (small_disk / "other").unlink()
    task = HalvesTask()
    train(task, settings(20), small_disk / "run")
    assert task.hash() == whole.hash()


@pytest.mark.parametrize("what", ["save_file", "fsync"])
def test_the_same_without_a_small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    path = write(tmp_path, 1, state(1))

    def full(*arguments: object) -> None:
        if what == "save_file":  # the library's own words, from a disk that was full
            raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint if what == "save_file" else os, what, full)
    with pytest.raises(DiskFull):
        write(tmp_path, 2, state(2))
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == [path]


def test_the_trained_weights_can_be_taken_from_a_checkpoint(tmp_path: Path) -> None:
    from core.train.loop import load_trained

    control = Control()
    task = HalvesTask()

    class Stop(Callback):
        def after_step(self, step: int, losses: object) -> None:
            if step == 4:
                control.cancel()

    with pytest.raises(Cancelled):
        train(task, settings(20), tmp_path, control, callbacks=[Stop()])
    other, path = HalvesTask(), newest(tmp_path)
    assert path is not None
    load_trained(other.modules, read(path).weights)
    assert other.hash() == task.hash()
