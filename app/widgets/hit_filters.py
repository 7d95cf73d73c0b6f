"""The filter bar: one chip a field with a menu of the library's values, what it removed, and a way to clear it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import QDate, QLocale, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.i18n import grouped, plural, tr
from app.widgets.buttons import Button, Chip
from app.widgets.hit_dates import DateDialog
from app.widgets.hit_flow import FlowLayout
from app.widgets.labels import Label
from app.widgets.page_offsets import one_line
from core.base.files import path_shown
from core.base.types import Filters

Facets = Mapping[str, Sequence[tuple[str, int]]]

_OFFICE = "application/vnd.openxmlformats-officedocument."
TYPE_NAMES = {
    "application/pdf": "PDF",
    f"{_OFFICE}wordprocessingml.document": "Word",
    "text/html": "Web page",
    "application/xhtml+xml": "Web page",
    "text/markdown": "Markdown",
    "text/plain": "Text",
    "application/x-ndjson": "JSON Lines",
    "application/jsonl": "JSON Lines",
}
FIELDS = {"folders": "Folder", "types": "Type", "languages": "Language", "dates": "Date", "tags": "Tag"}
PERIODS = {"Last 7 days": 7, "Last 30 days": 30, "Last 12 months": 365}
LONGEST = 42


def value_name(field: str, value: str) -> str:
    """A filter's value in plain words."""
    if field == "types":
        return tr(TYPE_NAMES.get(value, value))
    if field == "languages":
        language = QLocale.codeToLanguage(value)
        return value if language is QLocale.Language.AnyLanguage else QLocale.languageToString(language)
    if field == "folders":
        return one_line(PurePath(path_shown(value)).name or value)
    return one_line(value)


def shorten(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest // 2]}…{text[-(longest // 2 - 1) :]}"


def _with(filters: Filters, field: str, values: tuple[str, ...]) -> Filters:
    changes: dict[str, Any] = {field: values}
    return replace(filters, **changes)


class FilterBar(QWidget):
    """Holds the current `Filters`; `changed` is sent when the person changes them."""

    changed = Signal()

    def __init__(self, facets: Callable[[], Facets], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._facets = facets
        self._filters = Filters()
        self._chips = {field: self._chip(field) for field in FIELDS}
        self._removed = Label("", "small", self)
        self._clear = Button(tr("Clear filters"), "link", "", lambda: self.choose(Filters()), self)
        flow = FlowLayout(self)
        for part in (*self._chips.values(), self._clear, self._removed):
            flow.addWidget(part)
        self._removed.hide()
        self._refresh()

    def filters(self) -> Filters:
        return self._filters

    def set_filters(self, filters: Filters) -> None:
        """Show `filters` without telling anyone."""
        self._filters = filters
        self._refresh()

    def choose(self, filters: Filters) -> None:
        """As if the person had chosen `filters`."""
        if filters != self._filters:
            self.set_filters(filters)
            self.changed.emit()

    def show_removed(self, number: int) -> None:
        """Say how many passages only the filters kept away."""
        text = plural(number, "{n} passage hidden by filters", "{n} passages hidden by filters")
        self._removed.setText(text)
        self._removed.setVisible(bool(number and self._filters))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _chip(self, field: str) -> Chip:
        chip = Chip("", parent=self)
        menu = QMenu(chip)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(lambda: self._fill(field, menu))
        chip.setMenu(menu)
        # a menu that is left without a choice must not leave the chip looking as if there were one
        chip.toggled.connect(lambda _: chip.setChecked(bool(self._chosen_text(field))))
        return chip

    def _refresh(self) -> None:
        for field, chip in self._chips.items():
            text = self._chosen_text(field)
            label = f"{tr(FIELDS[field])}: {shorten(text)}" if text else tr(FIELDS[field])
            chip.setText(label.replace("&", "&&") + " ▾")
            chip.setToolTip(text)
            chip.setAccessibleName(f"{tr('Filter')}: {tr(FIELDS[field])}" + (f", {text}" if text else ""))
            chip.setChecked(bool(text))
        self._chips["tags"].setVisible(bool(self._filters.tags or self._facets().get("tags")))
        self._clear.setVisible(bool(self._filters))
        if not self._filters:
            self._removed.hide()

    def _chosen_text(self, field: str) -> str:
        if field == "dates":
            after, before = self._filters.after, self._filters.before
            if after and before:
                return f"{after} – {before}"
            return tr("since {day}", day=after) if after else tr("until {day}", day=before) if before else ""
        return ", ".join(value_name(field, value) for value in getattr(self._filters, field))

    def _fill(self, field: str, menu: QMenu) -> None:
        menu.clear()
        if field == "dates":
            self._fill_dates(menu)
            return
        chosen: tuple[str, ...] = getattr(self._filters, field)
        offered = list(self._facets().get(field, ()))
        offered += [(value, 0) for value in chosen if value not in {v for v, _ in offered}]
        for value, number in offered:
            label = shorten(value_name(field, value)).replace("&", "&&")
            action = menu.addAction(f"{label}\t{grouped(number)}" if number else label)
            action.setToolTip(value)
            action.setCheckable(True)
            action.setChecked(value in chosen)
            action.triggered.connect(lambda on, v=value: self._toggle(field, v, on))
        if field == "folders":
            menu.addSeparator()
            menu.addAction(tr("Another folder…")).triggered.connect(self._ask_folder)
        elif not offered:
            menu.addAction(tr("None in this library")).setEnabled(False)

    def _toggle(self, field: str, value: str, on: bool) -> None:
        kept = tuple(v for v in getattr(self._filters, field) if v != value)
        self.choose(_with(self._filters, field, (*kept, value) if on else kept))

    def _ask_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("Search only in this folder"))
        if folder:
            self._toggle("folders", folder, True)

    def _fill_dates(self, menu: QMenu) -> None:
        menu.addAction(tr("Any time")).triggered.connect(lambda: self._set_dates("", ""))
        for label, days in PERIODS.items():
            start = QDate.currentDate().addDays(-days).toString(Qt.DateFormat.ISODate)
            menu.addAction(tr(label)).triggered.connect(lambda _on=False, after=start: self._set_dates(after, ""))
        menu.addSeparator()
        menu.addAction(tr("Between…")).triggered.connect(self._ask_dates)

    def _set_dates(self, after: str, before: str) -> None:
        self.choose(replace(self._filters, after=after, before=before))

    def _ask_dates(self) -> None:
        dialog = DateDialog(self._filters.after, self._filters.before, self)
        dialog.chosen.connect(self._set_dates)
        dialog.open()
