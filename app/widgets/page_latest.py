"""One question at a time to a child: a newer call cancels the older, and only the newest is heard."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal, SignalInstance

from app.engine.call import Call
from app.engine.engine import Engine


class Latest(QObject):
    """Signals carry what the newest call sent; those of superseded calls are never heard."""

    partial = Signal(object)
    result = Signal(object)
    failed = Signal(object)
    cancelled = Signal()

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._call: Call | None = None

    @property
    def busy(self) -> bool:
        return self._call is not None

    def start(self, role: str, op: str, args: dict[str, Any]) -> None:
        self.drop()
        call = self._engine.call(role, op, args)
        self._call = call
        call.partial.connect(lambda value: self._hear(call, self.partial, value))
        call.result.connect(lambda value: self._end(call, self.result, value))
        call.failed.connect(lambda error: self._end(call, self.failed, error))
        call.cancelled.connect(lambda: self._end(call, self.cancelled))

    def drop(self) -> None:
        """Cancel the running call and hear nothing of it any more."""
        call, self._call = self._call, None
        if call is not None:
            call.cancel()

    def _hear(self, call: Call, signal: SignalInstance, value: object) -> None:
        if call is self._call:
            signal.emit(value)

    def _end(self, call: Call, signal: SignalInstance, *values: object) -> None:
        if call is self._call:
            self._call = None
            signal.emit(*values)
