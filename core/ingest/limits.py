"""How much reading one file may cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

Tick = Callable[[], None]  # called by a reader as a sign of life


def no_tick() -> None:
    """For whoever needs no sign of life."""


@runtime_checkable
class Steps(Protocol):
    """A tick that is also told of long steps of one file, such as a page read from its picture."""

    def __call__(self) -> None: ...

    def step(self, detail: str) -> None: ...


def step(tick: Tick, detail: str) -> None:
    """A long step is done; `detail` says which. It lengthens the time that the whole file may take."""
    if isinstance(tick, Steps):
        tick.step(detail)
    else:
        tick()


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps for one file, and how it is to be read. Time and memory are kept by the sandbox, the rest by readers."""

    seconds: float = 60.0  # without a sign of life; ten times that for one document, and once more for each long step
    memory_bytes: int = 1536 << 20  # address space of the reading child (POSIX)
    output_characters: int = 50_000_000
    file_bytes: int = 1 << 30
    inflated_bytes: int = 512 << 20  # what a packed file may unfold to
    members: int = 10_000  # files within a file
    nesting: int = 5  # files within files within files
    ocr: bool = True  # read text in pictures
    ocr_pages: int = 500  # pages of one file that are read from their picture
    ocr_seconds: float = 25.0  # spent on reading a file's pictures before its other pages are left for later
    password: str = field(default="", repr=False)  # in no log and no message
    spool: str = ""  # folder for unpacked files; the system's temporary folder when empty
    cache: str = ""  # folder in which what was read from this file's pictures is kept; nothing is kept when empty
