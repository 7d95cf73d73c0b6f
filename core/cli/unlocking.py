"""Passwords on the command line: typed unseen, or a line of standard input. Never an argument, which others can see."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path

from core.base.errors import KnownError
from core.base.types import IngestReport
from core.cli.output import progress

_LONGEST = 4096


def read_password() -> str:
    """One line of standard input, without its end.

    Raises:
        KnownError: there is none.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        password = getpass.getpass("Password: ")
    else:
        password = (sys.stdin.readline(_LONGEST) if sys.stdin is not None else "").rstrip("\r\n")
    if not password:
        raise KnownError("No password was given.", "Type it, or give it as a line of standard input.")
    return password


def unlock(library: Path, path: Path, *, remember: bool) -> IngestReport:
    """Read a locked file again, with a password that is asked for."""
    from core.worker.ingesting import unlock as run

    password = read_password()
    with progress() as line:
        return run(library, path, password, remember=remember, control=line.control, listener=line)
