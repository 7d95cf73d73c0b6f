"""Settings: declared once, kept whole, forgiving about files that are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QSpinBox, QWidget

from app.settings import SETTINGS, Settings
from app.theme import Theme
from app.views.dialogs import settings_sheet
from core.base.errors import BadSetting


def test_defaults_fit_their_own_rules() -> None:
    for setting in SETTINGS:
        assert setting.check(setting.default) == setting.default
        assert bool(setting.title) == bool(setting.help)


def test_values_outlast_the_object(own_home: Path) -> None:
    Settings().set("theme", "dark")
    again = Settings()
    assert again.get("theme") == "dark"
    assert (own_home / "settings.json").is_file()
    assert not list(own_home.glob("*.part"))


@pytest.mark.parametrize(
    ("key", "value"), [("theme", "pink"), ("text_percent", 500), ("text_percent", True), ("theme", 3)]
)
def test_what_does_not_fit_is_refused(key: str, value: object) -> None:
    settings = Settings()
    with pytest.raises(BadSetting):
        settings.set(key, value)
    assert settings.get(key) != value


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"theme": "pink", "unknown": 1, "text_percent": 120}'])
def test_damaged_file_counts_as_unset(own_home: Path, text: str) -> None:
    own_home.mkdir()
    (own_home / "settings.json").write_text(text)
    settings = Settings()
    assert settings.get("theme") == "system"
    assert settings.get("text_percent") == (120 if "120" in text else 100)


def test_what_cannot_be_written_is_still_remembered_for_now(own_home: Path) -> None:
    own_home.write_text("a file where the folder should be")
    settings = Settings()
    settings.remember("last_page", "ask")
    assert settings.get("last_page") == "ask"


def test_sheet_shows_and_changes_each_setting(qtbot, theme: Theme) -> None:
    settings, parent = Settings(), QWidget()
    qtbot.addWidget(parent)
    sheet = settings_sheet(settings, parent)
    editors = [*sheet.findChildren(QCheckBox), *sheet.findChildren(QComboBox), *sheet.findChildren(QSpinBox)]
    assert len(editors) == sum(1 for setting in SETTINGS if setting.title)
    sheet.findChild(QComboBox).setCurrentIndex(2)
    sheet.findChild(QSpinBox).setValue(120)
    sheet.findChildren(QCheckBox)[0].click()
    assert (settings.get("theme"), settings.get("text_percent"), settings.get("confirm_remove")) == ("dark", 120, False)
