"""What scans pass by: defaults, a library's own patterns, and `.whymatchignore` files among the documents.

The files have the syntax of `.gitignore` and count for their folder and all below; the deepest one that says
something of a path decides, so that `!name` takes back what a folder above, or the defaults, ignore.
"""

from __future__ import annotations

import codecs
import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

IGNORE_FILE = ".whymatchignore"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
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


def rules_text(data: bytes) -> str:
    """The text of an ignore file; some editors begin it with a mark or write two bytes a character.

    Raises:
        ValueError: it is no text.
    """
    text = data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig", "replace")
    if "\0" in text:
        raise ValueError("the file is no text")
    return text


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
