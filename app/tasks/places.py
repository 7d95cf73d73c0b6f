"""What became of the folders of a library, looked up on the disk: away from the window's thread, it may be slow."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from core.base.files import text_path

# where systems put drives that come and go
_DRIVES = ("/media/", "/run/media/", "/mnt/", "/Volumes/")


class RootState(StrEnum):
    HERE = "here"
    AWAY = "away"  # on a drive that is not connected
    MISSING = "missing"  # moved, renamed or deleted


def root_states(paths: Sequence[str]) -> dict[str, RootState]:
    return {path: root_state(path) for path in paths}


def root_state(path: str) -> RootState:
    place = text_path(path)
    if _exists(place):
        return RootState.HERE
    on_drive = path.startswith(_DRIVES) or (sys.platform == "win32" and not _exists(Path(place.anchor)))
    if on_drive or not _exists(place.parent):
        return RootState.AWAY
    return RootState.MISSING


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True
