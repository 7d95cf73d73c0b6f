"""Under which filters an answer was made, and what lies outside of them: said, with a way to it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.i18n import plural, tr
from app.widgets.answer_parts import place
from app.widgets.buttons import Button
from app.widgets.card import row
from app.widgets.hit_filters import FIELDS, value_name
from app.widgets.labels import Label
from core.base.types import Answer, Citation, Filters

SHOWN = 3  # places named


def within(filters: Filters) -> str:
    """The filters in force as one line for a person; empty when there are none."""
    parts = [
        f"{tr(name)}: {', '.join(value_name(field, value) for value in getattr(filters, field))}"
        for field, name in FIELDS.items()
        if getattr(filters, field, ())
    ]
    if filters.after:
        parts.append(tr("since {day}", day=filters.after))
    if filters.before:
        parts.append(tr("until {day}", day=filters.before))
    if not parts and filters:
        return tr("Only some documents were searched")
    return tr("Searched only: {filters}", filters="; ".join(parts)) if parts else ""


class WiderOffer(QWidget):
    """Shown when nothing within the filters answers but something outside does. `asked` when it is to be looked at."""

    asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.told = Label("", "body", wrap=True)
        self.places = Label("", "small", wrap=True)
        self.button = Button(tr("Search without filters"), "secondary", "search", self.asked.emit)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.told)
        column.addWidget(self.places)
        column.addLayout(row(self.button, None))
        self.hide()

    def show_answer(self, answer: Answer) -> None:
        documents = list({citation.document_id: citation for citation in answer.hidden}.values())
        self.told.setText(
            plural(
                len(documents), "Your filters hide a document that may answer.",
                "Your filters hide {n} documents that may answer.",
            )
        )  # fmt: skip
        self.places.setText("\n".join(_named(citation) for citation in documents[:SHOWN]))
        self.button.setAccessibleName(tr("Search without filters and answer again"))
        self.setVisible(bool(documents))


def _named(citation: Citation) -> str:
    return f"• {place(citation)}"
