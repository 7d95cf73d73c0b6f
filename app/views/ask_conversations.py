"""What can be done with a whole conversation: another name, a pin, an export, deleting it with a way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from app.context import Context
from app.i18n import tr
from app.views.ask_export import ask_export
from app.views.dialogs import Sheet
from app.widgets.buttons import Button
from app.widgets.hit_filters import shorten
from app.widgets.labels import Label
from app.widgets.page_offsets import one_line
from core.base.errors import KnownError
from core.library import Conversation, Deleted

LONGEST = 120  # characters of a title
_TOLD = 40  # characters of a title in a message

T = TypeVar("T")


class ConversationActions(QObject):
    """`changed`: the list of conversations is another one. `deleted`, `restored`: with the conversation's id."""

    changed = Signal()
    deleted = Signal(object)
    restored = Signal(object)

    def __init__(self, context: Context, page: QWidget) -> None:
        super().__init__(page)
        self._context = context
        self._page = page
        self._gone: list[tuple[Conversation, Deleted]] = []  # what can be brought back, the last one last

    def fill(self, menu: QMenu, conversation: Conversation) -> None:
        """The lines of the menu of a conversation."""
        menu.addAction(tr("Rename…"), lambda: self.ask_name(conversation))
        unpin, pin = tr("Do not keep at the top"), tr("Keep at the top")
        menu.addAction(unpin if conversation.pinned else pin, lambda: self.pin(conversation, not conversation.pinned))
        menu.addAction(tr("Export…"), lambda: self.export(conversation))
        menu.addSeparator()
        menu.addAction(tr("Delete"), lambda: self.delete(conversation))

    def ask_name(self, conversation: Conversation) -> None:
        NameSheet(self._page, conversation.title, lambda title: self.rename(conversation, title)).open()

    def rename(self, conversation: Conversation, title: str) -> None:
        before = self._do(lambda: self._context.library.rename_conversation(conversation.id, title))
        if before is None or before == title:
            return
        said = tr("Renamed to “{title}”.", title=_short(title))
        self._tell(said, lambda: self._do(lambda: self._context.library.rename_conversation(conversation.id, before)))

    def pin(self, conversation: Conversation, on: bool) -> None:
        self._do(lambda: self._context.library.pin_conversation(conversation.id, on))

    def export(self, conversation: Conversation) -> None:
        turns = self._context.library.turns(conversation.id)
        ask_export(self._context, self._page, conversation.title, turns)

    def delete(self, conversation: Conversation) -> None:
        """At once: it can be brought back as long as the window is open."""
        kept = self._do(lambda: self._context.library.delete_conversation(conversation.id))
        if kept is None:
            return
        self._gone.append((conversation, kept))
        self.deleted.emit(conversation.id)
        said = tr("Deleted “{title}”. Your documents stay as they are.", title=_short(conversation.title))
        self._tell(said, lambda: self.bring_back(conversation.id))

    def bring_back(self, conversation_id: int | None = None) -> None:
        """Undo a deletion: of this conversation, or the last one."""
        found = [one for one in self._gone if conversation_id in (None, one[0].id)]
        if not found:
            return
        conversation, kept = found[-1]
        self._gone.remove(found[-1])
        self._do(lambda: self._context.library.restore_conversation(kept))
        self.restored.emit(conversation.id)

    def _do(self, change: Callable[[], T]) -> T | None:
        try:
            made = change()
        except KnownError as error:
            self._context.notifications.error(error)
            return None
        self.changed.emit()
        return made

    def _tell(self, said: str, undo: Callable[[], object]) -> None:
        def take_back() -> None:
            undo()

        self._context.notifications.tell(said, tone="success", action=tr("Undo"), on_action=take_back)


class NameSheet(Sheet):
    """Asks for the title of a conversation; `then(title)` is called with it."""

    def __init__(self, parent: QWidget, title: str, then: Callable[[str], object]) -> None:
        super().__init__(tr("What shall it be called?"), parent, close=tr("Cancel"))
        self.close_button.set_kind("secondary")
        self.close_button.setDefault(False)
        self._then = then
        self.field = QLineEdit(one_line(title))
        self.field.setMaxLength(LONGEST)
        self.field.setAccessibleName(tr("The title of the conversation"))
        self.field.selectAll()
        self.body.addWidget(self.field)
        note = tr("The questions and answers stay as they are.")
        self.body.addWidget(Label(note, "muted", wrap=True))
        self.yes = Button(tr("Keep this title"), "primary", "", self._done)
        self.yes.setDefault(True)
        self.buttons.addWidget(self.yes)
        self.field.textChanged.connect(lambda text: self.yes.setEnabled(bool(text.strip())))
        self.field.setFocus()

    def _done(self) -> None:
        self.accept()
        self._then(" ".join(self.field.text().split()))


def _short(title: str) -> str:
    return shorten(one_line(title).strip(), _TOLD) or tr("Without a question")
