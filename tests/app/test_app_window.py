"""The window as a person uses it, offscreen, over a real library and the fake role."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from app_helpers import LONG_NAME, fake_command, fill
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app import actions
from app.actions import ACTIONS
from app.errors import Bug, Notifications, install_hooks
from app.models.documents import NAME
from app.settings import Settings
from app.theme import Theme
from app.views.dialogs import Sheet
from app.views.library_page import LibraryPage
from app.views.main_window import MainWindow
from app.views.trouble import Trouble
from app.widgets.labels import Label
from core.base.errors import DiskFull
from core.library import Library
from core.store import database, jobs

Open = Callable[[Path], MainWindow]


@pytest.fixture
def settings(qapp) -> Settings:
    made = Settings()
    made.set("start_search_early", False)
    return made


@pytest.fixture
def open_window(qtbot: QtBot, qapp, theme: Theme, settings: Settings) -> Iterator[Open]:
    """Opens windows; each is closed at the end, and its children with it."""
    windows: list[MainWindow] = []

    def make(folder: Path) -> MainWindow:
        window = MainWindow(folder, settings, theme, Notifications(qapp), fake_command())
        windows.append(window)
        window.show()
        qtbot.waitUntil(lambda: window.context is not None or window.findChild(Trouble) is not None, timeout=10_000)
        return window

    yield make
    for window in windows:
        window.close()
        window.deleteLater()


@pytest.fixture
def full(tmp_path: Path, open_window: Open) -> MainWindow:
    fill(tmp_path / "library")
    return open_window(tmp_path / "library")


def page(window: MainWindow) -> LibraryPage:
    made = window.page("library")
    assert isinstance(made, LibraryPage)
    return made


def drop(window: MainWindow, *paths: str) -> bool:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths] or [QUrl("https://example.org/a")])
    where, copy, left, none = (
        QPoint(300, 300),
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    enter = QDragEnterEvent(where, copy, data, left, none)
    enter.ignore()
    window.dragEnterEvent(enter)
    if not enter.isAccepted():
        return False
    assert window.overlay.isVisible()
    window.dropEvent(QDropEvent(QPointF(where), copy, data, left, none))
    assert not window.overlay.isVisible()
    return True


# first start


def test_first_start_makes_a_library_and_offers_two_ways(tmp_path: Path, open_window: Open, qtbot: QtBot) -> None:
    window = open_window(tmp_path / "new" / "library")
    assert Library.exists(tmp_path / "new" / "library")
    shown = page(window)
    assert shown.stack.currentWidget() is shown.welcome
    assert shown.welcome.add_choice.isVisible()
    qtbot.mouseClick(shown.welcome.demo_choice, Qt.MouseButton.LeftButton)
    assert window.context.jobs.running.op == "demo"
    assert shown.stack.currentWidget() is not shown.welcome
    assert shown.jobs_panel.isVisible()
    qtbot.waitUntil(lambda: window.context.jobs.running is None, timeout=15_000)
    assert shown.stack.currentWidget() is shown.welcome  # the fake role adds nothing


def test_dropping_on_any_page_reads_and_shows_progress(full: MainWindow, qtbot: QtBot) -> None:
    assert drop(full, "/home/ada/one", "/home/ada/two.pdf")
    jobs_ = full.context.jobs
    assert jobs_.running.args == {"paths": ["/home/ada/one", "/home/ada/two.pdf"], "retry": False}
    panel = page(full).jobs_panel
    qtbot.waitUntil(lambda: "of 40 files" in panel.counters.text(), timeout=10_000)
    assert panel.title.text() == "Reading documents"
    assert panel.left.text() == "about 2 minutes left"
    assert "harbour association" in panel.file.whole()
    assert panel.bar.maximum() == 40
    assert full.nav.job.isVisible()
    panel.pause.click()
    assert panel.title.text() == "Paused"
    assert panel.pause.text() == "Go on"
    panel.pause.click()
    panel.stop.click()
    assert panel.title.text() == "Stopping"
    qtbot.waitUntil(lambda: jobs_.running is None, timeout=10_000)
    assert not panel.isVisible()
    assert not full.nav.job.isVisible()
    assert "Stopped" in full.toasts.toasts()[-1].message.text


def test_what_is_no_file_cannot_be_dropped(full: MainWindow) -> None:
    assert not drop(full)


def test_folder_dialog_leads_to_a_job(full: MainWindow, tmp_path: Path, settings: Settings) -> None:
    full.actions_by_id["add-folder"].trigger()
    dialog = page(full).findChild(QFileDialog)
    dialog.filesSelected.emit([str(tmp_path)])
    assert full.context.jobs.running.args["paths"] == [str(tmp_path)]
    assert settings.get("last_folder") == str(tmp_path.parent)
    dialog.close()


# the report


def test_report_counts_filters_and_sorts(full: MainWindow, qtbot: QtBot) -> None:
    shown = page(full)
    assert [chip.text() for chip in shown.chips.values()] == ["All  13", "Read  6", "With problems  6", "Not read  2"]
    assert "13 documents" in shown.subtitle.text()
    assert not shown.retry_button.isVisible()
    shown.chips["problems"].click()
    assert shown.model.rowCount() == 6
    assert shown.retry_button.isVisible()
    shown.retry_button.click()
    assert full.context.jobs.running.args == {"paths": [], "retry": True}
    shown.chips["all"].click()
    shown.search.setText("guide")
    qtbot.waitUntil(lambda: shown.model.rowCount() == 1)
    shown.search.setText("no such name")
    qtbot.waitUntil(lambda: shown.rows.currentWidget() is shown.nothing)


def test_tags_are_kept(full: MainWindow, qtbot: QtBot) -> None:
    shown = full.page("library")
    assert isinstance(shown, LibraryPage)
    assert full.context is not None
    shown.table.selectRow(0)
    document = shown.table.current()
    assert document is not None
    shown.details.tags.setText("tax,  urgent , tax,")
    shown.details.tags.editingFinished.emit()
    library = full.context.library
    qtbot.waitUntil(lambda: library.document(document.id).tags == ("tax", "urgent"), timeout=5000)
    assert library.facets()["tags"] == [("tax", 1), ("urgent", 1)]


def test_details_say_everything(full: MainWindow) -> None:
    shown = page(full)
    shown.search.setText("payroll")
    shown.search.returnPressed.emit()
    shown.table.selectRow(0)
    details = shown.details
    assert details.isVisible()
    assert details._reason.text() == "The file is encrypted and needs a password."
    assert "Unlock" in details._advice.text()
    assert details.unlock_button.isVisible()
    assert not details.view_button.isVisible()
    assert not details.retry_button.isVisible()
    assert shown.escape()
    assert not details.isVisible()


def test_long_name_is_cut_but_known(full: MainWindow) -> None:
    shown = page(full)
    shown.search.setText(LONG_NAME[:12])
    shown.search.returnPressed.emit()
    index = shown.model.index(0, NAME)
    assert index.data() == LONG_NAME
    assert index.data(Qt.ItemDataRole.ToolTipRole).endswith(LONG_NAME)
    shown.table.selectRow(0)
    assert full.width() <= 1240  # a long name does not widen the window


def test_removing_asks_and_can_be_undone(full: MainWindow, qtbot: QtBot) -> None:
    shown = page(full)
    shown.table.selectRow(1)
    path = shown.table.selected()[0].path
    qtbot.keyClick(shown.table, Qt.Key.Key_Delete)
    sheet = shown.findChild(Sheet)
    assert full.context.jobs.running is None
    yes = sheet.buttons.itemAt(1).widget()
    yes.click()
    assert full.context.jobs.running.args == {"path": path}
    qtbot.waitUntil(lambda: bool(full.toasts.toasts()), timeout=10_000)
    toast = full.toasts.toasts()[-1]
    assert toast.message.action == "Undo"
    qtbot.waitUntil(lambda: full.context.jobs.running is None, timeout=10_000)
    toast._act()
    assert full.context.jobs.running.args == {"paths": [path], "retry": False}


def test_keeping_is_the_default_answer(full: MainWindow, qtbot: QtBot) -> None:
    shown = page(full)
    shown.table.selectRow(1)
    shown.do.remove(shown.table.selected())
    qtbot.keyClick(shown.findChild(Sheet), Qt.Key.Key_Return)
    assert full.context.jobs.running is None


def test_document_list_follows_the_library_while_work_goes_on(full: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    shown = page(full)
    db = database.open_writer(tmp_path / "library")
    with database.transaction(db):
        db.execute("DELETE FROM document WHERE state = 'read'")
    db.conn.close()
    full.context.jobs.ingest(["/x"])
    qtbot.waitUntil(lambda: shown.chips["all"].text() == "All  8", timeout=10_000)


def test_cut_off_work_is_offered_again(tmp_path: Path, open_window: Open) -> None:
    fill(tmp_path / "library")
    db = database.open_writer(tmp_path / "library")
    jobs.start(db, "ingest", {})
    db.conn.close()
    window = open_window(tmp_path / "library")
    shown = page(window)
    assert shown.banner.isVisible()
    assert "cut off" in shown.banner.text()
    shown.banner.acted.emit()
    assert window.context.jobs.running.args["paths"] == []
    assert not shown.banner.isVisible()


# trouble


@pytest.mark.parametrize("kind", ["damaged", "too-new", "other-things"])
def test_library_that_does_not_open_is_explained(kind: str, tmp_path: Path, open_window: Open, qtbot: QtBot) -> None:
    folder = tmp_path / "library"
    if kind == "too-new":
        Library.create(folder).close()
        db = database.open_writer(folder)
        db.execute("INSERT INTO migration VALUES ('9999-from-the-future', '')")
        db.conn.close()
    else:
        folder.mkdir()
        (folder / ("library.db" if kind == "damaged" else "letter.txt")).write_bytes(b"not a database " * 300)
    window = open_window(folder)
    trouble = window.findChild(Trouble)
    assert window.context is None
    assert trouble.text.text()
    assert trouble.advice.text()
    assert "Traceback" not in trouble.text.text()
    assert not window.actions_by_id["add-folder"].isEnabled()
    assert not drop(window, "/x")
    window.navigate("library")  # nothing happens
    (folder / "library.db").unlink(missing_ok=True)
    (folder / "letter.txt").unlink(missing_ok=True)
    for left in folder.glob("library.db-*"):
        left.unlink()
    trouble.retry_button.click()
    qtbot.waitUntil(lambda: window.context is not None, timeout=10_000)
    assert page(window).isVisible()


def test_unhandled_exception_becomes_a_message_with_details(
    full: MainWindow, capsys: pytest.CaptureFixture[str]
) -> None:
    undo = install_hooks(full._notifications)
    try:
        try:
            raise RuntimeError("a bug")
        except RuntimeError as error:
            sys.excepthook(type(error), error, error.__traceback__)
    finally:
        undo()
    toast = full.toasts.toasts()[-1]
    assert "RuntimeError: a bug" in toast.message.details
    assert "RuntimeError" not in toast.message.text
    assert "RuntimeError: a bug" in capsys.readouterr().err


def test_toasts_tell_kinds_apart_and_stay_few(full: MainWindow) -> None:
    full._notifications.error(DiskFull("The disk is full.", "Free some space."))
    toast = full.toasts.toasts()[-1]
    assert (toast.message.text, toast.message.advice, toast.message.details) == (
        "The disk is full.",
        "Free some space.",
        "",
    )
    assert "Free some space" in toast.accessibleName()
    full._notifications.error(Bug("x", "Traceback"))
    for number in range(5):
        full._notifications.tell(f"message {number}")
    assert [t.message.text for t in full.toasts.toasts()] == ["message 2", "message 3", "message 4"]
    area = full.toasts.geometry()
    assert full.centralWidget().rect().contains(area)


# actions


def test_every_action_has_a_place_and_no_shortcut_twice(full: MainWindow) -> None:
    assert set(full.actions_by_id) == {record.id for record in ACTIONS}
    shortcuts = [record.shortcut for record in ACTIONS if record.shortcut]
    assert len(shortcuts) == len(set(shortcuts))
    menus = {action.text() for action in full.menuBar().actions()}
    assert menus == {record.menu for record in ACTIONS}
    with pytest.raises(KeyError):
        actions.build(full, {})


def test_shortcuts_and_sheets(full: MainWindow, qtbot: QtBot) -> None:
    full.actions_by_id["find"].trigger()
    assert page(full).search.hasFocus() or full.focusWidget() is page(full).search
    full.actions_by_id["shortcuts"].trigger()
    sheet = full.findChild(Sheet)
    texts = {label.text() for label in sheet.findChildren(Label)}
    assert {"Ctrl+1", "F1", "Esc"} <= texts
    qtbot.keyClick(sheet, Qt.Key.Key_Escape)
    full.actions_by_id["theme-dark"].trigger()
    assert full._theme.dark
    full.actions_by_id["theme-light"].trigger()
    assert not full._theme.dark


def test_last_page_is_not_shown_before_there_is_something(
    tmp_path: Path, open_window: Open, settings: Settings
) -> None:
    settings.set("last_page", "ask")
    window = open_window(tmp_path / "empty")
    assert window.stack.currentWidget() is page(window)


def test_closing_ends_children_and_keeps_the_size(full: MainWindow, settings: Settings, qtbot: QtBot) -> None:
    full.context.engine.prepare("search")
    full.context.jobs.ingest(["/long"])
    qtbot.waitUntil(lambda: full.context.engine.state("search") == "ready", timeout=10_000)
    pids = full.context.engine.pids()
    assert len(pids) == 3  # search, the job, and who watches the folders
    full.close()
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert full.context is None
    assert settings.get("geometry")
