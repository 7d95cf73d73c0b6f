"""How fast language models were on this machine, kept beside them: never taken over from elsewhere."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.base.files import read_json, write_json
from core.base.paths import models


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second: of a prompt that is read, and of an answer that is written."""

    read: float
    write: float


def known() -> dict[str, Speed]:
    """Id -> speed of the models that were measured. What cannot be read counts as not measured."""
    try:
        value = read_json(_path())
    except (OSError, ValueError):
        return {}
    entries = value.items() if isinstance(value, dict) else ()
    return {id: speed for id, entry in entries if (speed := _speed(entry)) is not None}


def remember(id: str, speed: Speed) -> None:
    """Raises KnownError when the disk is full or there is no permission."""
    _write({**known(), id: speed})


def forget(id: str) -> None:
    left = known()
    if left.pop(id, None) is not None:
        _write(left)


def _write(speeds: dict[str, Speed]) -> None:
    write_json(_path(), {id: asdict(speed) for id, speed in sorted(speeds.items())})


def _path() -> Path:
    return models() / "speeds.json"


def _speed(entry: Any) -> Speed | None:
    try:
        speed = Speed(float(entry["read"]), float(entry["write"]))
    except (TypeError, KeyError, ValueError, OverflowError):
        return None
    return speed if math.isfinite(speed.read) and math.isfinite(speed.write) else None
