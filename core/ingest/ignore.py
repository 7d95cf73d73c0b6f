"""What scans pass by: defaults, a library's own patterns, and `.whymatchignore` files among the documents.

The files have the syntax of `.gitignore` and count for their folder and all below; the deepest one that says
something of a path decides, so that `!name` takes back what a folder above, or the defaults, ignore.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

IGNORE_FILE = ".whymatchignore"
FOLDERS = (
    "node_modules", "__pycache__", "$RECYCLE.BIN", "System Volume Information", "lost+found", "@eaDir", "#recycle",
    ".*",
)  # fmt: skip
FILES = (
    "~$*", ".*", "*~", "*.part", "*.partial", "*.filepart", "*.crdownload", "*.download", "*.aria2", "*.!qB", "*.tmp",
    "*.temp", "*.swp", "Thumbs.db", "desktop.ini",
)  # fmt: skip


def _compiled(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(p) for p in patterns))


_FOLDERS, _FILES = _compiled(FOLDERS), _compiled(FILES)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules in force in one folder. `specs` are (length of the folder's path with its separator, patterns)."""

    specs: tuple[tuple[int, GitIgnoreSpec], ...] = ()

    def ignores(self, path: str, name: str, *, is_folder: bool) -> bool:
        """`path` is whole, and ends with `name`."""
        for start, spec in reversed(self.specs):
            relative = path[start:].replace("\\", "/") + ("/" if is_folder else "")
            decided = spec.check_file(relative).include
            if decided is not None:
                return decided
        return (_FOLDERS if is_folder else _FILES).match(name) is not None

    def below(self, folder: str, text: str) -> Rules:
        """With the patterns in `text` added, which count from `folder` on."""
        spec = GitIgnoreSpec.from_lines(text.splitlines())
        if not len(spec):
            return self
        return Rules((*self.specs, (len(folder.rstrip("/\\")) + 1, spec)))
