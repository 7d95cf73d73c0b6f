"""All settings of a recipe for those who want them: what each does, its default and where that comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QLocale, Qt, QTimer, Signal
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLineEdit, QSpinBox, QVBoxLayout, QWidget

from app.engine.engine import Engine
from app.i18n import tr
from app.models.adapt_entries import RecipeSetting, recipe_settings
from app.widgets.banner import Banner
from app.widgets.buttons import Button
from app.widgets.card import Rule, row
from app.widgets.labels import Label
from core.worker.protocol import JOB

_GROUPS = {
    "": "The whole",
    "query": "The side of the question",
    "full": "All weights",
    "full.reader": "The second model",
    "heads": "The weight of words",
}
_INDENT = 22  # of what belongs to a stage that can be left out


class RecipeSettings(QWidget):
    """`changes` are the settings that differ from the recipe's own, by name. `edited()` when they do otherwise."""

    edited = Signal()

    def __init__(self, engine: Engine, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._recipe = ""
        self._asked = 0  # the last of what was asked counts
        self._own: dict[str, Any] = {}  # the recipe's own values
        self.changes: dict[str, Any] = {}
        self.editors: dict[str, QWidget] = {}
        self._banner = Banner()
        self.reset = Button(tr("Back to the recipe's own settings"), "link", on_click=self._reset)
        self._grid_holder = QWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(Label(tr("Times above are those of the recipe as it comes. Whatever is set, nothing is used "
                                  "that does not pass the test."), "small", wrap=True))  # fmt: skip
        column.addWidget(self._banner)
        column.addWidget(self._grid_holder)
        column.addLayout(row(self.reset, None))
        self.reset.hide()

    def show_recipe(self, recipe: str, *, now: bool = True) -> None:
        """The settings of a recipe, asked for `now` or when they are wanted; changes of another are forgotten."""
        if recipe != self._recipe:
            self._recipe, self.changes, self._own, self.editors = recipe, {}, {}, {}
            self.reset.hide()
        if now and not self.editors:
            self._ask()

    def _reset(self) -> None:
        self.changes = {}
        self.edited.emit()
        self._ask()

    def _ask(self) -> None:
        self._asked += 1
        asked = self._asked
        call = self._engine.call(JOB, "adapt_settings", {"recipe": self._recipe, "changes": self.changes})
        call.result.connect(lambda data: self._show(recipe_settings(data)) if asked == self._asked else None)
        call.failed.connect(lambda error: self._banner.show_error(error) if asked == self._asked else None)

    def _show(self, settings: Sequence[RecipeSetting]) -> None:
        self._banner.hide()
        focused = next((name for name, one in self.editors.items() if one.hasFocus()), "")
        for setting in settings:
            self._own.setdefault(setting.name, setting.default)
        made, old = QWidget(), self._grid_holder
        grid = QGridLayout(made)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        self.editors = {}
        group = None
        for setting in settings:
            within = setting.name if setting.stage else setting.name.rpartition(".")[0]
            if within != group:
                group = within
                self._heading(grid, group)
            self._line(grid, setting)
        self.layout().replaceWidget(old, made)
        old.hide()
        old.deleteLater()
        self._grid_holder = made
        self.reset.setVisible(bool(self.changes))
        if focused in self.editors:
            self.editors[focused].setFocus(Qt.FocusReason.OtherFocusReason)

    def _heading(self, grid: QGridLayout, group: str) -> None:
        grid.addWidget(Rule(), grid.rowCount(), 0, 1, 2)
        grid.addWidget(Label(tr(_GROUPS.get(group, group)), "eyebrow"), grid.rowCount(), 0, 1, 2)

    def _line(self, grid: QGridLayout, setting: RecipeSetting) -> None:
        at = grid.rowCount()
        about = tr("{name} · as it comes: {default} · {source}", name=setting.name, default=_said(setting.default),
                   source=tr(setting.source))  # fmt: skip
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.setContentsMargins(0 if setting.stage or "." not in setting.name else _INDENT, 0, 0, 0)
        texts.addWidget(Label(tr(setting.text), wrap=True))
        texts.addWidget(Label(about, "small", wrap=True))
        grid.addLayout(texts, at, 0)
        editor = self.editors[setting.name] = self._editor(setting)
        editor.setAccessibleName(tr(setting.text))
        editor.setAccessibleDescription(about)
        grid.addWidget(editor, at, 1, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)

    def _editor(self, setting: RecipeSetting) -> QWidget:
        match setting.kind:
            case "yes-no":
                box = QCheckBox()
                box.setChecked(bool(setting.value))
                box.toggled.connect(lambda on: self._set(setting, on))
                return box
            case "choice":
                choice = _Still()
                choice.addItems(list(setting.choices))
                choice.setCurrentText(str(setting.value))
                choice.currentTextChanged.connect(lambda text: self._set(setting, text))
                return choice
            case "whole":
                return self._whole(setting)
            case _:
                return self._number(setting)

    def _whole(self, setting: RecipeSetting) -> QWidget:
        box = _StillNumber()
        box.setRange(int(setting.low), int(setting.high))
        box.setValue(int(setting.value))
        box.setAlignment(Qt.AlignmentFlag.AlignRight)
        box.setKeyboardTracking(False)
        box.valueChanged.connect(lambda value: self._set(setting, value))
        return box

    def _number(self, setting: RecipeSetting) -> QWidget:
        """Small ones are written with an exponent; what is out of bounds is not taken."""
        line = QLineEdit(_said(setting.value))
        line.setMaximumWidth(110)
        line.setAlignment(Qt.AlignmentFlag.AlignRight)
        allowed = QDoubleValidator(setting.low, setting.high, 12, line)
        allowed.setLocale(QLocale.c())
        line.setValidator(allowed)
        line.setToolTip(tr("From {low} to {high}", low=_said(setting.low), high=_said(setting.high)))
        line.editingFinished.connect(lambda: self._set(setting, float(line.text())))
        return line

    def _set(self, setting: RecipeSetting, value: Any) -> None:
        if value == self._own[setting.name]:
            self.changes.pop(setting.name, None)
        else:
            self.changes[setting.name] = value
        if setting.stage and not value:  # what belongs to it is gone with it
            self.changes = {name: one for name, one in self.changes.items() if not name.startswith(f"{setting.name}.")}
        self.reset.setVisible(bool(self.changes))
        self.edited.emit()
        if setting.stage or setting.kind == "choice":  # other settings are there now, or another source
            QTimer.singleShot(0, self, self._ask)


class _Still(QComboBox):
    """The wheel scrolls the page and changes nothing."""

    def wheelEvent(self, event: Any) -> None:
        event.ignore()


class _StillNumber(QSpinBox):
    """The wheel scrolls the page and changes nothing."""

    def wheelEvent(self, event: Any) -> None:
        event.ignore()


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    return f"{value:g}" if isinstance(value, float) else str(value)
