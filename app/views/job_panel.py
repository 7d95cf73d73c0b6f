"""What the running job does: stage, counters, the file at work, the time that is left; pause and cancel."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QProgressBar, QWidget

from app.i18n import grouped, plural, tr
from app.tasks.jobs import Jobs
from app.tasks.remaining import remaining
from app.widgets.buttons import Button
from app.widgets.card import Card, row
from app.widgets.labels import ElidedLabel, Label
from core.base.events import Progress

STAGES = {
    "scanning": "Looking for files",
    "reading": "Reading documents",
    "encoding": "Learning what they mean",
    "indexing": "Making them searchable",
    "concepts": "Finding the concepts in them",
    "naming": "Naming the concepts",
    "battery": "Waiting for the charger",
    "purging": "Wiping what was deleted",
    "questions": "Making questions from your documents",
    "queries": "Learning how to read questions",
    "pretraining": "Learning the words of your documents",
    "mining": "Finding what is easily mistaken",
    "first": "Learning what answers a question, first round",
    "second": "Learning what answers a question, second round",
    "judging": "Testing what was learned",
}


SHORT = {
    "scanning": "Looking", "reading": "Reading", "encoding": "Learning", "indexing": "Indexing", "concepts": "Concepts",
    "naming": "Naming",
    "battery": "Waiting", "purging": "Wiping",
    "questions": "Questions", "mining": "Examples", "queries": "Learning", "pretraining": "Learning",
    "first": "Learning", "second": "Learning", "judging": "Testing",
}  # fmt: skip


_REMOVAL_MS = 600  # a removal is done before, as a rule: nothing should jump for it


def stage(progress: Progress, *, short: bool = False) -> str:
    return tr((SHORT if short else STAGES).get(progress.stage, progress.stage.capitalize()))


class JobPanel(Card):
    """Visible while a job runs or waits."""

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent, padding=16, spacing=8)
        self._jobs = jobs
        self.title = Label("", "heading")
        self.left = Label("", "muted")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress"))
        self.file = ElidedLabel("", "small")
        self.counters = Label("", "small")
        self.pause = Button("", "secondary", "pause", self._pause)
        self.stop = Button(tr("Stop"), "secondary", "stop", jobs.cancel)
        self.body.addLayout(row(self.title, 8, self.left, None, self.pause, self.stop))
        self.body.addWidget(self.bar)
        line = row(self.file, self.counters, spacing=16)
        line.setStretch(0, 1)
        self.body.addLayout(line)
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(_REMOVAL_MS)
        self._late.timeout.connect(self._show)
        jobs.changed.connect(self._state)
        jobs.progress.connect(self._progress)
        self._state()

    def _pause(self) -> None:
        if self._jobs.paused:
            self._jobs.resume()
        else:
            self._jobs.pause()

    def _state(self) -> None:
        task = self._jobs.running
        if task is None or task.op != "remove":
            self._late.stop()
            self.setVisible(task is not None)
        elif self.isHidden():
            self._late.start()
        if task is None:
            return
        if self._jobs.last_progress is None:
            self._blank()
        self.pause.setText(tr("Go on") if self._jobs.paused else tr("Pause"))
        self.pause.set_icon("play" if self._jobs.paused else "pause")
        self.pause.setEnabled(not self._jobs.cancelling)
        self.stop.setEnabled(not self._jobs.cancelling)
        self._headline()

    def _show(self) -> None:
        self.setVisible(self._jobs.running is not None)

    def _blank(self) -> None:
        self.bar.setRange(0, 0)
        self.file.set_whole("")
        self.counters.setText("")

    def _headline(self) -> None:
        progress = self._jobs.last_progress
        removing = self._jobs.running is not None and self._jobs.running.op == "remove"
        title = tr("Removing") if removing else stage(progress) if progress else tr("Getting ready")
        hint = remaining(progress.seconds_left) if progress else ""
        if self._jobs.cancelling:
            title, hint = tr("Stopping"), tr("finishing what is at work")
        elif self._jobs.paused:
            title, hint = tr("Paused"), ""
        elif self._jobs.waiting:
            more = plural(self._jobs.waiting, "{n} more task waits", "{n} more tasks wait")
            hint = f"{hint} · {more}" if hint else more
        self.title.setText(title)
        self.left.setText(hint)

    def _progress(self, progress: Progress) -> None:
        self.bar.setRange(0, max(progress.total, 0))
        self.bar.setValue(min(progress.done, progress.total))
        self.file.set_whole(progress.detail)
        self.counters.setText(_counters(progress))
        self._headline()


def _counters(progress: Progress) -> str:
    """What was counted so far, without what is zero."""
    counts, parts = progress.counts, []
    if progress.stage in ("reading", "encoding") and counts.get("files_total"):
        parts.append(tr("{n} of {m} files", n=grouped(counts.get("files", 0)), m=grouped(counts["files_total"])))
    elif progress.total:
        parts.append(tr("{n} of {m}", n=grouped(progress.done), m=grouped(progress.total)))
    if counts.get("encoded"):
        parts.append(plural(counts["encoded"], "{n} passage", "{n} passages"))
    if counts.get("failed"):
        parts.append(plural(counts["failed"], "{n} problem", "{n} problems"))
    return " · ".join(parts)
