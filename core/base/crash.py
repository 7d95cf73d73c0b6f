"""A crash log for native faults and unhandled errors, one file per process, without document text."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import time
from pathlib import Path
from typing import IO

from core.base.paths import logs

_KEEP = 20
_open_log: IO[str] | None = None


def enable(role: str, folder: Path | None = None) -> Path | None:
    """Send native faults of this process to `crash-ROLE-TIME-PID.log`. None when no file can be made."""
    global _open_log
    folder = folder or logs()
    path = folder / f"crash-{role}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _prune(folder)
        _open_log = path.open("w", encoding="utf-8")
    except OSError:
        faulthandler.enable()
        return None
    faulthandler.enable(_open_log)
    return path


def disable(path: Path | None) -> None:
    """End the log; an empty one is removed, so that what stays is a crash."""
    global _open_log
    faulthandler.disable()
    if _open_log is not None:
        _open_log.close()
        _open_log = None
    if path is not None:
        with contextlib.suppress(OSError):
            if path.stat().st_size == 0:
                path.unlink()


def _prune(folder: Path) -> None:
    found = sorted(folder.glob("crash-*.log"), key=lambda p: p.stat().st_mtime)
    for old in found[:-_KEEP]:
        with contextlib.suppress(OSError):
            old.unlink()
