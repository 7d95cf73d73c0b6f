"""Encoders that were adapted to a library: bundles in its own folder `models/`, named after the one they came from.

They go with the library when it is copied, and when no generation names them any more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

from core.base.errors import KnownError, LibraryLocked
from core.base.files import FileLock
from core.models.bundles import CONFIG, discard

LOCK = "adapt.lock"  # in the library's folder; held from before an encoder is made until a generation names it
_MARK = "+"  # between the id of the encoder that it came from and the hash of its weights


def folder(library: Path) -> Path:
    """Where a library's own encoders lie."""
    return library / "models"


def name(base: str, hash: str) -> str:
    """The id of an encoder with weights of this hash that came from `base`, itself adapted or not."""
    return f"{origin(base)}{_MARK}{hash[:8]}"


def origin(id: str) -> str:
    """The installed encoder that an adapted one came from at first."""
    return id.partition(_MARK)[0]


def is_adapted(id: str) -> bool:
    return _MARK in id


def sweep(library: Path, named: Collection[str]) -> None:
    """Remove the library's own encoders that are not in `named`, unless one is being made just now."""
    unnamed = [
        path.parent for path in folder(library).glob(f"*{_MARK}*/{CONFIG}")
        if path.parent.name not in named and not path.parent.name.startswith(".")
    ]  # fmt: skip
    if not unnamed:
        return
    with contextlib.suppress(LibraryLocked, KnownError), FileLock(library / LOCK, "sweep"):
        for path in unnamed:
            with contextlib.suppress(OSError):  # e.g. still mapped by a reader: the next sweep takes it
                discard(path)
