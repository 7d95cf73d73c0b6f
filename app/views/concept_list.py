"""The list of concepts: a field to search in, chips for the vague, the named and the hidden, and the table."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStackedWidget, QTableView, QVBoxLayout, QWidget

from app.i18n import grouped, tr
from app.models.concept_rows import ALL, CLEAR, HIDDEN, NAME, NAMED, PASSAGES, WEAK, ConceptModel
from app.theme import Theme
from app.views.document_table import BadgeDelegate, ReasonDelegate
from app.widgets.card import Card
from app.widgets.concept_chips import OneOf
from app.widgets.empty_state import EmptyState
from app.widgets.search_box import SearchBox
from core.base.types import Concept

KINDS = {ALL: "All", WEAK: "Vague", NAMED: "Named by you", HIDDEN: "Hidden"}
_WIDTHS = {PASSAGES: 92, CLEAR: 112}
_LEAST_NAME = 180


class ConceptTable(QTableView):
    """`chosen(Concept)` follows the selection; Return asks for what is chosen to be looked at."""

    chosen = Signal(object)
    entered_one = Signal()

    def __init__(self, model: ConceptModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self._concepts = model
        self.setAccessibleName(tr("Concepts"))
        self.setItemDelegate(ReasonDelegate(self))
        self.setItemDelegateForColumn(CLEAR, BadgeDelegate(theme, self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(48)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setSectionsClickable(True)
        header.setSortIndicator(PASSAGES, Qt.SortOrder.DescendingOrder)
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(False)
        header.sortIndicatorChanged.connect(model.sort)
        self.selectionModel().currentRowChanged.connect(lambda now, _: self._tell(now.row()))
        self._fit()

    def current(self) -> Concept | None:
        return self._concepts.concept(self.currentIndex().row())

    def select(self, number: int) -> bool:
        """Choose a concept by its id without telling of it; False when it is not among those shown."""
        row = self._concepts.row_of(number)
        if row < 0:
            return False
        how = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().blockSignals(True)
        self.selectionModel().setCurrentIndex(self._concepts.index(row, NAME), how)
        self.selectionModel().blockSignals(False)
        self.scrollTo(self._concepts.index(row, NAME))
        self.viewport().update()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered_one.emit()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Rows and columns as large as the text size in force needs; where the room is short, names come first."""
        height = self.fontMetrics().height()
        self.verticalHeader().setDefaultSectionSize(height + 15)
        scale = max(height / 19, 1)
        room = self.viewport().width() / scale - _LEAST_NAME
        for column in (PASSAGES, CLEAR):
            room -= _WIDTHS[column]
            self.setColumnHidden(column, room < 0)
            self.setColumnWidth(column, round(_WIDTHS[column] * scale))

    def _tell(self, row: int) -> None:
        concept = self._concepts.concept(row)
        if concept is not None:
            self.chosen.emit(concept)


class ConceptList(QWidget):
    """`chosen(Concept)` when the person chooses one, `looked()` when they want to go into it."""

    chosen = Signal(object)
    looked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = ConceptModel(self)
        self.search = SearchBox(tr("Find a concept"))
        self.search.settled.connect(lambda _: self._filter())
        self.kinds = OneOf(KINDS, tr("Which concepts"))
        self.kinds.changed.connect(lambda _: self._filter())
        self.table = ConceptTable(self.model, theme)
        self.table.chosen.connect(self.chosen)
        self.table.entered_one.connect(self.looked)
        self.nothing = EmptyState("search", tr("No concept is called like this"), tr(
            "Try another word, or search your documents for it."))  # fmt: skip
        self.rows = QStackedWidget()
        self.rows.addWidget(self.table)
        self.rows.addWidget(self.nothing)
        card = Card(padding=6, spacing=0)
        card.body.addWidget(self.rows)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self.search)
        column.addWidget(self.kinds)
        column.addWidget(card, 1)

    def show_concepts(self, concepts: tuple[Concept, ...], chosen: int | None) -> None:
        self.model.show_concepts(concepts)
        for kind in KINDS:
            number = self.model.number(kind)
            self.kinds.set_words(kind, grouped(number) if number or kind == ALL else "")
        several = sum(self.model.number(kind) > 0 for kind in KINDS) > 1
        self.kinds.setVisible(several or self.kinds.key != ALL)
        self._renew(chosen)

    def select(self, number: int) -> None:
        """Choose a concept; the filter goes where it would hide it."""
        if not self.table.select(number):
            self.search.clear()
            self.model.filter(self.kinds.key, "")
            if not self.table.select(number) and self.kinds.key != ALL:
                self.kinds.choose(ALL)
                self.table.select(number)

    def _filter(self) -> None:
        chosen = self.table.current()
        self.model.filter(self.kinds.key, self.search.text())
        self._renew(chosen.id if chosen else None)

    def _renew(self, chosen: int | None) -> None:
        self.rows.setCurrentIndex(0 if self.model.rowCount() else 1)
        if chosen is not None:
            self.table.select(chosen)
