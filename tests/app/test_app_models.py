"""The sheet of models: the list, needs before anything is fetched, progress and stop, errors, the library's encoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from app_helpers import fake_command, fill
from fake_models import LONG
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QDialog
from pytestqt.qtbot import QtBot

from app.errors import Message, Notifications
from app.models.model_entries import facts, language_words, room, rows
from app.settings import Settings
from app.theme import Theme
from app.views.main_window import MainWindow
from app.views.models_sheet import ModelsSheet
from app.widgets.buttons import Button

WAIT = 30_000


@pytest.fixture
def window(qtbot: QtBot, theme: Theme, tmp_path: Path) -> Iterator[MainWindow]:
    fill(tmp_path / "library")
    settings = Settings(tmp_path / "settings.json")
    settings.set("start_search_early", False)
    settings.set("watch", False)
    made = MainWindow(tmp_path / "library", settings, theme, Notifications(), fake_command())
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.context is not None, timeout=WAIT)
    yield made
    made.close()


@pytest.fixture
def sheet(window: MainWindow, qtbot: QtBot) -> ModelsSheet:
    window.actions_by_id["models"].trigger()
    found = next(d for d in window.findChildren(QDialog) if isinstance(d, ModelsSheet))
    qtbot.waitUntil(lambda: window.models.models is not None and not window.models.busy, timeout=WAIT)
    return found


def _button(inside: QDialog, name: str) -> Button:
    return next(b for b in inside.findChildren(Button) if name in (b.accessibleName(), b.text()) and b.isVisible())


def _inner(sheet: ModelsSheet, qtbot: QtBot) -> QDialog:
    qtbot.waitUntil(lambda: any(d.isVisible() for d in sheet.findChildren(QDialog)), timeout=WAIT)
    return next(d for d in sheet.findChildren(QDialog) if d.isVisible())


def _words(inside: QDialog) -> str:
    from PySide6.QtWidgets import QLabel

    return "\n".join(label.text() for label in inside.findChildren(QLabel) if label.isVisibleTo(inside))


def test_the_list_tells_what_is_there_and_in_use(sheet: ModelsSheet) -> None:
    words = _words(sheet)
    for part in ("all-MiniLM-L6-v2", LONG, "This library", "Damaged", "Fetched in part", "2.3 GB to fetch", "MIT"):
        assert part in words
    assert words.index("all-MiniLM-L6-v2") < words.index("multilingual-e5-small") < words.index("bge-m3")


def test_what_it_takes_is_shown_before_it_is_fetched_then_progress(
    window: MainWindow, sheet: ModelsSheet, qtbot: QtBot
) -> None:
    told: list[Message] = []
    window._notifications.shown.connect(told.append)
    _button(sheet, "Add bge-m3").click()
    ask = _inner(sheet, qtbot)
    assert not window.models.adding
    for part in ("BAAI/bge-m3", "MIT", "2.3 GB", "5.9 GB", "3.0 GB"):
        assert part in _words(ask)
    _button(ask, "Add").click()
    qtbot.waitUntil(lambda: sheet.bar.value() > 0, timeout=WAIT)
    assert sheet.work_card.isVisible()
    assert "of 2.3 GB" in sheet.amount.text()
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT)
    assert told[0].text == "bge-m3 was added."
    assert not sheet.work_card.isVisible()
    assert next(m for m in window.models.models or [] if m.id == "bge-m3").installed


def test_stop_ends_it_quietly(window: MainWindow, sheet: ModelsSheet, qtbot: QtBot) -> None:
    _button(sheet, "Add bge-m3").click()
    _button(_inner(sheet, qtbot), "Add").click()
    qtbot.waitUntil(lambda: sheet.bar.value() > 0, timeout=WAIT)
    sheet.stop.click()
    qtbot.waitUntil(lambda: not window.models.adding and not window.models.busy, timeout=WAIT)
    assert not sheet.error.isVisible()
    assert not sheet.work_card.isVisible()


def test_an_addition_outlives_the_sheet(window: MainWindow, sheet: ModelsSheet, qtbot: QtBot) -> None:
    told: list[Message] = []
    window._notifications.shown.connect(told.append)
    _button(sheet, "Add bge-m3").click()
    _button(_inner(sheet, qtbot), "Add").click()
    sheet.accept()
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT)
    assert told[0].text == "bge-m3 was added."


def test_one_of_an_older_version_is_renewed_with_progress(window: MainWindow, sheet: ModelsSheet, qtbot: QtBot) -> None:
    told: list[Message] = []
    window._notifications.shown.connect(told.append)
    assert "Made by an older version" in _words(sheet)
    _button(sheet, "Renew multilingual-e5-small").click()
    assert sheet.work_card.isVisible()
    assert "Preparing multilingual-e5-small" in sheet.work_title.toolTip() + _words(sheet)
    assert "Asking the hub" not in _words(sheet)  # nothing is fetched
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT)
    assert told[0].text == "multilingual-e5-small was renewed."
    assert not sheet.work_card.isVisible()
    assert "Made by an older version" not in _words(sheet)


def test_a_renewal_can_be_stopped_and_tells_why_it_fails(window: MainWindow, sheet: ModelsSheet, qtbot: QtBot) -> None:
    _button(sheet, "Renew multilingual-e5-small").click()
    qtbot.waitUntil(lambda: window.models.last_progress is not None, timeout=WAIT)
    sheet.stop.click()
    qtbot.waitUntil(lambda: not window.models.busy, timeout=WAIT)
    assert not sheet.error.isVisible()
    model = next(m for m in window.models.models or [] if m.id == "multilingual-e5-small")
    assert model.outdated
    sheet._renew(replace(model, id="damaged"))
    qtbot.waitUntil(sheet.error.isVisible, timeout=WAIT)
    assert "is damaged" in sheet.error.text()
    assert not sheet.work_card.isVisible()


def test_one_fetched_in_part_is_gone_on_with_or_thrown_away(
    window: MainWindow, sheet: ModelsSheet, qtbot: QtBot
) -> None:
    _button(sheet, "Add some-lab/half").click()
    assert "some-lab/half" in _words(_inner(sheet, qtbot))
    _inner(sheet, qtbot).reject()
    model = next(m for m in window.models.models or [] if m.id == "some-lab/half")
    sheet._remove(model)
    ask = _inner(sheet, qtbot)
    assert "What was fetched of it is deleted." in _words(ask)
    _button(ask, "Remove").click()
    qtbot.waitUntil(lambda: not next(m for m in window.models.models or [] if m.id == model.id).partial, timeout=WAIT)


def test_a_refusal_is_told_in_plain_words(sheet: ModelsSheet, qtbot: QtBot) -> None:
    assert not sheet.look.isEnabled()
    sheet.name.setText("closed/model")
    sheet.look.click()
    qtbot.waitUntil(sheet.error.isVisible, timeout=WAIT)
    assert "closed to you" in sheet.error.text()
    assert "HF_TOKEN" in _words(sheet)


def test_return_in_the_name_looks_and_leaves_the_sheet_open(sheet: ModelsSheet, qtbot: QtBot) -> None:
    sheet.name.setFocus()
    sheet.name.setText("BAAI/bge-m3")
    QTest.keyClick(sheet.name, Qt.Key.Key_Return)
    assert sheet.isVisible()
    assert "BAAI/bge-m3" in _words(_inner(sheet, qtbot))


def test_what_a_model_takes_is_not_told_to_a_sheet_that_was_closed(
    window: MainWindow, sheet: ModelsSheet, qtbot: QtBot
) -> None:
    sheet.name.setText("BAAI/bge-m3")
    sheet.look.click()
    sheet.reject()
    qtbot.waitUntil(lambda: not window.models.busy, timeout=WAIT)  # an exception on the way fails the test
    assert not [d for d in window.findChildren(QDialog) if d.isVisible()]


def test_tab_goes_down_the_cards_then_to_the_other_models(sheet: ModelsSheet) -> None:
    passed: list[str] = []
    at = sheet.name.previousInFocusChain()
    while at is not sheet.name and len(passed) < 100:
        passed += [at.accessibleName()] if isinstance(at, QAbstractButton) else []
        at = at.previousInFocusChain()
    adds = [name for name in passed if name.startswith("Add ")]
    assert adds[:3] == ["Add Qwen2.5-0.5B-Instruct-GGUF", "Add Giant-70B", f"Add {LONG}"]
    assert passed.index(adds[0]) == 1  # only its "Remove" stands between


def test_a_card_made_anew_keeps_the_focus(window: MainWindow, sheet: ModelsSheet, qtbot: QtBot) -> None:
    button = _button(sheet, "Use multilingual-e5-small for this library")
    button.setFocus()
    window.models.use("multilingual-e5-small")
    qtbot.waitUntil(lambda: not window.models.busy and sheet.focusWidget() is not button, timeout=WAIT)
    held = sheet.focusWidget()
    assert held is not None
    assert held.accessibleName() == "Use multilingual-e5-small for this library"


def test_removing_asks_first_and_says_that_it_is_final(window: MainWindow, sheet: ModelsSheet, qtbot: QtBot) -> None:
    model = next(m for m in window.models.models or [] if m.id == "multilingual-e5-small")
    sheet._remove(model)
    ask = _inner(sheet, qtbot)
    assert "cannot be undone" in _words(ask)
    _button(ask, "Remove").click()
    qtbot.waitUntil(lambda: not next(m for m in window.models.models or [] if m.id == model.id).installed, timeout=WAIT)


def test_another_encoder_for_the_library_is_a_job_with_a_way_back(
    window: MainWindow, sheet: ModelsSheet, qtbot: QtBot
) -> None:
    told: list[Message] = []
    window._notifications.shown.connect(told.append)
    _button(sheet, "Use multilingual-e5-small for this library").click()
    ask = _inner(sheet, qtbot)
    assert "uses the old index" in _words(ask)
    assert window.context is not None
    jobs = window.context.jobs
    _button(ask, "Make the index anew").click()
    assert jobs.running is not None
    assert jobs.running.op == "reencode"
    assert jobs.running.args == {"model": "multilingual-e5-small"}
    assert not sheet.isVisible()
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT)
    assert told[0].text == "This library now uses multilingual-e5-small."
    assert told[0].action == "Go back"
    assert told[0].on_action is not None
    told[0].on_action()
    qtbot.waitUntil(lambda: len(told) > 1, timeout=WAIT)
    assert told[1].text == "The library uses its old index again."


def test_a_language_model_tells_its_speed_and_can_be_measured(
    window: MainWindow, sheet: ModelsSheet, qtbot: QtBot
) -> None:
    assert "On this computer: writes 8.2 and reads 812 tokens a second" in _words(sheet)
    assert "context of 8,192 tokens · Q4_1" in _words(sheet)
    _button(sheet, "Measure again: SmolLM2-135M-Instruct-Q4_1").click()
    qtbot.waitUntil(lambda: "writes 21 and reads 400" in _words(sheet), timeout=WAIT)


def test_a_model_beyond_the_memory_says_so(sheet: ModelsSheet) -> None:
    assert _words(sheet).count("Too large for this computer") == 1
    assert room(1, 0) == room(0, 8) == room(4, 8) == ""
    assert room(6, 8) == "tight"
    assert room(7, 8) == "too large"


def test_another_program_is_found_agreed_to_switched_off_and_forgotten(
    window: MainWindow, sheet: ModelsSheet, qtbot: QtBot
) -> None:
    section = sheet.endpoint
    assert not section.kept.isVisibleTo(sheet)
    assert not section.look.isEnabled()
    section.address.setText("127.0.0.1:8080")
    section.look.click()
    qtbot.waitUntil(lambda: section.models.count() == 2, timeout=WAIT)
    assert "will be sent to 127.0.0.1:8080" in section.consent.text()
    assert window.models.endpoint is None  # looking at it uses nothing
    qtbot.waitUntil(section.begin.isEnabled, timeout=WAIT)
    section.models.setCurrentText("large-one")
    section.begin.click()
    qtbot.waitUntil(lambda: section.kept.isVisibleTo(sheet) and not window.models.busy, timeout=WAIT)
    endpoint = window.models.endpoint
    assert endpoint is not None
    assert (endpoint.model, endpoint.in_use, endpoint.anywhere) == ("large-one", True, False)
    assert section.sent.text() == "Questions and passages are sent to 127.0.0.1:8080."
    assert not section.begin.isVisibleTo(sheet)
    section.switch.click()
    qtbot.waitUntil(lambda: section.sent.text() == "Nothing is sent to it." and not window.models.busy, timeout=WAIT)
    section.drop.click()
    qtbot.waitUntil(lambda: not section.kept.isVisibleTo(sheet), timeout=WAIT)


def test_another_address_makes_what_was_found_void(sheet: ModelsSheet, qtbot: QtBot) -> None:
    section = sheet.endpoint
    section.address.setText("127.0.0.1:8080")
    QTest.keyClick(section.address, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: section.begin.isVisibleTo(sheet), timeout=WAIT)
    assert sheet.isVisible()
    section.address.setText("127.0.0.1:9090")
    assert not section.begin.isVisibleTo(sheet)
    assert not section.consent.isVisibleTo(sheet)


def test_an_address_outside_is_refused_until_it_is_allowed(sheet: ModelsSheet, qtbot: QtBot) -> None:
    section = sheet.endpoint
    section.address.setText("https://api.example.com/v1")
    section.look.click()
    qtbot.waitUntil(sheet.error.isVisible, timeout=WAIT)
    assert "nothing was sent" in sheet.error.text()
    section.anywhere.setChecked(True)
    qtbot.waitUntil(section.look.isEnabled, timeout=WAIT)
    section.look.click()
    qtbot.waitUntil(lambda: section.begin.isVisibleTo(sheet), timeout=WAIT)


def test_facts_of_a_model_in_words() -> None:
    data = {"id": "x", "kind": "encoder", "source": "y/x", "size": 5_000_000, "licence": "MIT", "installed": False,
            "later": 1, "active": False, "languages": ["en", "de"], "download": 2_000_000, "memory": 0}  # fmt: skip
    assert facts(rows({"models": [data]})[0]) == "2.0 MB to fetch · 5.0 MB on the disk · MIT · English, German"
    assert language_words(("many",)) == "many languages"
    assert language_words(("en", "de", "fr", "tlh")) == "4 languages"
