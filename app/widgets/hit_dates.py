"""A small dialog for a range of dates."""

from __future__ import annotations

from PySide6.QtCore import QDate, Qt, Signal
from PySide6.QtWidgets import QDateEdit, QDialog, QDialogButtonBox, QFormLayout, QWidget

from app.i18n import tr


class DateDialog(QDialog):
    """Sends `chosen(after, before)` as ISO dates when the person accepts."""

    chosen = Signal(str, str)

    def __init__(self, after: str, before: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Changed between"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        today = QDate.currentDate()
        self._after = self._edit(QDate.fromString(after, Qt.DateFormat.ISODate), today.addYears(-1), tr("From"))
        self._before = self._edit(QDate.fromString(before, Qt.DateFormat.ISODate), today, tr("To"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form = QFormLayout(self)
        form.addRow(tr("&From"), self._after)
        form.addRow(tr("&To"), self._before)
        form.addRow(buttons)

    def _edit(self, date: QDate, default: QDate, name: str) -> QDateEdit:
        edit = QDateEdit(date if date.isValid() else default, self)
        edit.setCalendarPopup(True)
        edit.setDisplayFormat("yyyy-MM-dd")
        edit.setAccessibleName(name)
        return edit

    def accept(self) -> None:
        first, last = sorted((self._after.date(), self._before.date()), key=QDate.toJulianDay)
        self.chosen.emit(first.toString(Qt.DateFormat.ISODate), last.toString(Qt.DateFormat.ISODate))
        super().accept()
