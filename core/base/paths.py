"""Where the app keeps its own things. `WHYMATCH_HOME` moves all of them to one folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def home() -> Path:
    """The app's data folder (models, settings, logs, the default library). Not created here."""
    chosen = os.environ.get("WHYMATCH_HOME")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local"))) / "Whymatch"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Whymatch"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "whymatch"


def models() -> Path:
    """Installed model bundles, one folder each."""
    return home() / "models"


def cache() -> Path:
    """What can be made again; may be deleted at any time."""
    return home() / "cache"


def logs() -> Path:
    return home() / "logs"


def default_library() -> Path:
    """The library the window opens when none was chosen."""
    return home() / "library"


def resources() -> Path:
    """The folder `resources/` that came with the app."""
    return Path(__file__).resolve().parents[2] / "resources"
