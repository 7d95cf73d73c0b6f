"""The conversations that the library keeps: pinned ones first, then the newest; searched by what was said in them."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QMenu, QVBoxLayout, QWidget

from app.context import Context
from app.i18n import tr
from app.views.ask_conversations import ConversationActions
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Card, row
from app.widgets.icons import icon
from app.widgets.labels import Label
from app.widgets.page_offsets import one_line
from app.widgets.search_box import SearchBox
from core.library import Conversation, Found

_FOUND = Qt.ItemDataRole.UserRole


class HistoryList(QWidget):
    opened = Signal(object)  # Found: the conversation, and the exchange in it that was looked for
    fresh = Signal()  # a new conversation is wanted
    deleted = Signal(object)  # conversation id

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._library = context.library
        self._current: int | None = None
        self._at = -1  # the row that was chosen when the list was read
        self.do = ConversationActions(context, self)
        self.do.changed.connect(lambda: self.load(self._current))
        self.do.deleted.connect(self._deleted)
        self.do.restored.connect(self._restored)
        self.setMinimumWidth(205)
        self.setMaximumWidth(280)
        self._build()
        context.theme.changed.connect(self._relook)

    def _build(self) -> None:
        self.search = SearchBox(tr("Find a conversation"), tr("Find in questions and answers"))
        self.search.settled.connect(lambda _: self.load(self._current))
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Conversations"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.itemClicked.connect(self._open)
        self.list.itemActivated.connect(self._open)
        self.list.currentRowChanged.connect(lambda at: self.more.setEnabled(at >= 0))
        self.list.customContextMenuRequested.connect(lambda at: self._menu(self.list.mapToGlobal(at)))
        self.more = IconButton("more", tr("What to do with this conversation"), self._more)
        self.nothing = Label(tr("No conversation holds all of these words."), "muted", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        line = row(Button(tr("New conversation"), "secondary", "plus", self.fresh.emit), self.more)
        line.setStretch(0, 1)
        column.addLayout(line)
        column.addWidget(self.search)
        column.addWidget(self.nothing)
        box = Card(padding=5, spacing=0)
        box.body.addWidget(self.list)
        column.addWidget(box, 1)

    def load(self, current: int | None = None) -> None:
        """Read the list again and mark `current`."""
        self._at = self.list.currentRow()
        self.list.clear()
        words = self.search.text()
        found = self._library.find_conversations(words)
        for one in found:
            self._add(one)
        self.nothing.setVisible(bool(words.strip()) and not found)
        self.mark(current)

    def _add(self, one: Found) -> None:
        title = one_line(one.conversation.title).strip() or tr("Without a question")
        held = one_line(one.text) if one.text and one.text != one.conversation.title else ""
        item = QListWidgetItem(f"{title}\n{held}" if held else title, self.list)
        item.setData(_FOUND, one)
        when = one.conversation.changed[:16].replace("T", " ")
        item.setToolTip("\n".join(filter(None, (title, held, when))))
        if one.conversation.pinned:
            item.setIcon(icon("pin", "muted", size=16))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, tr("{title}, kept at the top", title=title))

    def mark(self, current: int | None) -> None:
        """Show which conversation is open, if it is a kept one."""
        self._current = current
        self.list.setCurrentRow(self.ids().index(current) if current in self.ids() else -1)
        self.more.setEnabled(self.list.currentRow() >= 0)

    def ids(self) -> list[int]:
        return [self._found(self.list.item(i)).conversation.id for i in range(self.list.count())]

    def chosen(self) -> Conversation | None:
        item = self.list.currentItem()
        return self._found(item).conversation if item is not None else None

    def menu(self) -> QMenu | None:
        """What can be done with the chosen conversation."""
        conversation = self.chosen()
        if conversation is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.do.fill(menu, conversation)
        return menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        conversation = self.chosen()
        if self.focusWidget() is not self.list:
            super().keyPressEvent(event)
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.do.bring_back()
        elif conversation is not None and event.key() == Qt.Key.Key_Delete:
            self.do.delete(conversation)
        elif conversation is not None and event.key() == Qt.Key.Key_F2:
            self.do.ask_name(conversation)
        else:
            super().keyPressEvent(event)

    def _relook(self) -> None:
        """The icons have the colours of the look."""
        self.load(self._current)

    def _found(self, item: QListWidgetItem) -> Found:
        found: Found = item.data(_FOUND)
        return found

    def _deleted(self, conversation_id: int) -> None:
        """The keyboard goes on at the neighbour of what was deleted."""
        self.deleted.emit(conversation_id)
        self.list.setCurrentRow(min(self._at, self.list.count() - 1))

    def _restored(self, conversation_id: int) -> None:
        self.load(conversation_id)
        if conversation_id in self.ids():
            self._open(self.list.currentItem())

    def _more(self) -> None:
        self._menu(self.more.mapToGlobal(QPoint(0, self.more.height() + 4)))

    def _menu(self, at: QPoint) -> None:
        menu = self.menu()
        if menu is not None:
            menu.popup(at)

    def _open(self, item: QListWidgetItem) -> None:
        self.opened.emit(self._found(item))
