"""How a passage stands in each way of searching: a bar of what it got, with a mark where the last hit shown stands."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.i18n import grouped, tr
from app.theme import colours
from app.widgets.hit_channels import channel_title, channel_tone
from app.widgets.why_bar import Segment, draw_bar
from app.widgets.why_figures import signed
from core.base.types import Standing

BAR = 7
PAD = 4
TICK = 3


def rank_text(rank: int | None) -> str:
    return tr("not found by it") if rank is None else tr("place {rank}", rank=grouped(rank))


class StandingRow(QWidget):
    """One way of searching; `whole` is what a full bar stands for."""

    def __init__(self, standing: Standing, whole: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.standing, self._whole = standing, whole
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        title, rank = channel_title(standing.channel), rank_text(standing.rank)
        got, last, best = (signed(v, 2) for v in (standing.contribution, standing.last, standing.best))
        said = tr("It got {got} points; the last hit shown {last}, the first {best}.", got=got, last=last, best=best)
        self.setAccessibleName(f"{title}: {rank}. {said}")
        self.setToolTip(said)

    def sizeHint(self) -> QSize:
        return QSize(200, round(QFontMetricsF(self.font()).lineSpacing()) + BAR + TICK + 2 * PAD)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        s, metrics, c = self.standing, QFontMetricsF(self.font()), colours()
        line = QRectF(PAD, PAD / 2, self.width() - 2 * PAD, metrics.lineSpacing())
        rank = rank_text(s.rank)
        painter.setPen(c.colour("muted"))
        painter.drawText(line, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), rank)
        painter.setPen(c.colour("text"))
        room = line.width() - metrics.horizontalAdvance(rank) - 10
        title = metrics.elidedText(channel_title(s.channel), Qt.TextElideMode.ElideRight, room)
        painter.drawText(line, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), title)
        bar = QRectF(PAD, line.bottom() + TICK, line.width(), BAR)
        draw_bar(painter, bar, [Segment(s.channel, s.contribution, channel_tone(s.channel))], self._whole)
        if self._whole > 0 and s.last > 0:
            at = bar.left() + bar.width() * min(1.0, s.last / self._whole)
            painter.fillRect(QRectF(at - 1, bar.top() - TICK, 2, BAR + 2 * TICK), c.colour("text"))


def standing_rows(standings: Sequence[Standing]) -> list[StandingRow]:
    """A row a way of searching, all bars of one scale."""
    whole = max((v for s in standings for v in (s.contribution, s.last, s.best)), default=0.0)
    return [StandingRow(s, whole) for s in standings]
