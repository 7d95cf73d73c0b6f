"""What is different between an answer and an earlier one to the same question, in words."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.i18n import plural, tr
from app.widgets.buttons import IconButton
from app.widgets.card import Card, row
from app.widgets.labels import Badge, Label
from app.widgets.page_offsets import one_line
from core.library import Change, Comparison

_MOST = 12  # lines of one kind that are shown
_NAMES = {
    "mode": "How it was made",
    "model": "Language model",
    "generation": "State of the index",
    "encoder": "Search model",
    "filters": "Filters",
    "asked_mode": "Asked for",
    "searched": "Searched for",
}
_SIGNS = {
    Change.CAME: ("new", "success"),
    Change.WENT: ("gone", "danger"),
    Change.CHANGED: ("changed", "warning"),
    Change.SAME: ("same", "neutral"),
}
_VALUES = {
    "generated": "written by the model", "extractive": "quotes", "abstained": "no answer", "auto": "an answer",
    "": "none",
}  # fmt: skip


class ComparisonView(Card):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, role="well", padding=12, spacing=6)
        self.headline = Label("", "strong", wrap=True)
        close = IconButton("close", tr("Close the comparison"), self.hide)
        line = row(self.headline, close)
        line.setStretch(0, 1)
        self.body.addLayout(line)
        self._lines = QVBoxLayout()
        self._lines.setSpacing(4)
        self.body.addLayout(self._lines)
        self._rows: list[QWidget] = []

    def show_comparison(self, found: Comparison) -> None:
        for widget in self._rows:
            self._lines.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._rows = []
        self.headline.setText(headline(found))
        changed = any(one.change is not Change.SAME for one in found.sentences)
        self._section(tr("What it says"), [(s.change, one_line(s.text)) for s in found.sentences] if changed else [])
        self._section(tr("The passages it was given"), [(p.change, _passage(p.title, p.page, p.change, p.stays))
                                                        for p in found.passages])  # fmt: skip
        if found.passages and found.kept:
            self._add(Label(plural(found.kept, "{n} passage is the same.", "{n} passages are the same."), "small"))
        for what, before, after in circumstances(found):
            self._add(
                Label(tr("{what}: {before} → {after}", what=what, before=before, after=after), "muted", wrap=True)
            )
        self.show()

    def text(self) -> str:
        """All of it, for a screen reader."""
        labels = [label for widget in self._rows for label in (widget.findChildren(Label) or [widget])]
        return " ".join([self.headline.text(), *(label.text() for label in labels if isinstance(label, Label))])

    def _section(self, title: str, lines: list[tuple[Change, str]]) -> None:
        if not lines:
            return
        self._add(Label(title, "eyebrow"))
        for change, text in lines[:_MOST]:
            self._add(_line(change, text))
        if len(lines) > _MOST:
            self._add(Label(plural(len(lines) - _MOST, "and {n} more", "and {n} more"), "small"))

    def _add(self, widget: QWidget) -> None:
        self._rows.append(widget)
        self._lines.addWidget(widget)


def headline(found: Comparison) -> str:
    """In one sentence."""
    if found.same:
        return tr("The same answer as before, made in the same way.")
    if found.same_answer:
        return tr("The same answer as before. What it was made from has changed.")
    return tr("The answer has changed.")


def circumstances(found: Comparison) -> list[tuple[str, str, str]]:
    """What of the way is another, before and after; hashes tell a person nothing."""
    return [
        (tr(_NAMES[one.what]), _value(one.before), _value(one.after))
        for one in found.circumstances
        if one.what in _NAMES
    ]


def _value(text: str) -> str:
    return tr(_VALUES[text]) if text in _VALUES else one_line(text)


def _passage(title: str, page: int | None, change: Change, stays: bool) -> str:
    where = one_line(title) or tr("A passage that is no longer in the library")
    where += tr(", page {n}", n=page) if page is not None else ""
    if change is Change.WENT and stays:
        return tr("{place}: no longer among the best", place=where)
    return tr("{place}: removed, or read anew", place=where) if change is Change.WENT and title else where


def _line(change: Change, text: str) -> QWidget:
    word, tone = _SIGNS[change]
    label = Label(text, "body" if change in (Change.CAME, Change.CHANGED) else "muted", wrap=True)
    label.setAccessibleName(f"{tr(word)}: {text}")
    held = QWidget()
    line = row(Badge(tr(word), tone), label)
    line.setStretch(1, 1)
    held.setLayout(line)
    return held
