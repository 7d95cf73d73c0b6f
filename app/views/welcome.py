"""The first start: an empty library and two ways into it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.i18n import tr
from app.widgets.card import Scroller, row
from app.widgets.empty_state import IconLabel
from app.widgets.labels import Label


class Choice(QPushButton):
    """A large button with an icon, a title and a line of explanation."""

    def __init__(self, icon_name: str, title: str, text: str, on_click: Callable[[], object]) -> None:
        super().__init__()
        self.setProperty("kind", "choice")
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setMinimumWidth(220)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 20)
        column.setSpacing(8)
        column.addWidget(IconLabel(icon_name, "accent", 32))
        column.addSpacing(4)
        column.addWidget(Label(title, "heading", wrap=True))
        column.addWidget(Label(text, "muted", wrap=True))
        column.addStretch(1)
        for part in self.findChildren(QWidget):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.clicked.connect(lambda: on_click())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange) and self.layout() is not None:
            self._fit()

    def _fit(self) -> None:
        """As high as the wrapped words need: a button does not ask its layout."""
        self.setMinimumHeight(max(176, self.layout().totalHeightForWidth(self.width())))


class Welcome(QWidget):
    """Shown in place of the library's table while there is nothing in it."""

    def __init__(
        self, add_folder: Callable[[], object], demo: Callable[[], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.add_choice = Choice(
            "folder-add", tr("Add a folder"),
            tr("Choose it, or drop folders and files anywhere on this window. They stay where they are."), add_folder,
        )  # fmt: skip
        self.demo_choice = Choice(
            "sparkle", tr("Try the sample library"),
            tr("Documents of an invented organisation, to look around: search, answers and reasons."), demo,
        )  # fmt: skip
        inner = QWidget()
        inner.setMaximumWidth(720)
        column = QVBoxLayout(inner)
        column.setSpacing(10)
        column.addWidget(Label(tr("Find it. See why."), "display"))
        column.addWidget(
            Label(
                tr(
                    "Whymatch reads your documents, searches them by words and by meaning, answers with citations, "
                    "and shows for every match why it is one."
                ),
                "muted",
                wrap=True,
            )
        )
        column.addSpacing(14)
        choices = QHBoxLayout()
        choices.setSpacing(16)
        choices.addWidget(self.add_choice)
        choices.addWidget(self.demo_choice)
        column.addLayout(choices)
        column.addSpacing(10)
        column.addWidget(
            Label(
                tr(
                    "It reads PDF and scans, Word, PowerPoint, Excel, mail, web pages, books, text, source code, "
                    "pictures and archives. Nothing leaves this computer."
                ),
                "small",
                wrap=True,
            )
        )
        scroller = Scroller()
        scroller.body.addStretch(2)
        scroller.body.addLayout(row(None, inner, None))
        scroller.body.itemAt(1).layout().setStretch(1, 20)
        scroller.body.addStretch(3)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroller)
