"""Start of the command: the window when nothing is asked, exit codes, no traceback for a known error."""

from __future__ import annotations

import io
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from core.base.errors import Cancelled, KnownError

CANCELLED = 130  # what shells use for a program stopped by Ctrl+C


def main() -> None:
    """Exit code 0 done, 1 a known error, 2 wrong usage, 130 cancelled."""
    _prepare_streams()
    try:
        if len(sys.argv) == 1:
            _window()
            return
        from core.cli.commands import app

        app(prog_name="whymatch")
    except Cancelled:
        print("Cancelled.", file=sys.stderr)
        sys.exit(CANCELLED)
    except KeyboardInterrupt:
        sys.exit(CANCELLED)
    except KnownError as error:
        _fail(error)
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except (OSError, sqlite3.Error) as error:
        from core.store.database import explained

        known = explained(error)
        if known is None:
            raise
        _fail(known)


def _fail(error: KnownError) -> NoReturn:
    print(f"{error.message} {error.advice}".strip(), file=sys.stderr)
    sys.exit(1)


def _prepare_streams() -> None:
    """A stream that is closed takes what it is given; one of few characters shows "?" for the others."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (kept open to the end)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _window() -> None:
    """The window is a process of its own kind: it shares nothing with the engine but types."""
    displays = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in displays):
        raise KnownError("There is no display to open a window on.", "See `whymatch --help` for the commands.")
    line = [sys.executable, "-m", "app.main"]
    if sys.platform == "win32":
        sys.exit(subprocess.call(line))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(sys.executable, line)
