"""The scrolling part of the Why panel: the reasons, and on a second level all figures, section by section."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QLayout, QVBoxLayout, QWidget

from app.i18n import tr
from app.views.why_tree import figures_tree
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Scroller, row
from app.widgets.hit_flow import FlowLayout
from app.widgets.labels import Label
from app.widgets.page_offsets import one_line
from app.widgets.why_bar import Bar, LegendItem
from app.widgets.why_reasons import pair_rows, reason_rows, reason_segments
from app.widgets.why_row import RowFigures, WhyRow
from app.widgets.why_sections import (
    added_rows,
    alignment_rows,
    concept_rows,
    concepts_text,
    part_rows,
    score_rows,
    score_text,
    term_rows,
    token_rows,
)  # fmt: skip
from core.base.types import Explanation, Level

FEW = 5


class WhyDetails(Scroller):
    """`pointed(RowFigures)` names what to mark in the passage; None means nothing in particular.

    Where `steers` is set, a concept has a button that sends `concept_asked(id, where on the screen)`, and `other_asked`
    asks about a passage that was not found.
    """

    pointed = Signal(object)
    concept_asked = Signal(int, QPoint)
    other_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, spacing=2)
        self.body.setContentsMargins(0, 4, 10, 4)
        self.steers = False
        self._rows: list[WhyRow] = []
        self._chosen: WhyRow | None = None
        self._more_open = self._figures_open = False

    @property
    def rows(self) -> list[WhyRow]:
        return self._rows

    def show_explanation(self, e: Explanation, level: Level = Level.PASSAGE) -> None:
        """Replace all; `level` is the size of the hit that is explained."""
        clear(self.body)
        self._rows, self._chosen = [], None
        bar = Bar(12)
        bar.show_segments(reason_segments(e))
        self.body.addWidget(bar)
        self.body.addLayout(_legend(bar))
        for figures in reason_rows(e):
            self._add_row(self.body, figures)
        self.body.addWidget(Label(score_text(level), "small", wrap=True))
        second = QWidget()
        lines = QVBoxLayout(second)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(4)
        self._second_level(lines, e)
        self._folding(self.body, tr("All about the score"), second, "_more_open")
        if self.steers:
            other = Button(tr("Expected another one?"), "link", "why", self.other_asked.emit)
            self.body.addWidget(other, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(1)
        self.verticalScrollBar().setValue(0)

    def _second_level(self, into: QVBoxLayout, e: Explanation) -> None:
        self._section(into, tr("Ways of searching"), score_rows(e), "")
        self._section(into, tr("Shared concepts"), (), concepts_text(e))
        pairs = {c.id: pair_rows(c) for c in e.concepts}
        for figures in concept_rows(e, FEW):
            self._add_row(into, figures)
            for pair in pairs.get(figures.concept, ()):
                self._add_row(into, pair)
        words = term_rows(e)
        self._section(into, tr("Matched words"), words, "" if words else tr("No word of the question is in it."))
        for title, rows, note in (
            (tr("Parts of long words"), part_rows(e, FEW), tr("They count less than whole words.")),
            (tr("Words that the best hits share"), added_rows(e, FEW), tr("They count beside those of the question.")),
            (tr("Learned words"), token_rows(e, FEW),
             tr("Terms that the encoder weighs by what it has learned, in the question and in the passage.")),
            (tr("Nearest words in meaning"), alignment_rows(e, FEW), ""),
        ):  # fmt: skip
            if rows:
                self._section(into, title, rows, note)
        self._folding(into, tr("All figures"), figures_tree(e), "_figures_open")

    def _section(self, into: QVBoxLayout, title: str, rows: Sequence[RowFigures], note: str) -> None:
        heading = Label(title, "eyebrow")
        heading.setContentsMargins(0, 10, 0, 2)
        into.addWidget(heading)
        if note:
            into.addWidget(Label(note, "small", wrap=True))
        for figures in rows:
            self._add_row(into, figures)

    def _add_row(self, into: QVBoxLayout, figures: RowFigures) -> None:
        made = WhyRow(figures)
        made.pointed.connect(self._point)
        made.clicked.connect(lambda _on=False, chosen=made: self._choose(chosen))
        self._rows.append(made)
        if not self.steers or figures.concept < 0:
            into.addWidget(made)
            return
        steer = IconButton("more", tr("Steer by {concept}", concept=one_line(figures.label)))
        steer.setFixedHeight(made.sizeHint().height())
        ask = self.concept_asked.emit
        steer.clicked.connect(lambda: ask(figures.concept, steer.mapToGlobal(steer.rect().bottomLeft())))
        made.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        made.customContextMenuRequested.connect(lambda at: ask(figures.concept, made.mapToGlobal(at)))
        line = row(made, steer, spacing=2)
        line.setStretch(0, 1)
        into.addLayout(line)

    def _choose(self, chosen: WhyRow) -> None:
        """Keep one row's words marked; choosing it again lets go."""
        self._chosen = chosen if chosen.isChecked() else None
        for other in self._rows:
            if other is not chosen:
                other.setChecked(False)
        self._point(None)

    def _point(self, figures: RowFigures | None) -> None:
        if figures is None and self._chosen is not None:
            figures = self._chosen.figures
        self.pointed.emit(figures)

    def _folding(self, into: QVBoxLayout, title: str, inner: QWidget, kept: str) -> None:
        """A part that is shown when its title is pressed, and stays so for the next explanation (`kept`)."""
        opened = bool(getattr(self, kept))
        toggle = Button(title, "link", _chevron(opened))
        toggle.setCheckable(True)
        toggle.setChecked(opened)
        inner.setVisible(opened)
        toggle.toggled.connect(inner.setVisible)
        toggle.toggled.connect(lambda on: toggle.set_icon(_chevron(on)))
        toggle.toggled.connect(lambda on: setattr(self, kept, on))
        into.addSpacing(8)
        into.addWidget(toggle, 0, Qt.AlignmentFlag.AlignLeft)
        into.addWidget(inner)


def _legend(bar: Bar) -> FlowLayout:
    """What the segments of a bar are."""
    flow = FlowLayout(spacing=4)
    for segment in bar.segments:
        flow.addWidget(LegendItem(segment))
    return flow


def _chevron(opened: bool) -> str:
    return "chevron-down" if opened else "chevron-right"


def clear(layout: QLayout) -> None:
    """Take everything out of a layout."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            clear(inner)
