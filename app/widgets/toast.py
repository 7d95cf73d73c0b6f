"""Messages that come up at the window's bottom and go by themselves; those that need an answer stay."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent, QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.errors import Message
from app.i18n import tr
from app.widgets.buttons import Button
from app.widgets.labels import Label

_STAY_MS = {"info": 5000, "success": 5000, "warning": 12_000}
_MOST = 3


class Toast(QFrame):
    """One message. It waits while the pointer is on it."""

    def __init__(self, message: Message, parent: QWidget) -> None:
        super().__init__(parent)
        self.message = message
        self.setProperty("role", "toast")
        self.setAccessibleName(" ".join(part for part in (message.text, message.advice) if part))
        line = QHBoxLayout(self)
        line.setContentsMargins(16, 10, 8, 10)
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(Label(message.text, "body", wrap=True))
        if message.advice:
            words.addWidget(Label(message.advice, "body", wrap=True))
        line.addLayout(words, 1)
        if message.details:
            line.addWidget(
                Button(tr("Copy details"), "toast", "", lambda: QGuiApplication.clipboard().setText(message.details))
            )
        if message.action and message.on_action is not None:
            line.addWidget(Button(message.action, "toast", "", self._act))
        line.addWidget(Button(tr("Dismiss"), "toast", "", self.go))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.go)
        self._start()

    def enterEvent(self, event: QEvent) -> None:
        self._timer.stop()

    def leaveEvent(self, event: QEvent) -> None:
        self._start()

    def go(self) -> None:
        self._timer.stop()
        self.hide()
        self.deleteLater()

    def _start(self) -> None:
        stay = _STAY_MS.get(self.message.tone)
        if self.message.action:
            stay = max(stay or 0, 10_000)
        if stay:
            self._timer.start(stay)

    def _act(self) -> None:
        self.go()
        assert self.message.on_action is not None
        self.message.on_action()


class Toasts(QWidget):
    """The stack of toasts over the lower edge of `parent`, as wide as reading is comfortable."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        parent.installEventFilter(self)
        self.hide()

    def add(self, message: Message) -> None:
        shown = self.toasts()
        for old in shown:
            if old.message == message:
                old.go()
        for old in self.toasts()[: max(0, len(shown) - _MOST + 1)]:
            old.go()
        toast = Toast(message, self)
        toast.destroyed.connect(self._place_later)
        self._column.addWidget(toast)
        toast.show()
        self.show()
        self._place()
        QAccessible.updateAccessibility(QAccessibleEvent(toast, QAccessible.Event.Alert))

    def toasts(self) -> list[Toast]:
        return [t for t in self.findChildren(Toast) if not t.isHidden()]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parent():
            self._place()
        return False

    def _place_later(self) -> None:
        QTimer.singleShot(0, self, self._place)

    def _place(self) -> None:
        if not self.toasts():
            self.hide()
            return
        area = self.parentWidget().rect()
        width = min(620, area.width() - 48)
        self._column.activate()
        height = self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()
        self.setGeometry((area.width() - width) // 2, area.height() - height - 20, width, height)
        self.raise_()
