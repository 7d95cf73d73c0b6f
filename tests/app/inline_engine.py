"""An engine without processes: what a role answers comes from the next turn of the event loop.

For tests of what pages show; how processes start, die and are cancelled is tested with the real engine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from concept_role import FAILED, ConceptRole
from PySide6.QtCore import QObject, QTimer, Signal

from app.engine import decode
from app.engine.call import Call
from core.base.events import Control
from core.base.wire import to_plain


class InlineRole(ConceptRole):
    """The role without streams; what it says goes to the call at work."""

    def __init__(self, folder: str, engine: InlineEngine) -> None:
        self.folder, self._engine = folder, engine

    def say(self, number: int, event: str, data: Any = None) -> None:
        self._engine.hear(event, data)


class InlineEngine(QObject):
    """What pages use of `app.engine.engine.Engine`. With `broken` set, every call fails."""

    changed = Signal(object)
    notice = Signal(str)
    role_state = Signal(str, str)

    def __init__(self, library: Path) -> None:
        super().__init__()
        self.broken = False
        self._role = InlineRole(str(library), self)
        self._at_work: Call | None = None

    def call(self, role: str, op: str, args: dict[str, Any] | None = None) -> Call:
        call = Call(role, op, lambda made, what: made.end_cancelled() if what == "cancel" else None, self)
        QTimer.singleShot(0, call, lambda: self._answer(call, to_plain(args or {})))
        return call

    def prepare(self, role: str) -> None:
        """Nothing has to start."""

    def close(self) -> None:
        """Nothing has to end."""

    def hear(self, event: str, data: Any) -> None:
        if event == "changed":
            self.changed.emit(decode.changed(data))
        elif event == "progress" and self._at_work is not None:
            self._at_work.tell_progress(decode.progress(data))

    def _answer(self, call: Call, args: dict[str, Any]) -> None:
        if call.done:
            return
        if self.broken:
            call.end_failed(decode.error(FAILED))
            return
        self._at_work = call
        answer = to_plain(getattr(self._role, call.op)(0, Control(), **args))
        call.end_result(decode.result(call.role, call.op, answer))
