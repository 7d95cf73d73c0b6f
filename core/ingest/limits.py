"""How much reading one file may cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Tick = Callable[[], None]  # called by a reader as a sign of life


def no_tick() -> None:
    """For whoever needs no sign of life."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps for one file. Time and memory are kept by the sandbox, the others by the readers."""

    seconds: float = 60.0  # without a sign of life; ten times that for one document in all
    memory_bytes: int = 1536 << 20  # address space of the reading child (POSIX)
    output_characters: int = 50_000_000
    file_bytes: int = 1 << 30
    inflated_bytes: int = 512 << 20  # what a packed file may unfold to
