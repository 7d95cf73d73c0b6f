"""Every operation without a window. `main` is the command `whymatch`."""

from core.cli.run import main

__all__ = ["main"]
