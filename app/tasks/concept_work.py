"""The concepts of the open library as the window knows them: the list, and what the person changes in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.context import Context
from app.i18n import tr
from app.models.concept_entries import Listing, listing
from app.tasks.jobs import Task
from app.widgets.page_background import Background
from app.widgets.page_latest import Latest
from core.base.types import Concept
from core.library import Library, Mark
from core.worker.protocol import SEARCH

FIT, NAME = "fit_concepts", "name_concepts"
NAMING_MINUTES = 15  # of the language model at the most; the next time it goes on where it was


class ConceptWork(QObject):
    """`changed()`: another list is there. `failed(error)`: it did not come.

    Changes are written beside the event loop and told of in a message that can undo them.
    """

    changed = Signal()
    failed = Signal(object)

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._background = Background(self)
        self._latest = Latest(context.engine, self)
        self._latest.result.connect(self._listed)
        self._latest.failed.connect(self.failed)
        for over in (context.jobs.done, context.jobs.cancelled):
            over.connect(lambda task, *_: self.refresh() if task.op == NAME else None)  # what was named stays
        self.listing: Listing | None = None  # None until the first came

    @property
    def busy(self) -> bool:
        return self._latest.busy

    @property
    def fitting(self) -> bool:
        """Whether a job that the person asked for finds the concepts just now."""
        running = self._context.jobs.running
        return running is not None and running.op == FIT

    @property
    def working(self) -> bool:
        """Whether a job finds or names the concepts just now."""
        running = self._context.jobs.running
        return running is not None and running.op in (FIT, NAME)

    def refresh(self) -> None:
        self._latest.start(SEARCH, "concepts", {})

    def stop(self) -> None:
        self._latest.drop()

    def fit(self) -> None:
        """Find the concepts anew, as a job."""
        self._context.jobs.add(Task(FIT))

    def name_all(self) -> None:
        """Let the language model name the concepts, as a job."""
        self._context.jobs.add(Task(NAME, {"minutes": NAMING_MINUTES}))

    def concept(self, number: int) -> Concept | None:
        """The concept of this id; the one that it was put together with, where it was."""
        concepts = self.listing.concepts if self.listing else ()
        return next((c for c in concepts if c.id == number or number in c.merged), None)

    # what the person changes

    def rename(self, concept: Concept, name: str) -> None:
        """Another name; the default one for none."""
        told = tr("It is called “{name}” now.", name=name) if name else tr("It has its first name back.")
        self._change(concept.id, told, lambda library, model: library.rename_concept(model, concept.id, name))

    def hide(self, concept: Concept, on: bool) -> None:
        told = tr("“{name}” is hidden: it is no longer given as a reason.") if on else tr("“{name}” is shown again.")
        self._change(
            concept.id, told.format(name=concept.label),
            lambda library, model: library.hide_concept(model, concept.id, on),
        )  # fmt: skip

    def merge(self, concept: Concept, into: Concept) -> None:
        told = tr("“{name}” counts as “{other}” now.", name=concept.label, other=into.label)
        self._change(concept.id, told, lambda library, model: library.merge_concepts(model, concept.id, into.id))

    def split(self, number: int, name: str) -> None:
        """Let a concept that was merged count for itself again."""
        told = tr("It no longer counts as “{name}”.", name=name)
        self._change(number, told, lambda library, model: library.merge_concepts(model, number, number))

    def _change(self, number: int, told: str, write: Callable[[Library, str], Mark]) -> None:
        if self.listing is None:
            return
        library, model = self._context.library, self.listing.model
        self._background.run(
            lambda: write(library, model), lambda outcome: self._written(outcome, model, number, told)
        )  # fmt: skip

    def _written(self, outcome: object, model: str, number: int, told: str) -> None:
        if isinstance(outcome, Mark):
            undo = lambda: self._undo(model, number, outcome)  # noqa: E731
            self._context.notifications.tell(told, tone="success", action=tr("Undo"), on_action=undo)
        else:
            self._context.notifications.error(outcome)  # type: ignore[arg-type]
        self.refresh()

    def _undo(self, model: str, number: int, before: Mark) -> None:
        library = self._context.library
        self._background.run(lambda: library.unmark_concept(model, number, before), self._undone)

    def _undone(self, outcome: object) -> None:
        if outcome is not None:
            self._context.notifications.error(outcome)  # type: ignore[arg-type]
        self.refresh()

    def _listed(self, data: Any) -> None:
        self.listing = listing(data)
        self.changed.emit()
