"""Everything the window can be told to do, as one table: menus, shortcuts and the shortcut sheet come from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow

from app.i18n import tr


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """`menu` is where it stands, `shortcut` a portable key sequence, `library` whether it needs an open library."""

    id: str
    title: str
    menu: str
    shortcut: str = ""
    library: bool = False


ACTIONS = (
    ActionRecord("add-folder", "Add a folder…", "File", "Ctrl+O", True),
    ActionRecord("add-files", "Add files…", "File", "Ctrl+Shift+O", True),
    ActionRecord("rescan", "Look for changes", "File", "F5", True),
    ActionRecord("retry", "Try problem files again", "File", "", True),
    ActionRecord("folders", "Folders…", "File", "Ctrl+Shift+L", True),
    ActionRecord("unlock", "Unlock files…", "File", "Ctrl+U", True),
    ActionRecord("export", "Export the report as CSV…", "File", "Ctrl+E", True),
    ActionRecord("purge", "Wipe what was deleted…", "File", "", True),
    ActionRecord("pause", "Pause or go on", "File", "Ctrl+P", True),
    ActionRecord("models", "Models…", "File", "Ctrl+M", True),
    ActionRecord("settings", "Settings…", "File", "Ctrl+,"),
    ActionRecord("quit", "Quit", "File", "Ctrl+Q"),
    ActionRecord("page-library", "Library", "View", "Ctrl+1", True),
    ActionRecord("page-search", "Search", "View", "Ctrl+2", True),
    ActionRecord("page-ask", "Ask", "View", "Ctrl+3", True),
    ActionRecord("page-concepts", "Concepts", "View", "Ctrl+4", True),
    ActionRecord("page-adapt", "Adapt", "View", "Ctrl+5", True),
    ActionRecord("find", "Go to the search field", "View", "Ctrl+F", True),
    ActionRecord("escape", "Stop or close the innermost thing", "View", "Esc"),
    ActionRecord("close-document", "Close the document beside the page", "View", "Ctrl+W", True),
    ActionRecord("theme-system", "Appearance: as the system", "View"),
    ActionRecord("theme-light", "Appearance: light", "View"),
    ActionRecord("theme-dark", "Appearance: dark", "View"),
    ActionRecord("shortcuts", "Keyboard shortcuts", "Help", "F1"),
    ActionRecord("about", "About Whymatch", "Help"),
)
_GAPS_BEFORE = {"rescan", "folders", "pause", "models", "quit", "find", "theme-system"}


def build(window: QMainWindow, handlers: Mapping[str, Callable[[], object]]) -> dict[str, QAction]:
    """Make the menus of `window`. Raises KeyError when a record has no handler."""
    made: dict[str, QAction] = {}
    menus = {}
    for record in ACTIONS:
        menu = menus.get(record.menu)
        if menu is None:
            menu = menus[record.menu] = window.menuBar().addMenu(tr(record.menu))
        if record.id in _GAPS_BEFORE:
            menu.addSeparator()
        action = QAction(tr(record.title), window)
        action.setObjectName(record.id)
        if record.shortcut:
            action.setShortcut(QKeySequence(record.shortcut))
        action.triggered.connect(lambda _=False, run=handlers[record.id]: run())
        menu.addAction(action)
        made[record.id] = action
    return made


def enable_library(actions: Mapping[str, QAction], enabled: bool) -> None:
    """Actions that need an open library are there only with one."""
    for record in ACTIONS:
        if record.library:
            actions[record.id].setEnabled(enabled)
