"""What the person is told when a job ends."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from app.errors import Message, Notifications
from app.i18n import plural, tr
from app.tasks.jobs import Jobs, Task
from app.tasks.remaining import duration
from core.base.types import IngestReport


class JobMessages(QObject):
    """Turns the ends of jobs into messages; a removal can be undone from its message."""

    def __init__(self, jobs: Jobs, notifications: Notifications, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs, self._notifications = jobs, notifications
        self._gone: list[str] = []  # paths removed one after the other, told of and undone together
        self._documents = 0
        jobs.done.connect(self._done)
        jobs.failed.connect(self._failed)
        jobs.cancelled.connect(self._cancelled)

    def _done(self, task: Task, result: Any) -> None:
        if isinstance(result, IngestReport):
            if task.quiet and not result.failed:
                return
            self._notifications.message(ingest_message(result, self._jobs.elapsed))
        elif task.op == "remove":
            self._gone.append(task.args["path"])
            self._documents += int(result.get("documents", 0))
            if not self._jobs.removing:
                self._removed()

    def _removed(self) -> None:
        paths, number = self._gone, self._documents
        self._gone, self._documents = [], 0
        self._notifications.message(
            Message(
                plural(number, "{n} document was removed.", "{n} documents were removed."),
                plural(
                    number,
                    "It is no longer found or cited. The file on disk is untouched.",
                    "They are no longer found or cited. The files on disk are untouched.",
                ),
                tone="success",
                action=tr("Undo"),
                on_action=lambda: self._jobs.ingest(paths),
            )
        )

    def _failed(self, _task: Task, error: Any) -> None:
        self._notifications.error(error)
        if self._gone and not self._jobs.removing:
            self._removed()

    def _cancelled(self, task: Task) -> None:
        if self._gone:
            self._removed()
        if task.op != "remove":
            kept = tr("Stopped. What was read until now is kept.")
            go_on = Message(kept, action=tr("Go on"), on_action=lambda: self._jobs.add(task))
            self._notifications.message(go_on)


def ingest_message(report: IngestReport, seconds: float) -> Message:
    """The outcome of reading in one or two sentences; `seconds` is the whole wait."""
    away = (
        tr("{folder} is not there just now; its documents stay.", folder=", ".join(report.away)) if report.away else ""
    )
    if not report.documents and not report.failed and not report.removed and not report.moved:
        return Message(tr("Everything is up to date."), away, tone="success")
    parts = [plural(report.documents, "{n} document was read", "{n} documents were read")]
    if report.removed:
        parts.append(plural(report.removed, "{n} is gone", "{n} are gone"))
    if report.moved:
        parts.append(plural(report.moved, "{n} was moved", "{n} were moved"))
    if report.failed:
        parts.append(plural(len(report.failed), "{n} could not be read", "{n} could not be read"))
    advice = tr("The list says why, under “With problems” and “Not read”.") if report.failed else ""
    return Message(
        tr("{what} in {time}.", what=", ".join(parts), time=duration(seconds)), f"{advice} {away}".strip(),
        tone="warning" if report.failed else "success",
    )  # fmt: skip
