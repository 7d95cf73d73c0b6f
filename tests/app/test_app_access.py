"""Every control can be reached with the keyboard and says what it is: a walk over the tree of widgets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from app_helpers import fake_command, fill
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractScrollArea, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from app.errors import Notifications
from app.settings import Settings
from app.theme import Theme
from app.views.dialogs import confirm, settings_sheet, shortcut_sheet
from app.views.folders_sheet import FoldersSheet
from app.views.main_window import MainWindow
from app.views.unlock_sheet import UnlockSheet
from core.base.types import DocumentState


def controls(root: QWidget) -> list[QWidget]:
    """Visible widgets that the Tab key should reach."""
    found = []
    for widget in root.findChildren(QWidget):
        tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus
        inner = widget.focusProxy() is not None or (
            widget.parent() is not None and widget.parent().focusProxy() is widget
        )
        if tab and not inner and widget.isVisibleTo(root) and widget.isEnabled() and not _part_of_editor(widget):
            found.append(widget)
    return found


def _part_of_editor(widget: QWidget) -> bool:
    return widget.objectName().startswith("qt_") or isinstance(widget.parent(), QAbstractScrollArea)


def name(widget: QWidget) -> str:
    face = QAccessible.queryAccessibleInterface(widget)
    return face.text(QAccessible.Text.Name) if face is not None else ""


def reached(root: QWidget) -> set[QWidget]:
    """What the focus chain passes, from `root` around."""
    seen: set[QWidget] = set()
    at = root
    while at not in seen:
        seen.add(at)
        at = at.nextInFocusChain()
    return seen


def check(root: QWidget) -> None:
    found = controls(root)
    assert found
    nameless = [
        f"{type(w).__name__} {w.objectName()} in {type(w.parent()).__name__}" for w in found if not name(w).strip()
    ]
    assert not nameless
    chain = reached(root.window() if isinstance(root, QMainWindow) else root)
    assert not [name(w) for w in found if w not in chain]


@pytest.fixture
def window(tmp_path: Path, qtbot: QtBot, qapp, theme: Theme) -> Iterator[MainWindow]:
    fill(tmp_path / "library")
    settings = Settings()
    settings.set("start_search_early", False)
    made = MainWindow(tmp_path / "library", settings, theme, Notifications(qapp), fake_command())
    made.show()
    qtbot.waitUntil(lambda: made.context is not None, timeout=10_000)
    yield made
    made.close()
    made.deleteLater()


@pytest.mark.parametrize("key", ["library", "search", "ask", "concepts", "adapt"])
def test_pages(window: MainWindow, key: str) -> None:
    window.navigate(key)
    check(window)


def test_library_with_details_and_a_running_job(window: MainWindow, qtbot: QtBot) -> None:
    page = window.page("library")
    page.table.selectRow(0)
    window.context.jobs.ingest(["/long"])
    check(window)
    names = {name(w) for w in controls(window)}
    assert {"Pause", "Stop", "Documents", "Remove", "Close details", "Filter documents by name", "Settings"} <= names


def test_library_with_several_chosen(window: MainWindow) -> None:
    page = window.page("library")
    page.table.selectAll()
    check(window)
    assert {"Try again", "Unlock…", "Remove", "Choose none"} <= {name(w) for w in controls(window)}


def test_welcome(tmp_path: Path, qtbot: QtBot, qapp, theme: Theme) -> None:
    window = MainWindow(tmp_path / "empty", Settings(), theme, Notifications(qapp), fake_command())
    window.show()
    qtbot.waitUntil(lambda: window.context is not None, timeout=10_000)
    check(window)
    assert {"Add a folder", "Try the sample library"} <= {name(w) for w in controls(window)}
    window.close()
    window.deleteLater()


def test_tab_goes_from_the_page_through_its_controls(window: MainWindow, qtbot: QtBot) -> None:
    passed = []
    window.activateWindow()
    window.nav.buttons()["library"].setFocus()
    for _ in range(14):
        passed.append(name(window.focusWidget()))
        window.focusNextChild()
    places = [
        passed.index(n)
        for n in ("Library", "Settings", "Add files", "Add a folder", "Filter documents by name", "Documents")
    ]
    assert places == sorted(places)


def test_dialogs(window: MainWindow) -> None:
    for sheet in (
        settings_sheet(window._settings, window),
        shortcut_sheet(window),
        confirm(window, "Sure?", "Text", "Do", lambda: 0),
        FoldersSheet(window.context, window),
        UnlockSheet(window.context, window.context.library.documents(states=[DocumentState.LOCKED]), window),
    ):
        sheet.show()
        check(sheet)
        sheet.close()


def test_texts_on_the_welcome_page_and_table_grow_with_the_text_size(window: MainWindow) -> None:
    before = window.page("library").table.fontMetrics().height()
    window._theme.set_text_percent(180)
    assert window.page("library").table.fontMetrics().height() > before * 1.5
    window._theme.set_text_percent(100)
