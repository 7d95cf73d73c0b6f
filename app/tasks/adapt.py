"""What is asked of the `job` child about adapting: estimates, history, the run at work with its stages and curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.call import Call
from app.engine.engine import Engine
from app.models.adapt_entries import RECIPES, RUNNING, STOPPED, Estimate, Run, estimate, runs
from app.tasks.jobs import ADAPT, Jobs, Task
from core.base.events import Curve, Progress
from core.worker.protocol import JOB

ROLLBACK = "rollback"
ELSEWHERE_MS = 10_000  # between two looks at how a run of another window goes


class AdaptWork(QObject):
    """The state of adapting, whether a page shows it or not.

    `changed()`: estimates, history, or what runs. `progressed()`: the run at work went on. `grown(stage)`: its curve
    has another point. `ended(Run)`: a run came to a verdict; `broke(error)`: it came to none. `failed(error)`: history
    or estimate did not come.
    """

    changed = Signal()
    progressed = Signal()
    grown = Signal(str)
    ended = Signal(object)
    broke = Signal(object)
    failed = Signal(object)

    def __init__(self, engine: Engine, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._jobs = engine, jobs
        self._looking: Call | None = None  # the call for the history
        self._trying: Call | None = None  # the call for an estimate
        self._fresh = False
        self._in_vain: set[str] = set()  # recipes that could not be tried: not again before the page is seen again
        self.estimates: dict[str, Estimate] = {}
        self.history: list[Run] | None = None  # None until the first came; the newest first
        self.stages: list[str] = []  # of the run at work, in the order in which they began
        self.curves: dict[str, list[Curve]] = {}
        self.last_progress: Progress | None = None
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(ELSEWHERE_MS)
        self._again.timeout.connect(lambda: self.refresh(estimates=False))
        jobs.progress.connect(self._progressed)
        jobs.curve.connect(self._curve)
        jobs.changed.connect(self.changed)
        jobs.done.connect(self._done)
        jobs.failed.connect(self._broke)
        jobs.cancelled.connect(self._over)

    # what there is

    @property
    def task(self) -> Task | None:
        """The adapting at work, or waiting for other work to end."""
        return self._jobs.adapting

    @property
    def estimating(self) -> str:
        """The recipe that is being tried; empty when none is."""
        return str(self._trying.property("recipe")) if self._trying is not None else ""

    @property
    def in_use(self) -> Run | None:
        """The run whose encoder serves now."""
        return next((run for run in self.history or () if run.state == "accepted"), None)

    @property
    def unfinished(self) -> Run | None:
        """The newest run, when it was stopped before its verdict."""
        newest = self.history[0] if self.history else None
        return newest if newest is not None and newest.state == STOPPED and self.task is None else None

    @property
    def elsewhere(self) -> Run | None:
        """A run at work that is not ours: another window's, or the command line's."""
        newest = self.history[0] if self.history else None
        return newest if newest is not None and newest.state == RUNNING and self.task is None else None

    @property
    def past(self) -> list[Run]:
        """All runs but the one at work, the newest first; one that goes on again is at work."""
        runs = [run for run in self.history or () if run.state != RUNNING]
        again = self.task is not None and runs and runs[0].state == STOPPED
        return runs[1:] if again and runs[0].recipe == self.task.args["recipe"] else runs

    # what is asked

    def refresh(self, *, estimates: bool) -> None:
        """Read the history again, then, where `estimates` are wanted, try the recipes that have none."""
        if self._looking is None:
            call = self._looking = self._engine.call(JOB, "adapt_history")
            call.result.connect(self._listed)
            call.failed.connect(lambda error: self._looked(lambda: self.failed.emit(error)))
            call.cancelled.connect(lambda: self._looked(lambda: None))
        if estimates:
            self._in_vain.clear()
            self.try_next()

    def try_next(self) -> None:
        """Estimate the next recipe; one at a time, and none while a job or another window's run is at work: it would
        measure that."""
        left = [recipe for recipe in RECIPES if recipe not in self.estimates and recipe not in self._in_vain]
        unknown = self.history is None and self._looking is not None  # whether another window is at work
        if not left or unknown or self._trying is not None:
            return
        if self._jobs.running is not None or self.elsewhere is not None:
            return
        call = self._trying = self._engine.call(JOB, "adapt_estimate", {"recipe": left[0]})
        call.setProperty("recipe", left[0])
        self._fresh = True
        call.result.connect(self._estimated)
        call.failed.connect(lambda error: self._not_tried(left[0], error))
        call.cancelled.connect(lambda: self._tried(lambda: None))
        self.changed.emit()

    def forget_estimates(self) -> None:
        """The library changed: what was estimated is no longer true."""
        self._fresh = False
        self.estimates = {}

    def begin(self, recipe: str, minutes: int | None = None, changes: dict[str, Any] | None = None) -> None:
        """Adapt with these settings of the recipe, or go on with the run of this recipe that was stopped (its own
        settings where none are said)."""
        if self._trying is not None:
            self._trying.cancel()
        self._forget_run()
        self._jobs.add(Task(ADAPT, {"recipe": recipe, "minutes": minutes, "changes": changes}))

    def take_back(self, run: Run) -> None:
        """Let what served before `run` serve again, its index included."""
        self._jobs.add(Task(ROLLBACK, {"to": run.previous}))

    # what comes

    def _estimated(self, data: Any) -> None:
        made = estimate(data)
        if self._fresh:
            self.estimates[made.recipe] = made
        self._tried(self.try_next)

    def _not_tried(self, recipe: str, error: Any) -> None:
        self._in_vain.add(recipe)
        self._tried(lambda: self.failed.emit(error))

    def _tried(self, then: Callable[[], object]) -> None:
        self._trying = None
        then()
        self.changed.emit()

    def _listed(self, data: Any) -> None:
        self.history = runs(data)
        if self.elsewhere is not None:
            self._again.start()
        self._looked(lambda: None)

    def _looked(self, then: Callable[[], object]) -> None:
        self._looking = None
        then()
        self.changed.emit()

    def _progressed(self, value: Progress) -> None:
        running = self._jobs.running
        if running is not None and running.op == ADAPT:
            self.last_progress = value
            if value.stage not in self.stages:
                self.stages.append(value.stage)
            self.progressed.emit()

    def _curve(self, point: Curve) -> None:
        points = self.curves.setdefault(point.stage, [])
        while points and points[-1].step >= point.step:  # it went on from a checkpoint before these
            points.pop()
        points.append(point)
        self.grown.emit(point.stage)

    def _done(self, task: Task, result: Any) -> None:
        if task.op == ADAPT:
            (ended,) = runs([_as_run(task, result)])
            self._over(task)
            self.ended.emit(ended)
        else:
            self._over(task)

    def _broke(self, task: Task, error: Any) -> None:
        self._over(task)
        if task.op == ADAPT:
            self.broke.emit(error)

    def _over(self, task: Task) -> None:
        """The history tells of every run, and whether one is in use; estimates depend on what is in the library."""
        if task.op == ADAPT:
            self._forget_run()
            self.history = self.past  # until it is read again, nothing is known of how this run stands
        if task.op in (ADAPT, ROLLBACK):
            self.refresh(estimates=False)

    def _forget_run(self) -> None:
        self.stages, self.curves, self.last_progress = [], {}, None


def _as_run(task: Task, result: dict[str, Any]) -> dict[str, Any]:
    """The result of a run as a row of the history, until that is read again."""
    gate = result["gate"]
    state = "accepted" if gate["accepted"] else "refused" if gate["decided"] else "undecided"
    seconds = sum(float(stage["seconds"]) for stage in result["stages"])
    about = {"number": 0, "started": "", "state": state, "seconds": seconds, "minutes": task.args.get("minutes")}
    return about | result
