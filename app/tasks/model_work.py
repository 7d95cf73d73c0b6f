"""What is asked of the `models` child. An addition goes on when the sheet that showed it is closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.engine.call import Call
from app.engine.engine import Engine
from app.errors import Message, Notifications
from app.i18n import tr
from app.models.model_entries import EndpointRow, ModelRow, Needs, endpoint, needs, offered, rows
from core.base.events import Progress
from core.worker.protocol import MODELS


class ModelWork(QObject):
    """The list of models and the one addition at work.

    `changed()`: the list, or what runs, is another. `looked(Needs)`: what a model takes. `offered(Offered)`: what an
    endpoint has. `progress(Progress)` of the
    addition. `failed(error)`: an operation failed; `watched` says that somebody shows that, else it becomes a message
    of the window.
    """

    changed = Signal()
    looked = Signal(object)
    offered = Signal(object)
    progress = Signal(object)
    failed = Signal(object)

    def __init__(self, engine: Engine, notifications: Notifications, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._notifications = engine, notifications
        self._call: Call | None = None
        self.models: list[ModelRow] | None = None  # None until the first list came
        self.library_encoder = ""
        self.endpoint: EndpointRow | None = None  # another program that may write the answers
        self.memory = 0  # bytes of this computer
        self.adding = ""  # id of the model that is being added or renewed
        self.fetches = True  # whether that begins with the hub
        self.last_progress: Progress | None = None
        self.watched = False

    @property
    def busy(self) -> bool:
        return self._call is not None

    @property
    def cancelling(self) -> bool:
        return self._call is not None and self._call.cancelling

    def refresh(self) -> None:
        self._ask("list", {})

    def use(self, id: str) -> None:
        self._ask("use", {"id": id})

    def remove(self, id: str) -> None:
        self._ask("remove", {"id": id})

    def look(self, spec: str) -> None:
        """Ask what a model takes, told by `looked`; nothing is fetched yet."""
        self._ask("needs", {"spec": spec}, lambda data: self.looked.emit(needs(data)))

    def measure(self, id: str) -> None:
        """How fast a language model is on this computer."""
        self._ask("measure", {"id": id})

    def look_at_endpoint(self, url: str, *, anywhere: bool) -> None:
        """Ask another program for its models, told by `offered`; nothing else is sent."""
        arguments = {"url": url, "anywhere": anywhere}
        self._ask("endpoint_look", arguments, lambda data: self.offered.emit(offered(data)))

    def use_endpoint(self, wanted: EndpointRow) -> None:
        """Keep it, switched on or off as it says."""
        arguments = {"url": wanted.url, "model": wanted.model, "in_use": wanted.in_use, "anywhere": wanted.anywhere,
                     "context": wanted.context}  # fmt: skip
        self._ask("endpoint_use", arguments)

    def forget_endpoint(self) -> None:
        self._ask("endpoint_forget", {})

    def add(self, wanted: Needs) -> None:
        self.adding, self.fetches = wanted.id, True
        added = tr("{name} was added.", name=wanted.id)
        self._ask("add", {"spec": wanted.spec}, lambda data: self._added(added, data))

    def renew(self, id: str) -> None:
        """Make an encoder of an older version ready again; nothing is fetched."""
        if self.busy:
            return
        self.adding, self.fetches = id, False
        self._ask("renew", {"id": id}, lambda data: self._added(tr("{name} was renewed.", name=id), data))

    def cancel(self) -> None:
        if self._call is not None:
            self._call.cancel()
            self.changed.emit()

    def _ask(self, op: str, args: dict[str, Any], then: Callable[[Any], object] | None = None) -> None:
        """One operation at a time: the sheet offers no other while one runs."""
        if self._call is not None:
            return
        call = self._call = self._engine.call(MODELS, op, args)
        call.progress.connect(self._progressed)
        call.result.connect(lambda data: self._end(lambda: (then or self._listed)(data)))
        call.failed.connect(lambda error: self._end(lambda: self._fail(error)))
        call.cancelled.connect(lambda: self._end(self.refresh if op == "add" else lambda: None))
        self.changed.emit()

    def _end(self, tell: Callable[[], object]) -> None:
        self._call = self.last_progress = None
        self.adding = ""
        tell()
        self.changed.emit()

    def _listed(self, data: Any) -> None:
        self.models, self.library_encoder = rows(data), str(data["library_encoder"])
        self.endpoint, self.memory = endpoint(data), int(data.get("memory", 0))

    def _added(self, words: str, data: Any) -> None:
        self._listed(data)
        self._notifications.message(Message(words, tone="success"))

    def _fail(self, error: Any) -> None:
        if self.watched:
            self.failed.emit(error)
        else:
            self._notifications.error(error)

    def _progressed(self, value: Progress) -> None:
        self.last_progress = value
        self.progress.emit(value)
