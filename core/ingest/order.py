"""In which order files are read, so that the first results come in seconds.

What was just added comes before the rest, small folders before huge ones, small and recently changed files before
the others. Files that are being written right now come late, and one that may have ended a job comes last.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from core.ingest.scan import FoundFile
from core.store.documents import is_under

_SIZES = (64 << 10, 1 << 20, 16 << 20)  # classes of size, within which the newest come first


def in_order(
    files: Sequence[FoundFile], added: Sequence[str], sizes: Mapping[int, int], *, settle: float, suspect: str = ""
) -> list[FoundFile]:
    """`added` are the paths asked for, the first ones first; `sizes` the files of each root; `suspect` a path."""
    now = time.time()

    def key(file: FoundFile) -> tuple[bool, bool, int, int, int, int, str]:
        suspected = file.text == suspect or file.strikes > 0
        fresh = 0 <= now - file.mtime_ns / 1e9 < settle
        rank = next((i for i, path in enumerate(added) if is_under(file.text, path)), len(added))
        size = sum(file.size > limit for limit in _SIZES)
        return suspected, fresh, rank, sizes.get(file.root_id, 0), size, -file.mtime_ns, file.text

    return sorted(files, key=key)


def is_first(file: FoundFile, added: Sequence[str]) -> bool:
    """Whether the file belongs to what was just added."""
    return any(is_under(file.text, path) for path in added)
