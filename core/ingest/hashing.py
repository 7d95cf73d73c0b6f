"""The hash of a file's content, and what tells that the file stood still meanwhile."""

from __future__ import annotations

import hashlib
from pathlib import Path

from core.base.events import Control

_CHUNK = 1 << 20


def content_hash(path: Path, control: Control) -> str:
    """Hex sha256 of the file's bytes.

    Raises:
        OSError, Cancelled
    """
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            control.check()
            digest.update(chunk)
    return digest.hexdigest()


def stamp(path: Path) -> tuple[int, int]:
    """Size and time of last change. Raises OSError."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns
