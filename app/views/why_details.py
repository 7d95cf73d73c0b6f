"""The scrolling part of the Why panel: sections of rows, and all raw figures on a second level."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHeaderView, QLayout, QTreeWidget, QTreeWidgetItem, QWidget

from app.i18n import tr
from app.widgets.buttons import Button
from app.widgets.card import Scroller
from app.widgets.labels import Label
from app.widgets.page_offsets import one_line
from app.widgets.why_bar import Bar
from app.widgets.why_row import RowFigures, WhyRow
from app.widgets.why_sections import (
    added_rows,
    alignment_rows,
    all_figures,
    concept_rows,
    concepts_text,
    part_rows,
    score_rows,
    score_segments,
    score_text,
    term_rows,
    token_rows,
)  # fmt: skip
from core.base.types import Explanation, Level

FEW = 5


class WhyDetails(Scroller):
    """`pointed(spans)` names what to mark in the passage; None means nothing in particular."""

    pointed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, spacing=4)
        self.body.setContentsMargins(0, 4, 10, 4)
        self._rows: list[WhyRow] = []
        self._chosen: WhyRow | None = None
        self._figures_open = False

    @property
    def rows(self) -> list[WhyRow]:
        return self._rows

    def show_explanation(self, e: Explanation, level: Level = Level.PASSAGE) -> None:
        """Replace all sections; `level` is the size of the hit that is explained."""
        _clear(self.body)
        self._rows, self._chosen = [], None
        bar = Bar(12)
        bar.show_segments(score_segments(e))
        self._section(tr("Score"), score_rows(e), bar)
        self.body.addWidget(Label(score_text(level), "small", wrap=True))
        self._section(tr("Shared concepts"), concept_rows(e, FEW), note=concepts_text(e))
        words = term_rows(e)
        self._section(tr("Matched words"), words, note="" if words else tr("No word of the question is in it."))
        if parts := part_rows(e, FEW):
            self._section(tr("Parts of long words"), parts, note=tr("They count less than whole words."))
        if added := added_rows(e, FEW):
            self._section(
                tr("Words that the best hits share"), added, note=tr("They count beside those of the question.")
            )
        if learned := token_rows(e, FEW):
            note = tr("Terms that the encoder weighs by what it has learned, in the question and in the passage.")
            self._section(tr("Learned words"), learned, note=note)
        if e.alignment:
            self._section(tr("Nearest words in meaning"), alignment_rows(e, FEW))
        self._all_figures(e)
        self.body.addStretch(1)
        self.verticalScrollBar().setValue(0)

    def _section(self, title: str, rows: Sequence[RowFigures], bar: Bar | None = None, note: str = "") -> None:
        heading = Label(title, "eyebrow")
        heading.setContentsMargins(0, 10, 0, 2)
        self.body.addWidget(heading)
        if bar is not None:
            self.body.addWidget(bar)
        if note:
            self.body.addWidget(Label(note, "small", wrap=True))
        for figures in rows:
            self._add_row(figures)

    def _add_row(self, figures: RowFigures) -> None:
        made = WhyRow(figures)
        made.pointed.connect(self._point)
        made.clicked.connect(lambda _on=False, chosen=made: self._choose(chosen))
        self._rows.append(made)
        self.body.addWidget(made)

    def _choose(self, chosen: WhyRow) -> None:
        """Keep one row's words marked; choosing it again lets go."""
        self._chosen = chosen if chosen.isChecked() else None
        for other in self._rows:
            if other is not chosen:
                other.setChecked(False)
        self._point(None)

    def _point(self, spans: object) -> None:
        if spans is None and self._chosen is not None:
            spans = self._chosen.figures.spans
        self.pointed.emit(spans)

    def _all_figures(self, e: Explanation) -> None:
        tree = _tree(e)
        toggle = Button(tr("All figures"), "link", _chevron(self._figures_open))
        toggle.setCheckable(True)
        toggle.setChecked(self._figures_open)
        tree.setVisible(self._figures_open)
        toggle.toggled.connect(tree.setVisible)
        toggle.toggled.connect(lambda on: toggle.set_icon(_chevron(on)))
        toggle.toggled.connect(lambda on: setattr(self, "_figures_open", on))
        self.body.addSpacing(8)
        self.body.addWidget(toggle, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addWidget(tree)


def _chevron(opened: bool) -> str:
    return "chevron-down" if opened else "chevron-right"


def _tree(e: Explanation) -> QTreeWidget:
    tree = QTreeWidget()
    tree.setHeaderLabels([tr("Figure"), tr("Value")])
    tree.setAccessibleName(tr("All figures"))
    tree.setAlternatingRowColors(False)
    tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
    for title, rows in all_figures(e):
        group = QTreeWidgetItem(tree, [title])
        group.setFirstColumnSpanned(True)
        for name, value in rows:
            QTreeWidgetItem(group, [one_line(name), value]).setToolTip(0, one_line(name))
        group.setExpanded(True)
    tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
    tree.header().setStretchLastSection(False)
    tree.setMinimumHeight(280)
    return tree


def _clear(layout: QLayout) -> None:
    """Take everything out of a layout."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            _clear(inner)
