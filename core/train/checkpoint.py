"""Checkpoints of a run: each a folder that is whole or not there, and damaged ones are never taken.

A checkpoint `step-00000120` holds `weights.safetensors` (what is trained), `rest.safetensors` (optimiser and random
generators), `state.json`, and `DONE` with the hashes of the three. It is written under another name and renamed last.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from core.base.errors import from_os_error
from core.base.files import TEMPORARY_SUFFIX, read_json, sha256_file, sync_folder

WEIGHTS, REST, PLAIN, DONE = "weights.safetensors", "rest.safetensors", "state.json", "DONE"
_NAME = re.compile(r"step-\d{8}(-\d+)?")
_METADATA = {"format": "pt"}  # what transformers looks for
_OS_ERROR = re.compile(r"os error (\d+)")


@dataclass(frozen=True, slots=True)
class State:
    """All that a run is: `weights` that are trained, other tensors by name, and plain JSON."""

    weights: Mapping[str, Tensor]
    rest: Mapping[str, Tensor]
    plain: Mapping[str, Any]


def write(folder: Path, step: int, state: State) -> Path:
    """Write the checkpoint of `step` and make it durable; returns its folder.

    Raises:
        DiskFull: nothing is left behind, and older checkpoints stay.
        KnownError: there is no permission.
    """
    target = _free(folder, step)
    made: Path | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder, prefix=f".{target.name}.", suffix=TEMPORARY_SUFFIX))
        _fill(made, state)
        made.rename(target)
        sync_folder(folder)
    except OSError as error:
        raise from_os_error(error, target) from error
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
    return target


def newest(folder: Path) -> Path | None:
    """The newest whole checkpoint; those that are cut short or changed are passed over."""
    return next((path for path in reversed(_all(folder)) if is_whole(path)), None)


def is_whole(path: Path) -> bool:
    """Whether a checkpoint's files are those that were written."""
    try:
        hashes = read_json(path / DONE)
        return set(hashes) == {WEIGHTS, REST, PLAIN} and all(
            sha256_file(path / name) == hash for name, hash in hashes.items()
        )
    except (OSError, ValueError, TypeError):
        return False


def read(path: Path) -> State:
    """The content of a whole checkpoint.

    Raises:
        KnownError: a file cannot be read.
    """
    try:
        return State(load_file(path / WEIGHTS), load_file(path / REST), read_json(path / PLAIN))
    except OSError as error:
        raise from_os_error(error, path) from error


def prune(folder: Path, keep: int) -> None:
    """Delete all checkpoints but the `keep` newest whole ones, and what killed writers left behind."""
    whole = 0
    for path in reversed(_all(folder)):
        whole += is_marked(path)
        if whole > keep or not is_marked(path):
            with contextlib.suppress(OSError):  # still read by another process: the next time takes it
                (path / DONE).unlink(missing_ok=True)  # first: a half-deleted one is no checkpoint
                shutil.rmtree(path)
    for left in folder.glob(f".step-*{TEMPORARY_SUFFIX}"):
        shutil.rmtree(left, ignore_errors=True)


def is_marked(path: Path) -> bool:
    return (path / DONE).is_file()


def _all(folder: Path) -> list[Path]:
    """By age."""
    found = [path for path in folder.glob("step-*") if _NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: [int(part) for part in path.name.split("-")[1:]])


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write safetensors.

    Raises:
        OSError: as of any file.
    """
    try:
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, path, _METADATA)
    except SafetensorError as error:
        raise _os_error(error) from error


def _free(folder: Path, step: int) -> Path:
    """A name that is not taken: nothing that was written is ever replaced."""
    name, again = f"step-{step:08d}", 0
    while (folder / (f"{name}-{again}" if again else name)).exists():
        again += 1
    return folder / (f"{name}-{again}" if again else name)


def _fill(folder: Path, state: State) -> None:
    for name, tensors in ((WEIGHTS, state.weights), (REST, state.rest)):
        save_tensors(tensors, folder / name)
    (folder / PLAIN).write_text(json.dumps(state.plain), encoding="utf-8")
    hashes = {name: sha256_file(folder / name) for name in (WEIGHTS, REST, PLAIN)}
    for name in hashes:
        _sync(folder / name)
    (folder / DONE).write_text(json.dumps(hashes), encoding="utf-8")
    _sync(folder / DONE)
    sync_folder(folder)


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _os_error(error: SafetensorError) -> OSError:
    """The library tells the system's error number in its text alone."""
    found = _OS_ERROR.search(str(error))
    number = int(found.group(1)) if found else errno.EIO
    return OSError(number, os.strerror(number))
