"""The local language model as a writer of questions, in memory only while it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.answer.backend import Backend
from core.base.events import Control, Listener, Progress, ignore
from core.train.types import Piece, Question
from core.worker.roles.answer import load_backend

WRITING = "writing"
_KEPT = "written.json"
_MOST = 4_000  # questions


@dataclass(frozen=True, slots=True)
class LocalWriter:
    """A `Writer` of questions by the active local model; without one there are none.

    What it wrote lies in `folder`, so that a run that goes on does not ask again.
    """

    folder: Path
    minutes: float
    control: Control
    listener: Listener = ignore
    load: Callable[[], Backend | None] = load_backend

    def __call__(self, pieces: Sequence[Piece]) -> Sequence[Question]:
        """Raises Cancelled; what was written until then is kept."""
        from core.train.written import Writer

        backend = self.load()
        if backend is None:
            return ()
        self.listener(Progress(WRITING, 0, 0))
        try:
            kept = self.folder / _KEPT
            return Writer(backend, minutes=self.minutes, most=_MOST, kept=kept, control=self.control)(pieces)
        finally:
            backend.close()
