"""Colours that can be read, a style sheet without gaps, no colour outside the theme."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QLabel

from app.theme import DARK, LIGHT, Colours, Theme, colours, contrast, style_sheet
from app.widgets.buttons import Button
from app.widgets.icons import icon
from app.widgets.labels import ElidedLabel

APP = Path(__file__).resolve().parents[2] / "app"
TEXT_ON = {
    "text": "window surface sunken hover pressed accent_soft neutral_soft success_soft warning_soft danger_soft",
    "muted": "window surface sunken hover accent_soft neutral_soft",
    "on_accent": "accent accent_hover",
    "accent_text": "accent_soft surface window",
    "success": "success_soft", "warning": "warning_soft", "danger": "danger_soft surface", "on_danger": "danger",
    "on_mark": "mark", "on_toast": "toast", "toast_link": "toast",
}  # fmt: skip
SHAPES_ON = {"outline": "surface window", "accent": "surface window"} | {f"series_{n}": "surface" for n in range(1, 7)}


def pairs(table: dict[str, str]) -> list[tuple[Colours, str, str]]:
    return [(c, ink, ground) for c in (LIGHT, DARK) for ink, grounds in table.items() for ground in grounds.split()]


@pytest.mark.parametrize(("c", "ink", "ground"), pairs(TEXT_ON))
def test_text_can_be_read(c: Colours, ink: str, ground: str) -> None:
    assert contrast(getattr(c, ink), getattr(c, ground)) >= 4.5


@pytest.mark.parametrize(("c", "ink", "ground"), pairs(SHAPES_ON))
def test_edges_can_be_seen(c: Colours, ink: str, ground: str) -> None:
    assert contrast(getattr(c, ink), getattr(c, ground)) >= 3


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("c", [LIGHT, DARK])
def test_style_sheet_is_filled_and_its_pictures_exist(c: Colours) -> None:
    sheet = style_sheet(c)
    assert "$" not in sheet
    pictures = re.findall(r'url\("([^"]+)"\)', sheet)
    assert pictures
    assert all(Path(picture).is_file() for picture in pictures)


def test_no_literal_colours_outside_the_theme() -> None:
    literal = re.compile(r"#[0-9a-fA-F]{6}\b|QColor\((?:\d|\"#)|Qt\.GlobalColor\.(?!transparent)")
    found = [f"{p.name}: {m.group()}" for p in APP.rglob("*.py") if p.name != "theme.py"
             for m in literal.finditer(p.read_text(encoding="utf-8")) if m.group() != "#000000"]  # fmt: skip
    assert not found


def test_switching_repaints_everything(qapp: QApplication, theme: Theme) -> None:
    assert not theme.dark
    heard: list[bool] = []
    theme.changed.connect(lambda: heard.append(theme.dark))
    theme.set_mode("dark")
    assert heard == [True]
    assert colours() is DARK
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(DARK.window)
    theme.set_mode("light")
    assert colours() is LIGHT


def test_text_size_scales(qapp: QApplication, theme: Theme) -> None:
    before = theme.font().pointSizeF()
    theme.set_text_percent(150)
    assert theme.font().pointSizeF() == pytest.approx(before * 1.5)
    label = QLabel("x")
    label.ensurePolished()
    assert label.font().pointSizeF() == pytest.approx(before * 1.5, abs=0.2)


def test_icons_follow_the_look(theme: Theme, qtbot) -> None:
    button = Button("Add", "secondary", "plus")
    qtbot.addWidget(button)
    button.show()
    light = button.icon().pixmap(18, 18).toImage()
    theme.set_mode("dark")
    assert button.icon().pixmap(18, 18).toImage() != light
    assert {f.name for f in dataclasses.fields(Colours)} >= {"text", "muted", "accent"}
    with pytest.raises(FileNotFoundError):
        icon("no-such-icon")


def test_long_names_are_cut_in_the_middle(theme: Theme, qtbot) -> None:
    label = ElidedLabel("the beginning of a very long name and its end.pdf")
    qtbot.addWidget(label)
    label.resize(160, 24)
    label.show()
    assert label.shown().startswith("the")
    assert label.shown().endswith(".pdf")
    assert label.toolTip() == label.whole() == label.accessibleName()
    label.resize(900, 24)
    assert label.toolTip() == ""
