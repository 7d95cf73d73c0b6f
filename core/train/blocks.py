"""Vectors of many texts by an encoder in training, kept a block at a time: what was encoded before a stop is not again.

A block is a file named after a hash of the weights and of its texts. Files of other weights or texts are deleted when
a new encoding begins in the same folder.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from core.base.events import Listener, Progress, ignore
from core.base.files import atomic_file
from core.train.record import data_hash

Vectors = npt.NDArray[np.float32]
BLOCK = 1000  # texts
FOLDER = "vectors"
_SUFFIX = ".npy"

Text = TypeVar("Text")  # a text, or its token ids


@dataclass(frozen=True, slots=True)
class Keep:
    """Where blocks are kept: a `folder` of this encoding alone. `key` names the weights and what else the vectors
    depend on; `listener` hears of every block as progress of `stage`."""

    folder: Path
    key: str
    stage: str = ""
    listener: Listener = ignore


def encoded(texts: Sequence[Text], encode: Callable[[Sequence[Text]], Vectors], keep: Keep | None = None) -> Vectors:
    """Vectors [N, D] of all texts; without `keep` they are encoded at once.

    Raises:
        DiskFull, and what `encode` does.
    """
    if keep is None or not texts:
        return encode(texts)
    parts = [texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK)]
    paths = [keep.folder / f"{number:06d}-{_name(part, keep.key)}{_SUFFIX}" for number, part in enumerate(parts)]
    _clear(keep.folder, {path.name for path in paths})
    return np.concatenate(
        [
            _block(path, part, encode, keep, Progress(keep.stage, number * BLOCK, len(texts)))
            for number, (path, part) in enumerate(zip(paths, parts, strict=True))
        ]
    )


def _block(
    path: Path, part: Sequence[Text], encode: Callable[[Sequence[Text]], Vectors], keep: Keep, progress: Progress
) -> Vectors:
    keep.listener(progress)
    with contextlib.suppress(OSError, ValueError, EOFError):  # there is none, or it is no whole one
        found: Vectors = np.load(path, allow_pickle=False)
        if found.ndim == 2 and len(found) == len(part):
            return found
    made = encode(part)
    with atomic_file(path) as file:
        np.save(file, made, allow_pickle=False)
    return made


def _name(part: Sequence[Any], key: str) -> str:
    return data_hash([key, *(text if isinstance(text, str) else repr(tuple(text)) for text in part)])


def _clear(folder: Path, wanted: set[str]) -> None:
    for path in folder.glob("*"):
        if path.name not in wanted and not path.is_dir():
            path.unlink(missing_ok=True)
