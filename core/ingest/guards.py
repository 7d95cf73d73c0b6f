"""What keeps a long run from harming the machine: room on the disk, the battery, the priority of its process."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from core.base.errors import DiskFull
from core.base.events import Control

LEAST_FREE = 200 << 20  # bytes
_LOOK_SECONDS = 2.0
_BATTERY_SECONDS = 10.0
_NICE = 10


def lower_priority() -> None:
    """Let everything that the person does go first; children of this process inherit it."""
    if sys.platform == "win32":
        import psutil

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(_NICE)


class DiskGuard:
    """Stops work before the disk of a library is full, while there is still room to end in good order."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self._next = 0.0

    def look(self) -> None:
        """As `need` with little in mind, at most every two seconds."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _LOOK_SECONDS
            self.need(0)

    def need(self, size: int) -> None:
        """
        Raises:
            DiskFull: less than `size` bytes, or less than 200 MB, are free.
        """
        needed = max(size, LEAST_FREE)
        free = shutil.disk_usage(self._library).free
        if free < needed:
            raise DiskFull(
                f"Only {free >> 20:,} MB are free on the disk with the library; going on takes {needed >> 20:,} MB.",
                "Free some space, then try again. What was read until now is kept.",
            )


def on_battery() -> bool:
    """Whether this machine has a battery and runs on it now."""
    import psutil

    state = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return state is not None and state.power_plugged is False


class BatteryGuard:
    """Holds work up while the machine runs on its battery."""

    def __init__(self, control: Control, told: Callable[[], None], *, look: Callable[[], bool] = on_battery) -> None:
        """`told` is called again and again while the work waits."""
        self._control, self._told, self._look = control, told, look
        self._next = 0.0

    def wait(self) -> None:
        """Return once the machine is plugged in, or when other work is to go first. Raises Cancelled."""
        while self._due() and self._look():
            until = time.monotonic() + _BATTERY_SECONDS
            while time.monotonic() < until and not self._control.giving_way:
                self._told()
                self._control.check()
                time.sleep(0.2)
            if self._control.giving_way:
                return
            self._next = 0.0

    def _due(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _BATTERY_SECONDS
        return True
