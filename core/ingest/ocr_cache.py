"""What was read from pictures, kept on disk by the picture's content: one small file a picture."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from core.base.errors import KnownError
from core.base.files import TEMPORARY_SUFFIX, atomic_file

_SUFFIX = ".json"
_CLOCK_STEP = 2.0  # seconds: times of files are coarse on some file systems


class Cache:
    """The folder of one file. What cannot be written or read is as good as not kept: the picture is read again."""

    def __init__(self, folder: str, version: str) -> None:
        self._folder = Path(folder)
        self._version = version

    def get(self, pixels: np.ndarray) -> list[list[Any]] | None:
        path = self._path(pixels)
        try:
            found: list[list[Any]] = json.loads(path.read_text(encoding="utf-8"))
            os.utime(path)  # it is still in use: see `sweep`
        except (OSError, ValueError):
            return None
        return found

    def put(self, pixels: np.ndarray, lines: list[list[object]]) -> None:
        with contextlib.suppress(OSError, KnownError), atomic_file(self._path(pixels)) as file:
            file.write(json.dumps(lines, ensure_ascii=False).encode())

    def _path(self, pixels: np.ndarray) -> Path:
        digest = hashlib.sha256(f"{self._version} {pixels.shape}\n".encode())
        digest.update(np.ascontiguousarray(pixels).data)
        return self._folder / (digest.hexdigest() + _SUFFIX)


def sweep(folder: str, begun: float) -> None:
    """Delete what a reading of the whole file that began at `begun` (seconds since 1970) had no use for.

    So the text of a page that is gone does not linger. A folder that ends up empty goes too.
    """
    with contextlib.suppress(OSError):
        for path in Path(folder).iterdir():
            if path.name.endswith((_SUFFIX, TEMPORARY_SUFFIX)) and path.stat().st_mtime < begun - _CLOCK_STEP:
                path.unlink()
        if not any(Path(folder).iterdir()):
            Path(folder).rmdir()
