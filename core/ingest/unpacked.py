"""Files within files, unpacked for a viewer and kept while it may come back to them."""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from pathlib import Path

from core.ingest.members import extract

_KEPT = 4

_Key = tuple[Path, int, int, str]


class Unpacked:
    """The last few unpacked files, in a temporary folder that ends with `close`. Use from one thread."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._files: OrderedDict[_Key, Path] = OrderedDict()

    def file(self, outer: Path, external_id: str) -> Path | None:
        """Where `external_id` of the file `outer` lies unpacked; None when it is not in there any more.

        Raises:
            OSError: `outer` cannot be read, or there is no room.
        """
        status = outer.stat()
        key = (outer, status.st_mtime_ns, status.st_size, external_id)
        if key not in self._files:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="whymatch-view-"))
            path = extract(outer, external_id, Path(tempfile.mkdtemp(dir=self._folder)))
            if path is None:
                return None
            self._files[key] = path
            if len(self._files) > _KEPT:
                _, oldest = self._files.popitem(last=False)
                shutil.rmtree(oldest.parent, ignore_errors=True)
        self._files.move_to_end(key)
        return self._files[key]

    def close(self) -> None:
        """Delete what was unpacked."""
        self._files.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
