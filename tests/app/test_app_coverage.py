"""What the Library page tells of the whole library, and what can be done from there, over a real library."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
import test_app_window
from pytestqt.qtbot import QtBot

from app.models.documents import KIND, OCR, PASSAGES, READER
from app.models.states import advice
from app.tasks.places import RootState, root_state
from app.tasks.remaining import ago, size_text
from app.views.dialogs import Sheet
from app.views.document_details import ranges
from app.views.folders_sheet import FoldersSheet
from app.views.job_messages import purge_message, removal_message
from app.views.library_page import LibraryPage
from app.views.main_window import MainWindow
from app.views.report_export import write_report
from app.views.unlock_sheet import UnlockSheet
from core.library import Relatives
from core.store import database, documents

full, open_window, settings = test_app_window.full, test_app_window.open_window, test_app_window.settings
page = test_app_window.page


def choose(shown: LibraryPage, name: str) -> None:
    shown.search.setText(name)
    shown.search.returnPressed.emit()
    shown.table.selectRow(0)


def write(window: MainWindow, sql: str) -> None:
    db = database.open_writer(window.folder)
    with database.transaction(db):
        db.execute(sql)
    db.conn.close()


def last_sheet(shown: LibraryPage) -> Sheet:
    return [sheet for sheet in shown.findChildren(Sheet) if sheet.isVisible()][-1]


def test_totals_and_every_state_as_a_filter(full: MainWindow) -> None:
    write(full, "UPDATE document SET ocr_pages = '[3, 4, 5]' WHERE path LIKE '%annual-report%'")
    shown = page(full)
    shown.refresh()
    assert shown.subtitle.whole() == (
        "13 documents · 79 pages (3 by text recognition) · 0 passages · 2 with warnings"  # no passage has a text here
    )
    menu = shown.states.one.menu()
    menu.aboutToShow.emit()
    offered = {action.text().split("\t")[0]: action for action in menu.actions()}
    assert set(offered) == {
        "Read", "Scanned", "Locked", "Damaged", "Partly read", "Not supported", "Empty", "Crashed", "No permission",
    }  # fmt: skip
    offered["Locked"].trigger()
    assert shown.model.rowCount() == 1
    assert shown.states.one.text().startswith("Locked")
    menu.aboutToShow.emit()
    next(a for a in menu.actions() if a.text().startswith("Scanned")).trigger()
    assert shown.model.rowCount() == 2
    shown.retry_button.click()
    paths = ["/home/ada/Documents/payroll.pdf", "/home/ada/Documents/scan-of-contract.pdf"]
    assert full.context.jobs.running.args["again"] == paths


def test_details_tell_how_pages_were_read_and_what_is_alike(full: MainWindow, qtbot: QtBot) -> None:
    ids = {d.path.rsplit("/", 1)[1]: d.id for d in full.context.library.documents()}
    owner, copy, version = ids["annual-report-2023.pdf"], ids["guide-de-la-rade.html"], ids["会議の記録.md"]
    write(full, f"UPDATE document SET ocr_pages = '[3, 4, 5, 9]', family = 7 WHERE id = {owner}")
    write(full, f"UPDATE document SET copy_of = {owner}, family = 7 WHERE id = {copy}")
    write(full, f"UPDATE document SET family = 7 WHERE id = {version}")
    shown = page(full)
    shown.refresh()
    choose(shown, "annual")
    assert "48 pages, pages 3–5, 9 from their pictures" in shown.details._facts.text()
    links = [link.accessibleName() for link in shown.details.relatives.links]
    assert links == ["Read guide-de-la-rade.html", "Read 会議の記録.md"]
    shown.details.relatives.links[0].click()
    assert full.beside.is_open
    assert full.beside.viewer.place.document_id == copy


def test_columns_can_be_chosen_and_are_kept(full: MainWindow, settings) -> None:
    shown = page(full)
    assert shown.table.isColumnHidden(OCR)
    assert not shown.table.isColumnHidden(PASSAGES)
    shown._column(OCR, True)
    shown._column(READER, True)
    shown._column(KIND, False)
    assert not shown.table.isColumnHidden(OCR)
    assert not shown.table.isColumnHidden(READER)
    assert shown.table.isColumnHidden(KIND)
    assert {OCR, READER} <= set(settings.get("columns"))


def test_one_is_tried_again_and_many_are_removed_in_one_go(full: MainWindow, qtbot: QtBot) -> None:
    shown = page(full)
    choose(shown, "broken")
    shown.details.retry_button.click()
    jobs = full.context.jobs
    assert jobs.running.args == {"paths": [], "retry": False, "again": ["/home/ada/Documents/broken-export.pdf"]}
    jobs.cancel()
    qtbot.waitUntil(lambda: jobs.running is None, timeout=10_000)
    shown.search.clear()
    shown.search.returnPressed.emit()
    shown.table.selectAll()
    assert shown.many.isVisible()
    assert shown.many.title.whole() == "13 documents chosen"
    shown.many.remove_button.click()
    last_sheet(shown).buttons.itemAt(1).widget().click()
    assert len(jobs.running.args["paths"]) == 13
    qtbot.waitUntil(lambda: any("13 documents were removed." in t.message.text for t in full.toasts.toasts()))
    assert shown.escape()
    assert not shown.many.isVisible()


def test_a_wrong_password_is_told_and_the_right_one_opens(full: MainWindow, qtbot: QtBot) -> None:
    shown = page(full)
    choose(shown, "payroll")
    shown.details.unlock_button.click()
    sheet = last_sheet(shown)
    assert isinstance(sheet, UnlockSheet)
    assert not sheet.yes.isEnabled()
    qtbot.keyClicks(sheet.field, "guess")
    assert sheet.field.displayText() != "guess"
    sheet.eye.click()
    assert sheet.field.displayText() == "guess"
    jobs = full.context.jobs
    sheet.yes.click()
    assert jobs.running.args["passwords"] == {"/home/ada/Documents/payroll.pdf": "guess"}
    assert jobs.running.args["remember"] is False
    qtbot.waitUntil(lambda: sheet.error.isVisible(), timeout=10_000)  # the fake role leaves it locked
    assert sheet.error.text() == "This password does not open it."
    sheet.keep.click()
    sheet.yes.click()
    assert jobs.running.args["remember"] is True
    write(full, "UPDATE document SET state = 'read' WHERE path LIKE '%payroll%'")
    with qtbot.waitSignal(sheet.accepted, timeout=10_000):
        pass


def test_folders_tell_their_state_and_take_back_what_was_left_out(full: MainWindow, qtbot: QtBot) -> None:
    left_out = "/home/ada/Documents/old.txt"
    db = database.open_writer(full.folder)
    with database.transaction(db):
        documents.exclude(db, left_out)
    db.conn.close()
    shown = page(full)
    full.actions_by_id["folders"].trigger()
    sheet = last_sheet(shown)
    assert isinstance(sheet, FoldersSheet)
    qtbot.waitUntil(lambda: "Drive not connected" in words(sheet), timeout=5000)
    assert any("13 documents" in text for text in words(sheet))
    button = next(
        b for b in sheet.findChildren(type(sheet.add_button)) if b.accessibleName() == f"Take back {left_out}"
    )
    button.click()
    jobs = full.context.jobs
    qtbot.waitUntil(lambda: jobs.running is not None and jobs.running.args.get("again") == [left_out], timeout=5000)
    assert full.context.library.excluded() == []
    sheet.patterns.setPlainText("!")
    sheet.save_button.click()
    qtbot.waitUntil(sheet.error.isVisible, timeout=5000)
    sheet.patterns.setPlainText("*.log")
    sheet.save_button.click()
    qtbot.waitUntil(lambda: full.context.library.ignore_patterns() == "*.log", timeout=5000)
    qtbot.waitUntil(lambda: not sheet.error.isVisible(), timeout=5000)
    sheet.reject()


def test_an_encrypted_mail_is_not_offered_a_password(full: MainWindow) -> None:
    shown = page(full)
    choose(shown, "payroll")
    assert shown.details.document is not None
    mail = replace(shown.details.document, media_type="message/rfc822")
    shown.details.show_document(mail, Relatives((), ()))
    assert not shown.details.unlock_button.isVisible()
    assert shown.details.retry_button.isVisible()
    assert "mail program" in advice(mail)


def test_relatives_of_one_name_are_told_apart_by_their_folders(full: MainWindow) -> None:
    shown = page(full)
    choose(shown, "payroll")
    document = shown.details.document
    assert document is not None
    others = tuple(
        replace(document, id=900 + n, path=f"/backup/{year}/payroll.pdf") for n, year in enumerate((2023, 2024))
    )
    shown.details.show_document(document, Relatives(others, ()))
    assert [link.text() for link in shown.details.relatives.links] == ["payroll.pdf · 2023", "payroll.pdf · 2024"]


def words(sheet: Sheet) -> list[str]:
    from PySide6.QtWidgets import QLabel

    return [label.text() for label in sheet.findChildren(QLabel) if label.isVisibleTo(sheet)]


def test_states_of_folders(tmp_path: Path) -> None:
    assert root_state(str(tmp_path)) is RootState.HERE
    assert root_state(str(tmp_path / "moved")) is RootState.MISSING
    assert root_state(str(tmp_path / "gone" / "inner")) is RootState.AWAY
    assert root_state("/media/nobody/stick") is RootState.AWAY


def test_report_is_written_beside_the_window(full: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    shown = page(full)
    write_report(full.context, shown._background, tmp_path / "report.csv")
    qtbot.waitUntil(lambda: bool(full.toasts.toasts()), timeout=5000)
    message = full.toasts.toasts()[-1].message
    assert (message.text, message.action) == ("The report on 13 documents was written.", "Open")
    with (tmp_path / "report.csv").open(encoding="utf-8-sig", newline="") as file:
        assert len(list(csv.DictReader(file))) == 13


def test_wiping_is_explained_then_told_in_bytes(full: MainWindow, qtbot: QtBot) -> None:
    shown = page(full)
    full.actions_by_id["purge"].trigger()
    sheet = last_sheet(shown)
    assert full.context.jobs.running is None
    sheet.buttons.itemAt(1).widget().click()
    assert full.context.jobs.running.op == "purge"
    qtbot.waitUntil(lambda: bool(full.toasts.toasts()), timeout=10_000)
    assert "3.1 MB now; it took 5.4 MB before" in full.toasts.toasts()[-1].message.advice


def test_scans_are_offered_when_text_recognition_comes_on(full: MainWindow, settings) -> None:
    page(full)
    settings.set("ocr", False)
    assert not full.toasts.toasts()
    settings.set("ocr", True)
    toast = full.toasts.toasts()[-1]
    assert toast.message.action == "Read them"
    toast._act()
    again = full.context.jobs.running.args["again"]  # the sample says of all that they are PDFs
    assert [path.rsplit("/", 1)[1] for path in again] == ["huge-log.txt", "scan-of-contract.pdf"]


def test_settings_reach_the_reading(full: MainWindow, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict] = []
    real = full.context.engine.call
    monkeypatch.setattr(full.context.engine, "call", lambda role, op, args: given.append(args) or real(role, op, args))
    settings.set("ocr", False)
    settings.set("battery", True)
    full.context.jobs.ingest(["/x"])
    assert (given[-1]["ocr"], given[-1]["battery"]) == (False, True)


def test_receipts_add_up() -> None:
    one = {"documents": 1, "channels": {"bm25": 0, "text": 0}, "receipt": "1 document …", "stays": ["/a/copy.txt"]}
    told = removal_message([one, one | {"channels": {"bm25": 0, "text": 2}}])
    assert told.text == "2 documents were removed."
    assert told.advice.startswith("2 traces are left in search, text, cache and history.")
    assert "copy.txt" in told.advice
    assert told.tone == "warning"
    assert "text: 2" in told.details
    assert removal_message([one]).tone == "success"
    assert "1 kB" in purge_message({"bytes_before": 2000, "bytes_after": 700}).advice


def test_words_for_ranges_times_and_sizes() -> None:
    assert ranges((9, 3, 4, 5)) == "3–5, 9"
    assert [ago(s) for s in (3, 60, 3 * 3600, 80 * 3600)] == ["just now", "1 minute ago", "3 hours ago", "3 days ago"]
    assert [size_text(n) for n in (0, 700, 5_400_000, 2_000_000_000)] == ["0 kB", "1 kB", "5.4 MB", "2.0 GB"]
