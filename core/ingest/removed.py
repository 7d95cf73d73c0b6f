"""What is removed from a library beside the run that reads it: known to the reading side without a look at the disk."""

from __future__ import annotations

from sqlite_utils import Database

from core.ingest.scan import FoundFile
from core.store import documents


class Removed:
    """`look` is called by the thread that owns the connection, `wanted` by any thread.

    What `wanted` says may be a moment old: whoever stores a file asks the database.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._version = -1
        self._state: tuple[frozenset[int], tuple[str, ...]] | None = None

    def look(self) -> None:
        """Learn of removals by other processes; cheap when nothing was written."""
        version = int(self._db.execute("PRAGMA data_version").fetchone()[0])
        if version != self._version:
            self._version = version
            roots = frozenset(root.id for root in documents.roots(self._db))
            self._state = roots, tuple(documents.excluded(self._db))

    def wanted(self, file: FoundFile) -> bool:
        state = self._state
        if state is None:
            return True
        roots, excluded = state
        return file.root_id in roots and not any(documents.is_under(file.text, gone) for gone in excluded)
