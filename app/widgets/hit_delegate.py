"""Paints one hit: title, place, snippet with its matched words marked, and which channels brought it up."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.theme import colours
from app.widgets.hit_channels import channel_name, channel_tone
from app.widgets.hit_model import HIT, copies_text, name_of, place_of, snippet_of
from app.widgets.page_offsets import Utf16
from app.widgets.text_marks import marked
from app.widgets.why_bar import Segment, draw_bar
from core.base.types import Hit, ScorePart, Span

PAD = 14
LINES = 3
BAR_WIDTH = 92
BAR_HEIGHT = 6
DOT = 7
SPARE = 24  # characters more than needed that a start is cut off by: lines break elsewhere then
GAP = 10  # between the names of channels


def bar_segments(parts: tuple[ScorePart, ...]) -> list[Segment]:
    return [Segment(channel_name(p.channel), p.contribution, channel_tone(p.channel)) for p in parts]


def _word_width(small: QFontMetricsF, channel: str) -> float:
    return DOT + 4 + small.horizontalAdvance(channel_name(channel)) + GAP


def _lines(text: str, font: QFont, width: float) -> int:
    """How many lines a snippet gets: what it would fill, with some room for words that wrap."""
    return max(1, min(LINES, ceil(QFontMetricsF(font).horizontalAdvance(text) * 1.06 / max(50.0, width))))


def _end(layout: QTextLayout, text: str) -> int:
    """Where the last line of a layout ends in its text."""
    last = layout.lineAt(layout.lineCount() - 1)
    return Utf16(text).offset(last.textStart() + last.textLength())


def _cut_start(text: str, spans: list[Span], hidden: int) -> tuple[str, list[Span]]:
    """The text without its first `hidden` characters and some more, so that the first mark is seen."""
    from_ = min(hidden + SPARE, spans[0].start)
    start = text.find(" ", from_, spans[0].start) + 1 or from_  # no blanks: cut where it falls
    return "… " + text[start:], [Span(s.start - start + 2, s.end - start + 2) for s in spans]


def _area(rect: QRect) -> QRect:
    """What of a row is written on."""
    return rect.adjusted(PAD + 4, PAD, -PAD, -PAD)


def found_by(parts: tuple[ScorePart, ...]) -> list[str]:
    """The channels that raised the hit, in the order of the bar."""
    return [p.channel for p in parts if p.contribution > 0]


class HitDelegate(QStyledItemDelegate):
    """Rows as tall as their snippet, at most `LINES` lines of it; estimated, not laid out, to stay light."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.best = 1.0  # the score whose bar is full

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        title, small, body = self._fonts(option.font)
        hit = index.data(HIT)
        width = option.widget.viewport().width() - 2 * PAD - 4 if isinstance(option.widget, QListView) else 400
        lines = _lines(snippet_of(hit)[0], body, width) if isinstance(hit, Hit) else 1
        snippet = lines * QFontMetricsF(body).lineSpacing()
        return QSize(240, round(2 * PAD + title.lineSpacing() + small.lineSpacing() + snippet + 8))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        hit = index.data(HIT)
        if not isinstance(hit, Hit):
            return
        painter.save()
        self._paint_ground(painter, option)
        area = _area(option.rect)
        self._paint_head(painter, option, area, hit)
        self._paint_snippet(painter, option, area, hit)
        painter.restore()

    def _fonts(self, base: QFont) -> tuple[QFontMetricsF, QFontMetricsF, QFont]:
        title = QFont(base)
        title.setWeight(QFont.Weight.DemiBold)
        title.setPointSizeF(base.pointSizeF() * 1.08)
        small = QFont(base)
        small.setPointSizeF(base.pointSizeF() * 0.9)
        self._title_font, self._small_font = title, small
        return QFontMetricsF(title), QFontMetricsF(small), base

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        c, rect = colours(), option.rect
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hover = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if chosen or hover:
            painter.fillRect(rect, c.colour("accent_soft" if chosen else "hover"))
        if chosen:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), c.colour("accent"))
        painter.fillRect(QRect(rect.left() + PAD, rect.bottom(), rect.width() - 2 * PAD, 1), c.colour("border"))

    def _paint_head(self, painter: QPainter, option: QStyleOptionViewItem, area: QRect, hit: Hit) -> None:
        title, small, _ = self._fonts(option.font)
        found = found_by(hit.parts)
        side = max(float(BAR_WIDTH), sum(_word_width(small, channel) for channel in found)) + 12
        top = QRectF(area.left(), area.top(), area.width() - side, title.lineSpacing())
        painter.setFont(self._title_font)
        painter.setPen(colours().colour("text"))
        painter.drawText(top, 0, title.elidedText(name_of(hit.passage), Qt.TextElideMode.ElideMiddle, top.width()))
        place, copies = self._second_line(option.font, area, hit)
        painter.setFont(self._small_font)
        painter.setPen(colours().colour("muted"))
        painter.drawText(place, 0, small.elidedText(place_of(hit.passage), Qt.TextElideMode.ElideRight, place.width()))
        painter.setPen(colours().colour("accent_text"))
        painter.drawText(copies, 0, copies_text(hit))
        painter.setPen(colours().colour("muted"))
        below = place
        self._paint_channels(painter, small, found, QPointF(area.right() + 1, below.top()))
        bar = QRectF(area.right() - BAR_WIDTH + 1, top.center().y() - BAR_HEIGHT / 2, BAR_WIDTH, BAR_HEIGHT)
        draw_bar(painter, bar, bar_segments(hit.parts), self._whole(hit))

    def _second_line(self, font: QFont, area: QRect, hit: Hit) -> tuple[QRectF, QRectF]:
        """Where the place stands, and after it what is said of copies (an empty rectangle for none)."""
        title, small, _ = self._fonts(font)
        side = max(float(BAR_WIDTH), sum(_word_width(small, channel) for channel in found_by(hit.parts))) + 12
        room, top, height = area.width() - side, area.top() + title.lineSpacing(), small.lineSpacing()
        words, told = copies_text(hit), place_of(hit.passage)
        wanted = small.horizontalAdvance(words) + 2 if words else 0.0
        gap = 2.0 * GAP if words and told else 0.0
        width = max(0.0, min(small.horizontalAdvance(told) + 1, room - wanted - gap))
        place = QRectF(area.left(), top, width if words else room, height)
        return place, QRectF(area.left() + width + gap, top, min(wanted, room), height)

    def copies_rect(self, option: QStyleOptionViewItem, hit: Hit) -> QRectF:
        """Where a row says that the hit stands elsewhere too; that can be clicked."""
        return self._second_line(option.font, _area(option.rect), hit)[1]

    def _paint_channels(self, painter: QPainter, small: QFontMetricsF, channels: list[str], corner: QPointF) -> None:
        """The channels' names with their colours, up to the right `corner`."""
        left = corner.x() - sum(_word_width(small, channel) for channel in channels) + GAP
        for channel in channels:
            dot = QRectF(left, corner.y() + small.lineSpacing() / 2 - DOT / 2 + 1, DOT, DOT)
            painter.fillRect(dot, colours().colour(channel_tone(channel)))
            painter.drawText(QPointF(left + DOT + 4, corner.y() + small.ascent()), channel_name(channel))
            left += _word_width(small, channel)

    def _whole(self, hit: Hit) -> float:
        """What a full bar stands for: the raised parts of the best hit, never less than this one's."""
        return max(self.best, sum(max(0.0, p.contribution) for p in hit.parts))

    def _paint_snippet(self, painter: QPainter, option: QStyleOptionViewItem, area: QRect, hit: Hit) -> None:
        title, small, body = self._fonts(option.font)
        text, spans = snippet_of(hit)
        top = area.top() + title.lineSpacing() + small.lineSpacing() + 6
        layout = self._layout(text, spans, body, area.width(), _lines(text, body, area.width()))
        painter.setPen(colours().colour("text"))
        layout.draw(painter, QPointF(area.left(), top))

    def _layout(
        self, text: str, spans: list[Span], font: QFont, width: float, lines: int, *, near: bool = False
    ) -> QTextLayout:
        """At most `lines` lines; the last one ends with an ellipsis where text is left."""
        layout = self._laid(text, spans, font, width, lines)
        end = _end(layout, text)
        if layout.lineCount() < lines or end >= len(text):
            return layout
        if spans and spans[0].end > end and not near:
            return self._layout(*_cut_start(text, spans, spans[0].end - end), font, width, lines, near=True)
        kept = text[:end].rstrip()
        kept = kept[: max(kept.rfind(" "), len(kept) - 12)] + " …"
        return self._laid(kept, [s for s in spans if s.end <= len(kept)], font, width, lines)

    def _laid(self, text: str, spans: list[Span], font: QFont, width: float, lines: int) -> QTextLayout:
        layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats(marked(text, spans))
        layout.beginLayout()
        y = 0.0
        for _ in range(lines):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            line.setPosition(QPointF(0, y))
            y += line.height()
        layout.endLayout()
        return layout
