"""What the person showed and said while searching: how much of it there is, whether more is noted, and a way to forget
it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QWidget

from app.context import Context
from app.i18n import plural, tr
from app.views.dialogs import confirm
from app.widgets.buttons import Button
from app.widgets.card import Card
from app.widgets.hit_flow import FlowLayout
from app.widgets.labels import Label
from app.widgets.page_background import Background
from core.base.errors import KnownError

_MARKED = ("opened", "liked", "disliked", "pinned")  # kinds of `Library.judgements`; what was judged is no trace
_COUNTED = {
    "opened": ("{n} result opened", "{n} results opened"),
    "liked": ("{n} called good", "{n} called good"),
    "disliked": ("{n} called wrong", "{n} called wrong"),
    "pinned": ("{n} answer remembered", "{n} answers remembered"),
    "judged": ("{n} question judged", "{n} questions judged"),
}
_NOTHING = (
    "Nothing yet. It learns from results that you open, and from what you say of them: the menu of a result has it."
)
_FORGET = (
    "Which results you opened, and which you called good, wrong or the answer. Questions that you judged stay. So does "
    "what was learned until now, until you take that back."
)


class SaidCard(Card):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent, padding=18, spacing=8)
        self._context = context
        self._background = Background(self)
        self.body.addWidget(Label(tr("What you showed it"), "heading"))
        self.amount = Label("", wrap=True)
        self.body.addWidget(self.amount)
        self.records = QCheckBox(tr("Note the results that I open"))
        self.records.setToolTip(tr("The words of the search and the passage, in this library, on this computer."))
        self.records.toggled.connect(self._set_records)
        self.forget = Button(tr("Forget…"), "secondary", "trash", self._ask_forget)
        choices = FlowLayout(spacing=14)  # side by side where there is room
        choices.addWidget(self.records)
        choices.addWidget(self.forget)
        self.body.addLayout(choices)

    def refresh(self) -> None:
        library = self._context.library
        counts = Counter(one.kind for one in library.judgements(_MARKED))
        counts["judged"] = len({one.question for one in library.judgements(("judged",))})
        parts = [plural(counts[kind], *words) for kind, words in _COUNTED.items() if counts[kind]]
        self.amount.setText(" · ".join(parts) or tr(_NOTHING))
        self.forget.setEnabled(any(counts[kind] for kind in _MARKED))
        with QSignalBlocker(self.records):
            self.records.setChecked(library.records_opened())

    def _set_records(self, on: bool) -> None:
        self._write(lambda: self._context.library.set_records_opened(on))

    def _ask_forget(self) -> None:
        confirm(self, tr("Forget what you showed it?"), tr(_FORGET), tr("Forget"), self._forget, keep=tr("Cancel"))

    def _forget(self) -> None:
        library = self._context.library
        self._write(lambda: [library.forget_judgements(kind=kind) for kind in _MARKED])

    def _write(self, work: Callable[[], object]) -> None:
        """Beside the event loop: a job may hold the database for a moment."""
        self._background.run(work, self._written)

    def _written(self, outcome: object) -> None:
        if isinstance(outcome, KnownError):
            self._context.notifications.error(outcome)
        elif isinstance(outcome, Exception):
            raise outcome
        self.refresh()
