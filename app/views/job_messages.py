"""What the person is told when a job ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import QObject

from app.errors import Message, Notifications
from app.i18n import plural, tr
from app.tasks.jobs import ADAPT, Jobs, Task
from app.tasks.remaining import duration, size_text
from core.base.files import path_shown
from core.base.types import DocumentState, IngestReport


class JobMessages(QObject):
    """Turns the ends of jobs into messages; a removal can be undone from its message."""

    def __init__(self, jobs: Jobs, notifications: Notifications, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs, self._notifications = jobs, notifications
        self._gone: list[str] = []  # paths removed one after the other, told of and undone together
        self._receipts: list[dict[str, Any]] = []
        jobs.done.connect(self._done)
        jobs.failed.connect(self._failed)
        jobs.cancelled.connect(self._cancelled)

    def _done(self, task: Task, result: Any) -> None:
        if isinstance(result, IngestReport):
            if task.args.get("passwords"):
                self._unlocked(result, list(task.args["passwords"]))
            elif result.failed or not task.quiet:
                self._notifications.message(ingest_message(result, self._jobs.elapsed))
        elif task.op == "remove":
            self._gone += task.args.get("paths") or [task.args["path"]]
            self._receipts.append(result)
            if not self._jobs.removing:
                self._removed()
        elif task.op == "purge":
            self._notifications.message(purge_message(result))
        elif task.op == "reencode":
            self._reencoded(result)
        elif task.op == "fit_concepts":
            self._notifications.message(concepts_message(result))
        elif task.op == "name_concepts":
            self._notifications.message(naming_message(result))
        elif task.op == "rollback":
            self._notifications.tell(tr("The library uses its old index again."), tone="success")

    def _reencoded(self, result: dict[str, Any]) -> None:
        """Told with the way back, where there is one."""
        told, before = reencode_message(result), int(result["before"])
        if before:
            back = Task("rollback", {"to": before})
            told = replace(told, action=tr("Go back"), on_action=lambda: self._jobs.add(back))
        self._notifications.message(told)

    def _unlocked(self, report: IngestReport, paths: Sequence[str]) -> None:
        """Files that stay locked are told of where the password was given."""
        locked = {failure.path for failure in report.failed if failure.state is DocumentState.LOCKED}
        opened = [path for path in paths if path not in locked]
        if opened:
            words = plural(len(opened), "{name} is open now.", "{n} files are open now.", name=_name(opened[0]))
            self._notifications.message(Message(words, tr("What is in there can be searched."), tone="success"))

    def _removed(self) -> None:
        paths, receipts = self._gone, self._receipts
        self._gone, self._receipts = [], []
        told = removal_message(receipts)
        self._notifications.message(replace(told, action=tr("Undo"), on_action=lambda: self._jobs.ingest(paths)))

    def _failed(self, task: Task, error: Any) -> None:
        if task.op != ADAPT:  # its page tells
            self._notifications.error(error)
        if self._gone and not self._jobs.removing:
            self._removed()

    def _cancelled(self, task: Task) -> None:
        if self._gone:
            self._removed()
        if task.op != "remove":
            kept = tr("Stopped. What was read until now is kept.")
            if task.op == "reencode":
                kept = tr("Stopped. Search still uses the old index; what was done is kept.")
            elif task.op == "fit_concepts":
                kept = tr("Stopped. The concepts are as they were.")
            elif task.op == "name_concepts":
                kept = tr("Stopped. The names that were found until now are kept.")
            elif task.op == ADAPT:
                kept = tr("Stopped. Search is as it was; what was learned until now is kept.")
            go_on = Message(kept, action=tr("Go on"), on_action=lambda: self._jobs.add(task))
            self._notifications.message(go_on)


def removal_message(receipts: Sequence[dict[str, Any]]) -> Message:
    """The receipts of removals as one: what went, and what is counted to be left of it in every place."""
    number = sum(int(receipt.get("documents", 0)) for receipt in receipts)
    left: dict[str, int] = {}
    for receipt in receipts:
        for channel, count in receipt.get("channels", {}).items():
            left[channel] = left.get(channel, 0) + count
    stays = sorted({path for receipt in receipts for path in receipt.get("stays", ())})
    traces = sum(left.values())
    advice = (
        plural(traces, "{n} trace is left", "{n} traces are left") + " " + tr("in search, text, cache and history.")
    )
    if stays:
        advice += " " + tr("The same text stays found in {path}.", path=_name(stays[0]))
    advice += " " + tr("Files on disk are untouched.")
    title = plural(number, "{n} document was removed.", "{n} documents were removed.")
    return Message(title, advice, "\n".join(_receipt_lines(receipts, left)), "warning" if traces else "success")


def _receipt_lines(receipts: Sequence[dict[str, Any]], left: dict[str, int]) -> list[str]:
    """What the person can keep: each removal in a sentence, then what is left by place."""
    return [
        *(str(receipt["receipt"]) for receipt in receipts if "receipt" in receipt),
        *(f"{channel}: {count}" for channel, count in sorted(left.items())),
    ]


def purge_message(result: dict[str, Any]) -> Message:
    """What wiping did, in one sentence about the room that the library takes."""
    before, after = int(result["bytes_before"]), int(result["bytes_after"])
    return Message(
        tr("What was deleted is wiped."),
        tr("No byte of it is left in the library. It takes {after} now; it took {before} before.",
           after=size_text(after), before=size_text(before)),
        tone="success",
    )  # fmt: skip


def reencode_message(result: dict[str, Any]) -> Message:
    """What changing the encoder came to."""
    words = plural(int(result["passages"]), "{n} passage is searched by it.", "{n} passages are searched by it.")
    title = tr("This library now uses {name}.", name=result["encoder"])
    return Message(title, words, tone="success")


def concepts_message(result: dict[str, Any]) -> Message:
    """How many concepts were found."""
    found = int(result["concepts"])
    if not found:
        return Message(tr("No concepts were found."), tr("There is too little text that repeats."), tone="warning")
    return Message(plural(found, "{n} concept was found.", "{n} concepts were found."), tone="success")


def naming_message(result: dict[str, Any]) -> Message:
    """What came of letting the language model name concepts."""
    kept, left = int(result["kept"]), int(result["left"])
    told = plural(kept, "{n} concept has a better name now.", "{n} concepts have a better name now.")
    if not result["capable"]:
        advice = tr("The language model was given up: names made of words lead to the passages better than its own.")
    else:
        advice = plural(left, "{n} concept is left for another time.", "{n} are left for another time.") if left else ""
    return Message(told, advice, tone="success" if kept else "info")


def _name(path: str) -> str:
    return PurePath(path_shown(path)).name


def ingest_message(report: IngestReport, seconds: float) -> Message:
    """The outcome of reading in one or two sentences; `seconds` is the whole wait."""
    away = (
        tr("{folder} is not there just now; its documents stay.", folder=", ".join(report.away)) if report.away else ""
    )
    if not report.read and not report.failed and not report.removed and not report.moved:
        return Message(tr("Everything is up to date."), away, tone="success")
    parts = [plural(report.read, "{n} file was read", "{n} files were read")] if report.read else []
    if report.removed:
        parts.append(plural(report.removed, "{n} is gone", "{n} are gone"))
    if report.moved:
        parts.append(plural(report.moved, "{n} was moved", "{n} were moved"))
    if report.failed:
        parts.append(plural(len(report.failed), "{n} file could not be read", "{n} files could not be read"))
    advice = tr("The list says why, under “With problems” and “Not read”.") if report.failed else ""
    return Message(
        tr("{what} in {time}.", what=", ".join(parts), time=duration(seconds)), f"{advice} {away}".strip(),
        tone="warning" if report.failed else "success",
    )  # fmt: skip
