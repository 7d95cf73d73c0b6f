"""All settings of a recipe in the window: told with their sources, set, taken back, and begun with."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QSpinBox
from pytestqt.qtbot import QtBot
from test_app_access import check

from app.tasks.jobs import Task
from app.views.adapt_page import AdaptPage
from app.views.adapt_settings import RecipeSettings
from app.views.main_window import MainWindow

WAIT = 30_000


def opened(page: AdaptPage, qtbot: QtBot) -> RecipeSettings:
    page.choice.open_settings.click()
    settings = page.choice.settings
    qtbot.waitUntil(lambda: bool(settings.editors), timeout=WAIT)
    return settings


def test_every_setting_tells_its_default_and_its_source(open_page: Callable[..., AdaptPage], qtbot: QtBot) -> None:
    page = open_page()
    assert not page.choice.settings.isVisibleTo(page)
    settings = opened(page, qtbot)
    said = "\n".join(label.text() for label in settings.findChildren(QLabel))
    assert "query.epochs · as it comes: 4 · measured on our own collections" in said
    assert "Learning rate of the side of the question." in said
    rate = settings.editors["query.rate"]
    assert isinstance(rate, QLineEdit)
    assert rate.text() == "0.0005"
    assert "full.epochs" not in settings.editors  # the quick recipe does not have that stage
    page.choice.cards["thorough"].click()
    qtbot.waitUntil(lambda: "full.reader.layers" in settings.editors, timeout=WAIT)


def test_what_is_set_is_counted_begun_with_and_taken_back(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, window: MainWindow
) -> None:
    page = open_page()
    settings = opened(page, qtbot)
    epochs, stage = settings.editors["query.epochs"], settings.editors["full"]
    assert isinstance(epochs, QSpinBox)
    assert isinstance(stage, QCheckBox)
    epochs.setValue(7)
    stage.click()
    qtbot.waitUntil(lambda: "full.objective" in settings.editors, timeout=WAIT)
    objective = settings.editors["full.objective"]
    assert isinstance(objective, QComboBox)
    objective.setCurrentText("simlm")
    assert settings.changes == {"query.epochs": 7, "full": True, "full.objective": "simlm"}
    assert page.choice.open_settings.text() == "All settings (3 changed)"
    qtbot.waitUntil(lambda: "Wang et al. 2023, SimLM" in _texts(settings), timeout=WAIT)
    page.choice.open_settings.click()  # what is set counts all the same
    page.choice.start.click()
    task = page.work.task
    assert isinstance(task, Task)
    assert task.args["changes"] == {"query.epochs": 7, "full": True, "full.objective": "simlm"}
    qtbot.waitUntil(lambda: not page.verdict.isHidden(), timeout=WAIT)
    page.choice.open_settings.click()
    settings.reset.click()
    assert settings.changes == {}
    qtbot.waitUntil(lambda: "full.objective" not in settings.editors, timeout=WAIT)
    assert page.choice.open_settings.text() == "All settings"


def test_a_stage_that_is_left_out_takes_its_settings_along(open_page: Callable[..., AdaptPage], qtbot: QtBot) -> None:
    page = open_page()
    page.choice.cards["thorough"].click()
    settings = opened(page, qtbot)
    dimension = settings.editors["heads.dimension"]
    assert isinstance(dimension, QSpinBox)
    dimension.setValue(64)
    heads = settings.editors["heads"]
    assert isinstance(heads, QCheckBox)
    heads.click()
    assert settings.changes == {"heads": False}
    qtbot.waitUntil(lambda: "heads.dimension" not in settings.editors, timeout=WAIT)


def test_a_number_out_of_bounds_is_not_taken(open_page: Callable[..., AdaptPage], qtbot: QtBot) -> None:
    settings = opened(open_page(), qtbot)
    rate = settings.editors["query.rate"]
    assert isinstance(rate, QLineEdit)
    for text, taken in (("5", {}), ("1e-4", {"query.rate": 1e-4}), ("0.0005", {})):
        rate.setFocus()
        rate.clear()
        QTest.keyClicks(rate, text)
        QTest.keyClick(rate, Qt.Key.Key_Return)
        assert settings.changes == taken


def test_settings_can_be_reached_and_seen(
    open_page: Callable[..., AdaptPage], qtbot: QtBot, window: MainWindow
) -> None:
    page = open_page()
    opened(page, qtbot)
    window.resize(900, 650)
    window._theme.set_text_percent(180)
    qtbot.wait(100)
    check(window)
    assert page.scroller.widget().width() <= page.scroller.viewport().width()
    window._theme.set_text_percent(100)


def _texts(inside: RecipeSettings) -> str:
    return "\n".join(label.text() for label in inside.findChildren(QLabel))
