"""The conversations that the library keeps, the newest first."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QMessageBox, QVBoxLayout, QWidget

from app.i18n import tr
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Card, row
from app.widgets.page_offsets import one_line
from core.library import Library

_ID = Qt.ItemDataRole.UserRole


class HistoryList(QWidget):
    opened = Signal(object)  # conversation id
    fresh = Signal()  # a new conversation is wanted
    deleted = Signal(object)  # conversation id

    def __init__(self, library: Library, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self.setMinimumWidth(205)
        self.setMaximumWidth(280)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Conversations"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.itemClicked.connect(self._open)
        self.list.itemActivated.connect(self._open)
        self._delete = IconButton("trash", tr("Delete this conversation"), self.ask_delete)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        line = row(Button(tr("New conversation"), "secondary", "plus", self.fresh.emit), self._delete)
        line.setStretch(0, 1)
        column.addLayout(line)
        box = Card(padding=5, spacing=0)
        box.body.addWidget(self.list)
        column.addWidget(box, 1)

    def load(self, current: int | None = None) -> None:
        """Read the list again and mark `current`."""
        self.list.clear()
        for conversation in self._library.conversations():
            item = QListWidgetItem(one_line(conversation.title) or tr("Without a question"), self.list)
            item.setData(_ID, conversation.id)
            item.setToolTip(f"{one_line(conversation.title)}\n{conversation.changed[:16].replace('T', ' ')}")
        self.mark(current)

    def mark(self, current: int | None) -> None:
        """Show which conversation is open, if it is a kept one."""
        self.list.setCurrentRow(self.ids().index(current) if current in self.ids() else -1)
        self._delete.setEnabled(self.list.currentRow() >= 0)

    def ids(self) -> list[int]:
        return [int(self.list.item(i).data(_ID)) for i in range(self.list.count())]

    def ask_delete(self) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setText(tr("Delete this conversation?"))
        box.setInformativeText(tr("Its questions and answers are removed. Your documents stay as they are."))
        yes = box.addButton(tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(tr("Keep"), QMessageBox.ButtonRole.RejectRole)
        yes.clicked.connect(lambda: self.delete(int(item.data(_ID))))
        box.open()

    def delete(self, conversation_id: int) -> None:
        self._library.delete_conversation(conversation_id)
        self.load()
        self.deleted.emit(conversation_id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.list.hasFocus():
            self.ask_delete()
            return
        super().keyPressEvent(event)

    def _open(self, item: QListWidgetItem) -> None:
        self._delete.setEnabled(True)
        self.opened.emit(int(item.data(_ID)))
