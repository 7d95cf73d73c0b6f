"""What several tests of the window share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

FAKE_ROLE = Path(__file__).with_name("fake_role.py")


def fake_command(*flags: str) -> Callable[[str, str], list[str]]:
    """A command maker for `Engine` that starts the fake role."""

    def command(role: str, library: str) -> list[str]:
        return [sys.executable, str(FAKE_ROLE), role, *flags]

    return command
