"""Folders that change by themselves: a resident child watches them, and what changed is read when nothing else is."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.call import Call
from app.engine.engine import Engine
from app.settings import Settings
from app.tasks.jobs import Jobs
from core.worker.protocol import WATCH

_AGAIN_MS = 60_000  # after the child died, or could not watch


class FolderWatch(QObject):
    """Follows the settings `watch` and `rescan_minutes`.

    `folders_changed(int)`: so many files changed; 0 for the regular look.
    """

    folders_changed = Signal(object)

    def __init__(self, engine: Engine, jobs: Jobs, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._jobs, self._settings = engine, jobs, settings
        self._call: Call | None = None
        self._due = False
        self._begin_anew = False
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(_AGAIN_MS)
        self._again.timeout.connect(self._apply)
        settings.changed.connect(self._setting)
        jobs.changed.connect(self._read)
        self._apply()

    @property
    def watching(self) -> bool:
        return self._call is not None

    def _setting(self, key: str) -> None:
        if key == "watch":
            self._apply()
        elif key == "rescan_minutes" and self._call is not None:
            self._begin_anew = True
            self._call.cancel()

    def _apply(self) -> None:
        wanted = bool(self._settings.get("watch"))
        if wanted and self._call is None:
            call = self._call = self._engine.call(
                WATCH, "watch", {"every": 60.0 * self._settings.get("rescan_minutes")}
            )
            call.partial.connect(self._heard)
            call.failed.connect(lambda error: self._ended())
            call.cancelled.connect(self._ended)
        elif not wanted and self._call is not None:
            self._call.cancel()

    def _heard(self, data: dict[str, Any]) -> None:
        self.folders_changed.emit(int(data["paths"]))
        self._due = True
        self._read()

    def _read(self) -> None:
        """What runs may have scanned before the change: wait for its end."""
        if self._due and self._jobs.running is None:
            self._due = False
            self._jobs.ingest([], quiet=True)

    def _ended(self) -> None:
        self._call = None
        if self._begin_anew:
            self._begin_anew = False
            self._apply()
        else:
            self._again.start()
