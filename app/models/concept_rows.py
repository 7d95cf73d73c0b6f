"""The concepts of the library as a table that can be searched and sorted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.i18n import grouped, plural, tr
from app.models.concept_entries import TITLES as CLEARNESS
from app.models.concept_entries import TONES, Clearness, clearness
from app.models.documents import ToneRole
from core.base.types import Concept

NAME, PASSAGES, CLEAR = range(3)
TITLES = ("Concept", "Passages", "How clear")
TIPS = {
    PASSAGES: "In how many passages of the library it is found",
    CLEAR: "Whether its passages have something in common that can be told: tested with a passage that does not belong",
}
ConceptRole = Qt.ItemDataRole.UserRole
ALL, WEAK, NAMED, HIDDEN = KINDS = ("all", "weak", "named", "hidden")
Index = QModelIndex | QPersistentModelIndex

_KEYS: dict[int, Callable[[Concept], Any]] = {
    NAME: lambda c: c.label.casefold(),
    PASSAGES: lambda c: c.passages,
    CLEAR: lambda c: c.quality,
}


def is_kind(concept: Concept, kind: str) -> bool:
    """Hidden concepts are in no other kind than their own."""
    if concept.hidden or kind == HIDDEN:
        return concept.hidden and kind == HIDDEN
    if kind == WEAK:
        return clearness(concept) is Clearness.WEAK
    return kind == ALL or concept.named_by == "person"


class ConceptModel(QAbstractTableModel):
    """All concepts are held (some thousand at most); those shown are of a kind and have the words searched for."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._all: tuple[Concept, ...] = ()
        self._shown: list[Concept] = []
        self._kind, self._words = ALL, ""
        self._column, self._descending = PASSAGES, True

    # what to show

    def show_concepts(self, concepts: Sequence[Concept]) -> None:
        self._all = tuple(concepts)
        self._renew()

    def filter(self, kind: str, text: str) -> None:
        self._kind, self._words = kind, text.casefold()
        self._renew()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._descending = column, order == Qt.SortOrder.DescendingOrder
        self._renew()

    def number(self, kind: str) -> int:
        return sum(is_kind(c, kind) for c in self._all)

    def concept(self, row: int) -> Concept | None:
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def row_of(self, number: int) -> int:
        """Where a concept stands; -1 when it is not shown."""
        return next((row for row, c in enumerate(self._shown) if c.id == number), -1)

    def _renew(self) -> None:
        self.beginResetModel()
        words = self._words.split()
        found = [c for c in self._all if is_kind(c, self._kind) and _holds(c, words)]
        found.sort(key=_KEYS[NAME])
        self._shown = sorted(found, key=_KEYS[self._column], reverse=self._descending)
        self.endResetModel()

    # what Qt asks

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(TITLES[section])
        if role == Qt.ItemDataRole.ToolTipRole and section in TIPS:
            return tr(TIPS[section])
        return _side(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        concept = self.concept(index.row()) if index.isValid() else None
        if concept is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _cell(concept, column)
        if role == ConceptRole:
            return concept
        if role == ToneRole:
            return TONES[clearness(concept)]
        if role == Qt.ItemDataRole.ToolTipRole:
            return ", ".join(concept.terms) if column == NAME else tr(TIPS[column])
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _said(concept) if column == NAME else f"{tr(TITLES[column])}: {_cell(concept, column)}"
        return _side(column) if role == Qt.ItemDataRole.TextAlignmentRole else None


def _holds(concept: Concept, words: Sequence[str]) -> bool:
    text = " ".join((concept.label, *concept.terms)).casefold()
    return all(word in text for word in words)


def _cell(concept: Concept, column: int) -> str:
    if column == NAME:
        return concept.label
    return grouped(concept.passages) if column == PASSAGES else tr(CLEARNESS[clearness(concept)])


def _said(concept: Concept) -> str:
    passages = plural(concept.passages, "in {n} passage", "in {n} passages")
    return f"{concept.label}, {passages}, {tr(CLEARNESS[clearness(concept)])}"


def _side(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column == PASSAGES else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
