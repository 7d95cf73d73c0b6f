"""What was read from pictures, kept on disk by the picture's content: one small file a picture."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from core.base.files import TEMPORARY_SUFFIX, atomic_file

_SUFFIX = ".json"


class Cache:
    """The folder of one document. `sweep` deletes what was not asked for, so that no old page's text lingers.

    What cannot be written or read is as good as not kept: the picture is read again.
    """

    def __init__(self, folder: str, version: str) -> None:
        self._folder = Path(folder)
        self._version = version
        self._used: set[str] = set()

    def get(self, pixels: np.ndarray) -> list[list[Any]] | None:
        path = self._path(pixels)
        try:
            found: list[list[Any]] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found

    def put(self, pixels: np.ndarray, lines: list[list[object]]) -> None:
        with contextlib.suppress(OSError), atomic_file(self._path(pixels)) as file:
            file.write(json.dumps(lines, ensure_ascii=False).encode())

    def sweep(self) -> None:
        """Delete the files of pictures that were not asked for since the start, and the folder when it is empty."""
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                if path.name.endswith((_SUFFIX, TEMPORARY_SUFFIX)) and path.name not in self._used:
                    path.unlink()
            if not self._used:
                self._folder.rmdir()

    def _path(self, pixels: np.ndarray) -> Path:
        digest = hashlib.sha256(f"{self._version} {pixels.shape}\n".encode())
        digest.update(np.ascontiguousarray(pixels).data)
        name = digest.hexdigest() + _SUFFIX
        self._used.add(name)
        return self._folder / name
