"""How many passages of a concept are in the documents of each month, as columns along the years."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLocale, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.i18n import plural, tr
from app.theme import colours

COLUMNS = 60  # more months than this are put together
HIGH = 56

Months = Sequence[tuple[str, int]]


def filled(growth: Months) -> list[tuple[str, int]]:
    """The months from first to last without a gap; those without passages count 0."""
    counts = dict(growth)
    if not counts:
        return []
    first, last = (_number(month) for month in (min(counts), max(counts)))
    return [(_month(n), counts.get(_month(n), 0)) for n in range(first, last + 1)]


def columns(growth: Months, most: int = COLUMNS) -> list[tuple[str, str, int]]:
    """At most `most` columns: first month, last month, passages. Each holds equally many months (the last may not)."""
    months = filled(growth)
    wide = max(1, -(-len(months) // most))
    parts = [months[at : at + wide] for at in range(0, len(months), wide)]
    return [(part[0][0], part[-1][0], sum(n for _, n in part)) for part in parts]


def month_name(month: str) -> str:
    year, number = month.split("-")
    return f"{QLocale().standaloneMonthName(int(number), QLocale.FormatType.ShortFormat)} {year}"


class GrowthBars(QWidget):
    """Nothing can be pressed: the accessible name says the whole of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns: list[tuple[str, str, int]] = []
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_growth(self, growth: Months) -> None:
        self._columns = columns(growth)
        if self._columns:
            best = max(self._columns, key=lambda column: column[2])
            total = plural(sum(n for _, _, n in self._columns), "{n} passage", "{n} passages")
            self.setAccessibleName(tr(
                "{total} from {first} to {last}, most of them in {best}", total=total,
                first=month_name(self._columns[0][0]), last=month_name(self._columns[-1][1]), best=_span(best),
            ))  # fmt: skip
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, HIGH + self.fontMetrics().height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        column = self._at(event.position().x())
        words = f"{_span(column)}: {plural(column[2], '{n} passage', '{n} passages')}" if column else ""
        QToolTip.showText(event.globalPosition().toPoint(), words, self)

    def event(self, event: QHelpEvent) -> bool:  # type: ignore[override]
        return True if event.type() == QHelpEvent.Type.ToolTip else super().event(event)

    def _at(self, x: float) -> tuple[str, str, int] | None:
        at = int(x / max(1.0, self._step()))
        return self._columns[at] if 0 <= at < len(self._columns) else None

    def _step(self) -> float:
        return min(28.0, self.width() / max(1, len(self._columns)))

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._columns:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        step, most = self._step(), max(n for _, _, n in self._columns)
        gap = 2.0 if step > 6 else 0.5
        painter.setPen(Qt.PenStyle.NoPen)
        for at, (_, _, number) in enumerate(self._columns):
            high = max(2.0, number / max(1, most) * HIGH) if number else 1.0
            painter.setBrush(colours().colour("accent" if number else "border"))
            painter.drawRoundedRect(QRectF(at * step, HIGH - high, max(1.0, step - gap), high), 1.5, 1.5)
        painter.setPen(colours().colour("muted"))
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * 0.9)
        painter.setFont(font)
        below = QRectF(0, HIGH + 2, max(step * len(self._columns), 200.0), self.height() - HIGH - 2)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignLeft), month_name(self._columns[0][0]))
        if len(self._columns) > 1:
            painter.drawText(below, int(Qt.AlignmentFlag.AlignRight), month_name(self._columns[-1][1]))


def _span(column: tuple[str, str, int]) -> str:
    first, last, _ = column
    return month_name(first) if first == last else f"{month_name(first)} – {month_name(last)}"


def _number(month: str) -> int:
    year, number = month.split("-")
    return int(year) * 12 + int(number) - 1


def _month(number: int) -> str:
    return f"{number // 12:04d}-{number % 12 + 1:02d}"
