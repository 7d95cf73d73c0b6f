"""Small dialogs: settings out of their records, the shortcut sheet, about. All open without blocking."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QGridLayout, QSpinBox, QVBoxLayout, QWidget

from app.actions import ACTIONS
from app.i18n import tr
from app.settings import SETTINGS, Setting, Settings
from app.widgets.buttons import Button
from app.widgets.card import Rule, Scroller, row
from app.widgets.labels import Label
from core import __version__

# keys that a page or a list hears itself
IN_PAGES = (
    ("Why this match?", "Ctrl+I"),
    ("Take the last change of what counts in a search back", "Ctrl+Z"),
    ("Count a concept more, or less", "+  −"),
    ("From the search box into the hits", "Down"),
    ("Open the document at the passage, ask the question", "Return"),
    ("Start a new line in the question", "Shift+Return"),
    ("Edit the last question, in an empty box", "Up"),
    ("Give the chosen conversation another name", "F2"),
    ("Remove the chosen document or conversation", "Del"),
    ("Nearer on the map of concepts", "+"),
    ("The whole map of concepts", "0"),
)


class Sheet(QDialog):
    """A dialog with a title and a button that closes it; add to `body`, and further buttons to `buttons`."""

    def __init__(self, title: str, parent: QWidget, *, close: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(460)
        self._scroller: Scroller | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(12)
        column.addWidget(Label(title, "title", wrap=True))
        self.body = QVBoxLayout()
        self.body.setSpacing(10)
        column.addLayout(self.body)
        column.addStretch(1)
        self._column = column
        self.close_button = Button(close or tr("Close"), "primary", "", self.reject)
        self.close_button.setDefault(True)
        self.buttons = row(None, self.close_button)
        column.addLayout(self.buttons)
        self.close_button.setFocus()

    def scrolling(self) -> QVBoxLayout:
        """Make the body scroll where the screen is too small for it; add to what is returned instead of `body`."""
        self._scroller = Scroller(spacing=10)
        self.body.addWidget(self._scroller)
        self._scroller.body.setContentsMargins(2, 2, 10, 2)  # room for focus rings and the scroll bar
        self._column.setStretchFactor(self.body, 100)
        return self._scroller.body

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.grow()

    def grow(self) -> None:
        """As high as its wrapped words need: a first size never goes beyond two thirds of a small screen."""
        most = self.screen().availableGeometry().height()
        if self._scroller is not None:
            content = self._scroller.widget().layout()
            content.activate()
            rest = self.layout().totalHeightForWidth(self.width()) - self._scroller.sizeHint().height()
            wanted = content.totalHeightForWidth(self._scroller.viewport().width()) + 4
            self._scroller.setMinimumHeight(max(80, min(wanted, most - rest - 60)))
        wanted = min(self.layout().totalHeightForWidth(self.width()), most)
        if wanted > self.height():
            self.resize(self.width(), wanted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Not every window manager moves back what has grown beyond the screen's edge."""
        super().resizeEvent(event)
        area, frame = self.screen().availableGeometry(), self.frameGeometry()
        over = max(0, frame.bottom() - area.bottom())
        if over and self.isVisible():
            self.move(frame.x(), max(area.top(), frame.y() - over))


def settings_sheet(settings: Settings, parent: QWidget) -> Sheet:
    """One editor for each record that has a title; changes take effect at once."""
    sheet = Sheet(tr("Settings"), parent)
    sheet.setMinimumWidth(520)
    body = sheet.scrolling()
    for setting in SETTINGS:
        if setting.title:
            body.addWidget(_editor(setting, settings))
            body.addWidget(Label(tr(setting.help), "small", wrap=True))
            body.addWidget(Rule())
    return sheet


def _editor(setting: Setting, settings: Settings) -> QWidget:
    if setting.kind is bool:
        box = QCheckBox(tr(setting.title))
        box.setChecked(settings.get(setting.key))
        box.toggled.connect(lambda on: settings.set(setting.key, on))
        return box
    editor = _choice(setting, settings) if setting.choices else _number(setting, settings)
    editor.setAccessibleName(tr(setting.title))
    holder = QWidget()
    line = row(Label(tr(setting.title)), None, editor)
    holder.setLayout(line)
    return holder


def _choice(setting: Setting, settings: Settings) -> QWidget:
    box = QComboBox()
    for value in setting.choices:
        box.addItem(tr(value.capitalize()), value)
    box.setCurrentIndex(setting.choices.index(settings.get(setting.key)))
    box.currentIndexChanged.connect(lambda at: settings.set(setting.key, setting.choices[at]))
    return box


def _number(setting: Setting, settings: Settings) -> QWidget:
    box = QSpinBox()
    box.setRange(setting.low or 0, setting.high or 1_000_000)
    box.setSingleStep(10 if (setting.low or 0) >= 10 else 1)
    box.setValue(settings.get(setting.key))
    box.setKeyboardTracking(False)
    box.valueChanged.connect(lambda value: settings.set(setting.key, value))
    return box


def shortcut_sheet(parent: QWidget) -> Sheet:
    """All shortcuts: those of the table of actions, and the keys of the pages."""
    sheet = Sheet(tr("Keyboard shortcuts"), parent)
    grid = QGridLayout()
    grid.setHorizontalSpacing(28)
    grid.setVerticalSpacing(8)
    records = [(record.title, record.shortcut) for record in ACTIONS if record.shortcut]
    for at, (title, shortcut) in enumerate((*records, *IN_PAGES)):
        keys = QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)
        grid.addWidget(Label(tr(title)), at, 0)
        grid.addWidget(Label(keys, "mono"), at, 1, Qt.AlignmentFlag.AlignRight)
    sheet.body.addLayout(grid)
    return sheet


def about_sheet(library: str, parent: QWidget) -> Sheet:
    sheet = Sheet(tr("Whymatch {version}", version=__version__), parent)
    sheet.body.addWidget(
        Label(tr("Search and answers from your own documents, with the reason for every match."), wrap=True)
    )
    sheet.body.addWidget(Label(tr("Everything stays on this computer. Nothing is sent anywhere."), "muted", wrap=True))
    path = Label(tr("Library: {path}", path=library), "small", wrap=True)
    path.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    sheet.body.addWidget(path)
    return sheet


def confirm(
    parent: QWidget, title: str, text: str, action: str, then: Callable[[], object], *, keep: str = "",
    sign: str = "trash",
) -> Sheet:  # fmt: skip
    """Ask before something is taken away; `then` runs on yes. Esc and Return mean no."""
    sheet = Sheet(title, parent, close=keep or tr("Keep"))
    sheet.body.addWidget(Label(text, wrap=True))
    yes = Button(action, "danger", sign, sheet.accept)
    yes.clicked.connect(lambda: then())
    sheet.buttons.insertWidget(1, yes)
    sheet.open()
    return sheet
