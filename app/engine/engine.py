"""All child processes of the window: which run, what they were asked, how they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from app.engine import decode
from app.engine.call import Call
from app.engine.child import Child
from app.engine.outcome import Outcome, Restarts
from app.errors import Bug
from core.base.wire import to_plain
from core.worker import protocol
from core.worker.protocol import Reply, Request

GRACE_MS = {protocol.ANSWER: 3000, protocol.JOB: 3000, protocol.MODELS: 3000}
RESIDENT_GRACE_MS = 10_000  # a search that was overtaken by the next letter is no reason to end the whole child
IDLE_MS = {protocol.ANSWER: 5 * 60_000, protocol.MODELS: 60_000}  # what they hold is large: give the memory back
CLOSE_SECONDS = (1.5, 1.0, 1.0)  # after closing inputs, after terminate, after kill


class Engine(QObject):
    """Runs operations of `core.worker.protocol` in child processes.

    `search`, `answer` and `view` stay and are started by their first call; each call of `job` has its own child.

    `changed(Changed)`: the library has a new state to be read. `notice(str)`: worth knowing, work goes on.
    `role_state(role, state)`: state is "starting", "ready", "restarting", "stopped" (it died too often) or "off".
    """

    changed = Signal(object)
    notice = Signal(str)
    role_state = Signal(str, str)

    def __init__(
        self,
        library: str,
        command: Callable[[str, str], Sequence[str]] = protocol.command,
        parent: QObject | None = None,
    ) -> None:
        # owned by the application: Python must not destroy it while events of its children are on their way
        super().__init__(parent or QCoreApplication.instance())
        self.library = library
        self._command = command
        self._residents: dict[str, Child] = {}
        self._children: list[Child] = []
        self._calls: dict[int, Call] = {}
        self._owners: dict[int, Child] = {}
        self._requests: dict[int, Request] = {}
        self._restarts: dict[str, Restarts] = {}
        self._ladders: dict[int, QTimer] = {}
        self._idle: dict[str, QTimer] = {}
        self._idle_ms: dict[str, int] = {}  # where the person chose another time than IDLE_MS
        self._next = 1
        self._closed = False

    def call(self, role: str, op: str, args: dict[str, Any] | None = None) -> Call:
        """Start an operation. `args` may hold the frozen types of `core.base`; they are made plain here."""
        number, self._next = self._next, self._next + 1
        call = Call(role, op, lambda made, what: self._control(number, made, what), self)
        self._ask(call, Request(number, op, to_plain(args or {})))
        return call

    def prepare(self, role: str) -> None:
        """Start a resident role ahead of its first call."""
        self._child(role)

    def set_idle(self, role: str, milliseconds: int) -> None:
        """How long a role may rest before its child is ended; from now on also for one that rests already."""
        self._idle_ms[role] = milliseconds
        if role in self._idle:
            self._idle[role].setInterval(milliseconds)

    def state(self, role: str) -> str:
        child = self._residents.get(role)
        if child is None:
            return "off" if self._limit(role).allowed else "stopped"
        return "ready" if child.ready else "starting"

    def in_flight(self, role: str) -> int:
        return sum(1 for call in self._calls.values() if call.role == role and not call.done)

    def pids(self) -> list[int]:
        """Processes that run now."""
        return [child.pid for child in self._children if child.pid]

    def close(self) -> None:
        """End all children: close their inputs, wait shortly, terminate, kill. Calls end as cancelled."""
        self._closed = True
        for timer in (*self._ladders.values(), *self._idle.values()):
            timer.stop()
        children = list(self._children)
        for child in children:
            child.end()
        for seconds, how in zip(CLOSE_SECONDS, ("terminate", "kill", ""), strict=True):
            until = monotonic() + seconds
            children = [c for c in children if not c.wait_end(max(1, int((until - monotonic()) * 1000)))]
            if how:
                for child in children:
                    child.end_now(how)
        for call in list(self._calls.values()):
            call.end_cancelled()
        self._calls.clear()

    # children

    def _ask(self, call: Call, request: Request) -> None:
        self._calls[request.id] = call
        child = self._child(call.role)
        if child is None:
            self._later(lambda: self._refuse(request.id))
            return
        self._owners[request.id], self._requests[request.id] = child, request
        child.send(request)
        self._rest_idle(call.role)

    def _child(self, role: str) -> Child | None:
        """The child to ask; None when the role died too often of late, or the engine is closed."""
        if role in self._residents:
            return self._residents[role]
        if self._closed or not self._limit(role).allowed:
            return None
        child = Child(role, self._command(role, self.library), self)
        child.replied.connect(lambda reply: self._replied(child, reply))
        child.ended.connect(lambda outcome: self._ended(child, outcome))
        self._children.append(child)
        if role != protocol.JOB:
            self._residents[role] = child
        self.role_state.emit(role, "starting")
        child.start()
        return child

    def _limit(self, role: str) -> Restarts:
        return self._restarts.setdefault(role, Restarts(limit=1_000_000) if role == protocol.JOB else Restarts())

    def _ended(self, child: Child, outcome: Outcome) -> None:
        self._children.remove(child)
        self._retire(child)
        orphans = [number for number, owner in self._owners.items() if owner is child]
        expected = child.ending or any(self._calls[n].cancelling for n in orphans if n in self._calls)
        if not expected:
            self._limit(child.role).died()
        for number in orphans:
            self._orphan(number, outcome, expected)
        child.deleteLater()
        self._tell_end(child.role, expected)

    def _tell_end(self, role: str, expected: bool) -> None:
        if role == protocol.JOB or expected:
            self.role_state.emit(role, "off")
        elif self._limit(role).allowed:
            self.role_state.emit(role, "restarting")
            self._later(lambda: self.prepare(role))
        else:
            self.role_state.emit(role, "stopped")

    def _retire(self, child: Child) -> None:
        """No new calls for this child; the next one starts another."""
        if self._residents.get(child.role) is child:
            del self._residents[child.role]

    def _orphan(self, number: int, outcome: Outcome, expected: bool) -> None:
        """A call whose child is gone. One that only shared the child with a stopped call is asked again."""
        request, call = self._requests.get(number), self._forget(number)
        if call is None:
            return
        if call.cancelling or self._closed:
            call.end_cancelled()
        elif expected and request is not None and outcome.role != protocol.JOB:
            self._ask(call, request)
        else:
            call.end_failed(outcome.error(will_restart=self._limit(outcome.role).allowed))

    def _refuse(self, number: int) -> None:
        call = self._forget(number)
        if call is not None:
            call.end_failed(Outcome(call.role, 0, False, failed_to_start=True).error(will_restart=False))

    # replies

    def _replied(self, child: Child, reply: Reply) -> None:
        if reply.event == "ready" and reply.id == 0:
            self.role_state.emit(child.role, "ready")
            return
        if reply.event == "changed":
            self.changed.emit(decode.changed(reply.data))
            return
        call = self._calls.get(reply.id)
        if reply.event == "notice" and call is None:
            self.notice.emit(str(reply.data["text"]))
        if call is None:
            return
        if reply.last:
            self._finish(child, reply, call)
        elif reply.event == "progress":
            call.tell_progress(decode.progress(reply.data))
        elif reply.event == "curve":
            call.curve.emit(decode.curve(reply.data))
        elif reply.event == "partial":
            call.partial.emit(decode.partial(reply.data))
        elif reply.event == "notice":
            call.notice.emit(str(reply.data["text"]))
            self.notice.emit(str(reply.data["text"]))

    def _finish(self, child: Child, reply: Reply, call: Call) -> None:
        self._forget(reply.id)
        if child.role == protocol.JOB:
            child.end()
            self._insist(child)
        self._rest_idle(child.role)
        match reply.event:
            case "cancelled":
                call.end_cancelled()
            case "error":
                call.end_failed(decode.error(reply.data))
            case "bug":
                call.end_failed(decode.bug(reply.data))
            case _:
                self._limit(child.role).worked()
                self._finish_result(reply, call)

    def _finish_result(self, reply: Reply, call: Call) -> None:
        try:
            value = decode.result(call.role, call.op, reply.data)
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            call.end_failed(Bug(f"A result of {call.role}.{call.op} could not be understood.", repr(error)))
        else:
            call.end_result(value)

    def _forget(self, number: int) -> Call | None:
        self._owners.pop(number, None)
        self._requests.pop(number, None)
        ladder = self._ladders.pop(number, None)
        if ladder is not None:
            ladder.stop()
            ladder.deleteLater()
        return self._calls.pop(number, None)

    # the cancel ladder

    def _control(self, number: int, call: Call, what: str) -> None:
        child = self._owners.get(number)
        if child is None:
            return
        if what == "cancel" and child.withdraw(number):
            self._withdrawn(number, child)
            return
        child.send(Request(number, what))
        if what == "cancel":
            grace = GRACE_MS.get(call.role, RESIDENT_GRACE_MS)
            self._ladders[number] = self._timer(grace, lambda: self._terminate(child))

    def _terminate(self, child: Child) -> None:
        self._retire(child)
        child.terminate()

    def _withdrawn(self, number: int, child: Child) -> None:
        """It never reached the child, so there is nothing to wait for."""
        call = self._forget(number)
        if child.role == protocol.JOB:
            child.end()
            child.terminate()
        if call is not None:
            call.end_cancelled()

    def _insist(self, child: Child) -> None:
        """A job that is done and does not go is ended."""
        timer = self._timer(GRACE_MS[protocol.JOB], child.terminate)
        child.ended.connect(lambda _: (timer.stop(), timer.deleteLater()))

    def _rest_idle(self, role: str) -> None:
        if role not in IDLE_MS:
            return
        if role not in self._idle:
            wait = self._idle_ms.get(role, IDLE_MS[role])
            self._idle[role] = self._timer(wait, lambda: self._unload(role))
        self._idle[role].start()

    def _unload(self, role: str) -> None:
        child = self._residents.get(role)
        if child is not None and not self.in_flight(role):
            self._retire(child)
            child.end()
            self._insist(child)

    def _timer(self, milliseconds: int, slot: Callable[[], Any]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(slot)
        timer.start()
        return timer

    def _later(self, slot: Callable[[], Any]) -> None:
        QTimer.singleShot(0, self, slot)
