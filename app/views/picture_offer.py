"""When text recognition is switched on, what could not be read without it is offered to be read."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.context import Context
from app.errors import Message
from app.i18n import plural, tr
from core.base.types import DocumentState

_PAGED = ("application/pdf", "image/")


class PictureOffer(QObject):
    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        context.settings.changed.connect(self._changed)

    def _changed(self, key: str) -> None:
        if key != "ocr" or not self._context.settings.get("ocr"):
            return
        paths = self._unread()
        if not paths:
            return
        text = plural(
            len(paths), "{n} file with pages that are pictures can be read now.",
            "{n} files with pages that are pictures can be read now.",
        )  # fmt: skip
        jobs = self._context.jobs
        self._context.notifications.message(
            Message(text, action=tr("Read them"), on_action=lambda: jobs.again(paths), tone="info")
        )

    def _unread(self) -> list[str]:
        """Files read without text recognition: scans, and documents of which pages are missing."""
        found = self._context.library.documents(states=[DocumentState.SCANNED, DocumentState.TRUNCATED])
        wanted = [d.path for d in found if d.state is DocumentState.SCANNED or d.media_type.startswith(_PAGED)]
        return list(dict.fromkeys(wanted))
