"""The navigation at the left: pages, what the jobs do, the settings."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QProgressBar, QVBoxLayout, QWidget

from app.i18n import tr
from app.widgets.buttons import Button, NavButton
from app.widgets.card import row
from app.widgets.empty_state import IconLabel
from app.widgets.labels import Label


class Nav(QFrame):
    """`go(page)` is called on a click; `show_page` marks the one that is shown."""

    def __init__(
        self, pages: tuple[tuple[str, str, str], ...], go: Callable[[str], object], settings: Callable[[], object]
    ) -> None:
        super().__init__()
        self.setProperty("role", "nav")
        self._buttons: dict[str, NavButton] = {}
        self._group = QButtonGroup(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 16, 12, 12)
        column.setSpacing(4)
        column.addLayout(row(6, IconLabel("whymatch", "text", 26), Label("Whymatch", "heading"), None))
        column.addSpacing(14)
        for key, title, icon_name in pages:
            button = NavButton(title, icon_name, lambda key=key: go(key))
            self._buttons[key] = button
            self._group.addButton(button)
            column.addWidget(button)
        column.addStretch(1)
        column.addWidget(self._job_area())
        self.settings = Button("\u2002" + tr("Settings"), "nav", "settings", settings)
        self.settings.setAccessibleName(tr("Settings"))
        column.addWidget(self.settings)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._fit()

    def _fit(self) -> None:
        """As wide as its words need at the text size in force."""
        self.setFixedWidth(max(208, self.fontMetrics().averageCharWidth() * 25))

    def _job_area(self) -> QWidget:
        self.job = QWidget()
        self._job_words = Label("", "small")
        self._job_bar = QProgressBar()
        self._job_bar.setTextVisible(False)
        self._job_bar.setAccessibleName(tr("Progress of the work on the library"))
        inner = QVBoxLayout(self.job)
        inner.setContentsMargins(12, 4, 12, 10)
        inner.addWidget(self._job_words)
        inner.addWidget(self._job_bar)
        self.job.hide()
        return self.job

    def show_page(self, key: str) -> None:
        if key in self._buttons:
            self._buttons[key].setChecked(True)

    def show_job(self, words: str, done: int = 0, total: int = 0) -> None:
        """What the job does, in a few words; hidden when they are empty."""
        self.job.setVisible(bool(words))
        self._job_words.setText(words)
        self._job_bar.setRange(0, max(total, 0))
        self._job_bar.setValue(min(done, total))

    def set_enabled(self, enabled: bool) -> None:
        for button in self._buttons.values():
            button.setEnabled(enabled)

    def buttons(self) -> dict[str, NavButton]:
        return self._buttons
