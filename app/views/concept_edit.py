"""Sheets in which a concept gets another name, or is said to be the same as another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QListView, QWidget

from app.i18n import tr
from app.models.concept_rows import ALL, ConceptModel
from app.views.dialogs import Sheet
from app.widgets.buttons import Button
from app.widgets.card import Card
from app.widgets.labels import Label
from app.widgets.search_box import SearchBox
from core.base.types import Concept

LONGEST = 80  # characters of a name
HIGH = 260  # pixels of the list at the least


class RenameSheet(Sheet):
    """`then(name)` runs when the person keeps a name; an empty one brings the first name back."""

    def __init__(self, concept: Concept, then: Callable[[str], object], parent: QWidget) -> None:
        super().__init__(tr("What shall it be called?"), parent, close=tr("Cancel"))
        self.close_button.set_kind("secondary")
        self.close_button.setDefault(False)
        self.field = QLineEdit(concept.label)
        self.field.setMaxLength(LONGEST)
        self.field.setAccessibleName(tr("The name of the concept"))
        self.field.selectAll()
        self.body.addWidget(self.field)
        self.body.addWidget(Label(tr(
            "The name is shown wherever the concept is given as a reason. Search stays as it is."), "muted", wrap=True,
        ))  # fmt: skip
        self.yes = Button(tr("Keep this name"), "primary", "", self._keep)
        self.yes.setDefault(True)
        self.buttons.addWidget(self.yes)
        if concept.named_by == "person":
            self.first = Button(tr("Its first name again"), "ghost", "history", lambda: self._done(""))
            self.buttons.insertWidget(0, self.first)
        self._then = then
        self.field.textChanged.connect(lambda text: self.yes.setEnabled(bool(text.strip())))
        self.field.setFocus()

    def _keep(self) -> None:
        self._done(" ".join(self.field.text().split()))

    def _done(self, name: str) -> None:
        self.accept()
        self._then(name)


class MergeSheet(Sheet):
    """`then(other)` runs when the person says which concept it is the same as."""

    def __init__(
        self, concept: Concept, concepts: Sequence[Concept], then: Callable[[Concept], object], parent: QWidget
    ) -> None:
        super().__init__(tr("Which one is it the same as?"), parent, close=tr("Cancel"))
        self.close_button.set_kind("secondary")
        self.close_button.setDefault(False)
        self.body.addWidget(Label(tr(
            "“{name}” will count as the other one, everywhere. It can be taken out again.", name=concept.label
        ), wrap=True))  # fmt: skip
        self.model = ConceptModel(self)
        self.model.show_concepts([c for c in concepts if c.id != concept.id])
        self.search = SearchBox(tr("Find a concept"))
        self.search.settled.connect(self._filter)
        self.search.installEventFilter(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setAccessibleName(tr("Concepts"))
        self.list.setMinimumHeight(HIGH)
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.activated.connect(self._take)
        self.yes = Button(tr("It is the same"), "primary", "", lambda: self._take(self.list.currentIndex()))
        self.yes.setEnabled(False)
        self.list.selectionModel().currentChanged.connect(lambda now, _: self.yes.setEnabled(now.isValid()))
        framed = Card(padding=4)
        framed.body.addWidget(self.list)
        self.body.addWidget(self.search)
        self.body.addWidget(framed)
        self._column.setStretchFactor(self.body, 100)
        self.buttons.addWidget(self.yes)
        self._then = then
        self.search.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down goes from the field into the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Down:
            self.list.setFocus()
            self.list.setCurrentIndex(self.model.index(0, 0))
            return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        self.model.filter(ALL, text)
        self.yes.setEnabled(self.list.currentIndex().isValid())

    def _take(self, index: QModelIndex) -> None:
        other = self.model.concept(index.row()) if index.isValid() else None
        if other is not None:
            self.accept()
            self._then(other)
