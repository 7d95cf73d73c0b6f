"""What can be done with one exchange: asked again, compared with an earlier version, copied and exported."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.context import Context
from app.i18n import tr
from app.views.ask_export import ask_export
from app.widgets.answer_announce import announce
from app.widgets.answer_turn import TurnView
from core.base.errors import KnownError
from core.library import Format, StoredTurn

_COPIES = (
    (Format.MARKDOWN, "Copy as Markdown"),
    (Format.BIBTEX, "Copy its sources as BibTeX"),
    (Format.CSL, "Copy its sources as CSL-JSON"),
)


class TurnActions(QObject):
    again = Signal(object)  # TurnView: ask in the same way once more
    edit = Signal(object)  # TurnView

    def __init__(self, context: Context, page: QWidget) -> None:
        super().__init__(page)
        self._context = context
        self._page = page

    def popup(self, turn: TurnView, at: QPoint) -> None:
        self.menu(turn).popup(at)

    def menu(self, turn: TurnView) -> QMenu:
        menu = QMenu(self._page)
        menu.setToolTipsVisible(True)
        again = menu.addAction(tr("Ask again in the same way"), lambda: self.again.emit(turn))
        again.setToolTip(tr("Same filters, same kind of answer. What changed since is shown."))
        edit = menu.addAction(tr("Edit the question…"), lambda: self.edit.emit(turn))
        compare = menu.addAction(tr("Compare with another version"), lambda: self.compare(turn))
        compare.setEnabled(self._other(turn) is not None)
        for action in (again, edit):
            action.setEnabled(turn.stored is not None)
        menu.addSeparator()
        for kind, title in _COPIES:
            menu.addAction(tr(title), lambda kind=kind: self.copy(turn, kind))
        menu.addAction(tr("Export…"), lambda: self.export(turn))
        return menu

    def compare(self, turn: TurnView, with_id: int | None = None) -> None:
        """Show what is different from the version before (of the first one: from the one after), or from `with_id`."""
        other = with_id or self._other(turn)
        if other is None or turn.answer is None:
            return
        try:
            before, _ = self._context.library.turn(other)
        except KnownError as error:
            self._context.notifications.error(error)
            return
        turn.show_comparison(self._context.library.compare(before.answer, turn.answer))
        announce(self._page, turn.comparison.text())

    def copy(self, turn: TurnView, kind: Format) -> None:
        text = self._context.library.exported(kind, turn.question, self._turns(turn)).decode()
        QGuiApplication.clipboard().setText(text)
        self._context.notifications.tell(tr("Copied."), tone="success")

    def export(self, turn: TurnView) -> None:
        ask_export(self._context, self._page, turn.question, self._turns(turn))

    def _other(self, turn: TurnView) -> int | None:
        if turn.stored is None or len(turn.stored.branches) < 2:
            return None
        at = turn.stored.branches.index(turn.stored.id)
        return turn.stored.branches[at - 1 if at else 1]

    def _turns(self, turn: TurnView) -> list[StoredTurn]:
        if turn.answer is None:
            return []
        asked = turn.stored.asked if turn.stored is not None else ""
        return [StoredTurn(0, turn.question, turn.search_text, turn.answer, asked)]
