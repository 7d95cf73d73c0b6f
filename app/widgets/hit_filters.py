"""The filter bar: one chip a field with a menu of the library's values, what it removed, and a way to clear it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from PySide6.QtCore import QDate, QLocale, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from app.widgets.hit_dates import DateDialog
from app.widgets.page_offsets import one_line
from app.widgets.why_figures import count
from core.base.types import Filters

Facets = Mapping[str, Sequence[tuple[str, int]]]

TYPE_NAMES = {
    "application/pdf": "PDF", "text/html": "Web page", "text/markdown": "Markdown", "text/plain": "Text",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word", "application/x-ndjson": "JSON Lines",
    "application/jsonl": "JSON Lines", "application/xhtml+xml": "Web page",
}  # fmt: skip
FIELDS = {"folders": "Folder", "types": "Type", "languages": "Language", "dates": "Date", "tags": "Tag"}
PERIODS = {"Last 7 days": 7, "Last 30 days": 30, "Last 12 months": 365}
LONGEST = 42


def value_name(field: str, value: str) -> str:
    """A filter's value in plain words."""
    if field == "types":
        return TYPE_NAMES.get(value, value)
    if field == "languages":
        language = QLocale.codeToLanguage(value)
        return value if language is QLocale.Language.AnyLanguage else QLocale.languageToString(language)
    if field == "folders":
        return one_line(PurePath(value).name or value)
    return one_line(value)


def shorten(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest // 2]}…{text[-(longest // 2 - 1) :]}"


class FilterBar(QWidget):
    """Holds the current `Filters`; `changed` is sent when the person changes them."""

    changed = Signal()

    def __init__(self, facets: Callable[[], Facets], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._facets = facets
        self._filters = Filters()
        self._chips = {field: self._chip(field) for field in FIELDS}
        self._removed = QLabel(self)
        self._removed.setProperty("role", "muted")
        self._clear = QToolButton(self)
        self._clear.setText("Clear filters")
        self._clear.setAccessibleName("Clear filters")
        self._clear.setProperty("role", "link")
        self._clear.clicked.connect(lambda: self.choose(Filters()))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for chip in self._chips.values():
            row.addWidget(chip)
        row.addWidget(self._clear)
        row.addStretch(1)
        row.addWidget(self._removed)
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
        passages = count(number, "passage", "passages")
        self._removed.setText(f"{passages} hidden by filters" if number and self._filters else "")

    def _chip(self, field: str) -> QToolButton:
        chip = QToolButton(self)
        chip.setProperty("role", "chip")
        chip.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        chip.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        menu = QMenu(chip)
        menu.aboutToShow.connect(lambda: self._fill(field, menu))
        chip.setMenu(menu)
        return chip

    def _refresh(self) -> None:
        for field, chip in self._chips.items():
            text = self._chosen_text(field)
            label = f"{FIELDS[field]}: {shorten(text)}" if text else FIELDS[field]
            chip.setText(label)
            chip.setToolTip(text)
            chip.setAccessibleName(f"Filter by {FIELDS[field].lower()}" + (f", now {text}" if text else ""))
            chip.setProperty("chosen", bool(text))
            chip.style().unpolish(chip)
            chip.style().polish(chip)
        self._clear.setVisible(bool(self._filters))
        if not self._filters:
            self._removed.clear()

    def _chosen_text(self, field: str) -> str:
        if field == "dates":
            after, before = self._filters.after, self._filters.before
            if after and before:
                return f"{after} to {before}"
            return f"since {after}" if after else f"until {before}" if before else ""
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
            action = menu.addAction(f"{label}\t{number}" if number else label)
            action.setToolTip(value)
            action.setCheckable(True)
            action.setChecked(value in chosen)
            action.triggered.connect(lambda on, v=value: self._toggle(field, v, on))
        if field == "folders":
            menu.addSeparator()
            menu.addAction("Another folder…").triggered.connect(self._ask_folder)
        elif not offered:
            menu.addAction(f"No {FIELDS[field].lower()}s in this library").setEnabled(False)

    def _toggle(self, field: str, value: str, on: bool) -> None:
        kept = tuple(v for v in getattr(self._filters, field) if v != value)
        self.choose(replace(self._filters, **{field: (*kept, value) if on else kept}))

    def _ask_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Search only in this folder")
        if folder:
            self._toggle("folders", folder, True)

    def _fill_dates(self, menu: QMenu) -> None:
        menu.addAction("Any time").triggered.connect(lambda: self._set_dates("", ""))
        for label, days in PERIODS.items():
            start = QDate.currentDate().addDays(-days).toString(Qt.DateFormat.ISODate)
            menu.addAction(label).triggered.connect(lambda _on=False, after=start: self._set_dates(after, ""))
        menu.addSeparator()
        menu.addAction("Between…").triggered.connect(self._ask_dates)

    def _set_dates(self, after: str, before: str) -> None:
        self.choose(replace(self._filters, after=after, before=before))

    def _ask_dates(self) -> None:
        dialog = DateDialog(self._filters.after, self._filters.before, self)
        dialog.chosen.connect(self._set_dates)
        dialog.open()
