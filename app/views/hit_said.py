"""What the person shows and says of hits: results opened, good and bad ones, the answer to what was searched. Search
learns from it when it is adapted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.context import Context
from app.i18n import tr
from app.widgets.page_background import Background
from core.base.errors import KnownError
from core.base.types import Span

_GOOD, _BAD, _ANSWER = "liked", "disliked", "pinned"  # as `Library.judgements` names them


def asked(text: str, pieces: Sequence[str], spans: Sequence[Span]) -> str:
    """The words of a query without its syntax: `pieces` of it, and where each stands. Phrases keep their words."""
    for piece, span in sorted(zip(pieces, spans, strict=True), key=lambda pair: -pair[1].start):
        kept = piece.strip('"') if piece.startswith('"') else ""
        text = f"{text[: span.start]} {kept} {text[span.end :]}"
    return " ".join(text.split())


class HitSaid(QObject):
    """`asked` is the search that the hits belong to. Writing goes on beside the event loop: a job may hold the
    database for a moment."""

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._background = Background(self)
        self.asked = ""

    def opened(self, passage_id: int) -> None:
        """Note that this result was opened, unless the person does not want that."""
        question, library = self.asked, self._context.library
        if question and library.records_opened():
            self._write(lambda: library.note_opened(question, passage_id), lambda: None)

    def known(self, passage_id: int) -> set[str]:
        """What was said of this result of the search: kinds of `Library.judgements`."""
        said = self._context.library.judgements((_GOOD, _BAD, _ANSWER))
        return {one.kind for one in said if one.passage_id == passage_id and one.question == self.asked}

    def add_to(self, menu: QMenu, passage_id: int) -> None:
        """Further lines for the menu of a hit; none where nothing was asked in words."""
        if not self.asked:
            return
        known = self.known(passage_id)
        menu.addSeparator()
        for kind, words in (
            (_GOOD, tr("A good result for this search")), (_BAD, tr("Not what I was looking for")),
            (_ANSWER, tr("This is the answer: remember it")),
        ):  # fmt: skip
            action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(kind in known)
            action.toggled.connect(lambda on, kind=kind: self._say(kind, passage_id, on))

    def _say(self, kind: str, passage_id: int, on: bool) -> None:
        question, library = self.asked, self._context.library
        if kind == _ANSWER:
            self._write(lambda: library.set_pinned(question, passage_id, on), lambda: self._told(on))
        else:
            thumb = kind == _GOOD if on else None
            self._write(lambda: library.set_thumb(question, passage_id, thumb), lambda: self._told(on))

    def _told(self, on: bool) -> None:
        words = tr("Noted. Search learns from it the next time you adapt it.") if on else tr("Taken back.")
        self._context.notifications.tell(words, tone="success")

    def _write(self, work: Callable[[], object], then: Callable[[], None]) -> None:
        self._background.run(work, lambda outcome: self._written(outcome, then))

    def _written(self, outcome: object, then: Callable[[], None]) -> None:
        if isinstance(outcome, KnownError):
            self._context.notifications.error(outcome)
        elif isinstance(outcome, Exception):
            raise outcome
        else:
            then()
