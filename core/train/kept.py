"""Candidates and weights kept between the stages of a run, so that what was done is not done again after a kill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from safetensors.torch import load, save
from torch import Tensor

from core.base.files import atomic_file, read_json, write_json
from core.base.wire import from_plain, to_plain
from core.train.types import Candidates


def write_candidates(path: Path, candidates: Sequence[Candidates], key: str) -> None:
    """`key` tells what they were mined from. Whole or not at all. Raises DiskFull."""
    write_json(path, {"key": key, "candidates": [to_plain(one) for one in candidates]})


def read_candidates(path: Path, key: str) -> tuple[Candidates, ...] | None:
    """None where there are none, or were mined from something else."""
    try:
        told = read_json(path)
        if told["key"] != key:
            return None
        return tuple(from_plain(Candidates, one) for one in told["candidates"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def made_once(path: Path, key: str, make: Callable[[], tuple[Candidates, ...]]) -> tuple[Candidates, ...]:
    """What was made before a kill is taken again: an encoder that has gone on would find other passages.

    Raises DiskFull, and what `make` does.
    """
    there = read_candidates(path, key)
    if there is None:
        there = make()
        write_candidates(path, there, key)
    return there


def write_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Raises DiskFull."""
    with atomic_file(path) as file:
        file.write(save({name: tensor.contiguous() for name, tensor in weights.items()}))


def read_weights(path: Path) -> dict[str, Tensor]:
    """Raises OSError, ValueError."""
    return load(path.read_bytes())
