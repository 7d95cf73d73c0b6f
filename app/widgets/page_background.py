"""A thread beside the window for what would block it: reading a stored document, decoding a picture."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from PySide6.QtCore import QObject, Signal, Slot

Hear = Callable[[object], None]


class Background(QObject):
    """Runs functions one after the other; what each returns (or raises) is heard on the window's thread."""

    _done = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")
        self._done.connect(self._tell)

    def run(self, work: Callable[[], object], hear: Hear) -> None:
        """Call `hear` with what `work` returns, or with the exception that it raises."""
        self._pool.submit(self._work, work, hear)

    def _work(self, work: Callable[[], object], hear: Hear) -> None:
        try:
            value = work()
        except Exception as error:
            value = error
        with contextlib.suppress(RuntimeError):  # the window is gone: nobody hears it
            self._done.emit(hear, value)

    @Slot(object, object)
    def _tell(self, hear: Hear, value: object) -> None:
        hear(value)
