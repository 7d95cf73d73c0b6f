"""How much concepts explain in this library, in words with figures; all figures below for those who want them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.i18n import grouped, plural, tr
from app.models.concept_entries import Clearness, Listing, by_clearness
from app.views import concept_words as words
from app.widgets.buttons import Button
from app.widgets.card import Card, Scroller, row
from app.widgets.concept_rows import THICK
from app.widgets.hit_flow import FlowLayout
from app.widgets.labels import Badge, Label
from app.widgets.why_bar import Bar, Segment

WIDEST = 860
GOOD, FAIR = 0.9, 0.7


MEANINGS = {
    "nmse": "Error left (0 is none), on passages that the concepts were found in",
    "nmse_held_out": "Error left, on passages that were kept aside",
    "nmse_outside": "Error left, on text that is not of this library",
    "live": "Share of the concepts that are found in some passage",
    "dead": "Share of the concepts that are found in no passage",
    "l0": "Concepts in a passage, on average",
    "l0_held_out": "Concepts in a passage that was kept aside",
    "l0_questions": "Concepts in a question",
    "l0_outside": "Concepts in a text that is not of this library",
    "ndcg_kept": "Ranking kept by concepts alone (nDCG@10)",
    "mrr_kept": "Ranking kept by concepts alone (MRR@10)",
    "recall_kept": "Found by concepts alone (recall@100)",
    "spearman": "Likeness of the order of near passages (1 is the same)",
    "k": "Concepts that a passage was given while they were found",
    "latents": "Places for concepts; those without a name are counted, too",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure from 0 to 1 in words: `title` says what it is, `text` what it means."""

    title: str
    text: str
    share: float


def facts(figures: Mapping[str, Any]) -> list[Fact]:
    """What the figures of a fit say; those that were not measured are left out."""
    found: list[Fact] = []
    error = _first(figures, "nmse_held_out", "nmse")
    if error is not None:
        found.append(Fact(tr("What sets passages apart"), tr(
            "So much of what tells one passage from another is held by concepts, measured on passages that were kept "
            "aside. The rest has no name."), max(0.0, 1 - error)))  # fmt: skip
    recall = _first(figures, "recall_kept", "recall@100_kept", "recall_100_kept")
    if recall is not None:
        found.append(
            Fact(
                tr("What search still finds"),
                tr("Of the right passages that search by full meaning finds, so many are found by concepts alone."),
                recall,
            )
        )
    rank = _first(figures, "ndcg_kept", "ndcg@10_kept", "ndcg_10_kept", "mrr_kept")
    if rank is not None:
        found.append(Fact(tr("How well it still ranks"), tr(
            "How near to the top the right passage stands by concepts alone, compared with search by full meaning."
        ), rank))  # fmt: skip
    order = figures.get("spearman")
    if isinstance(order, float | int):
        found.append(Fact(tr("Whether the order stays"), tr(
            "How alike the order of the nearest passages is with concepts alone: 100 % is the same order."),
            float(order)))  # fmt: skip
    return found


def mark(share: float) -> tuple[str, str]:
    """A share as a word and its tone."""
    if share >= GOOD:
        return tr("very much"), "success"
    return (tr("much"), "neutral") if share >= FAIR else (tr("in part"), "warning")


class FidelityView(QWidget):
    """`show_listing` fills it; `fit` is called when the person wants the concepts found again, `name` when
    the language model shall name them."""

    def __init__(self, fit: Callable[[], object], name: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.again_button = Button(tr("Find the concepts again"), "secondary", "retry", fit)
        self.name_button = Button(tr("Name by language model"), "secondary", "sparkle", name)
        self.name_button.setToolTip(tr("Names are kept only where they lead to the right passages better than now"))
        self.lead = Label("", "heading", wrap=True)
        self.about = Label("", "muted", wrap=True)
        self.more = Button(tr("All figures"), "link", "", self._toggle)
        self._facts = QVBoxLayout()
        self._facts.setSpacing(12)
        self._figures = Card(role="well", padding=12)
        self._figures.hide()
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(24)
        self._figures.body.addLayout(self._grid)
        card = Card(padding=20, spacing=12)
        card.setMaximumWidth(WIDEST)
        for part in (self.lead, self.about):
            card.body.addWidget(part)
        card.body.addLayout(self._facts)
        self._clear = Label("", "body", wrap=True)
        card.body.addWidget(self._clear)
        tools = QWidget()
        flow = FlowLayout(tools, spacing=8)
        for button in (self.again_button, self.name_button, self.more):
            flow.addWidget(button)
        card.body.addWidget(tools)
        card.body.addWidget(self._figures)
        scroller = Scroller()
        scroller.body.addWidget(card)
        scroller.body.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 22)
        column.addWidget(scroller)

    def show_listing(self, listing: Listing) -> None:
        found = facts(listing.figures)
        while (item := self._facts.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for fact in found:
            self._facts.addWidget(FactRow(fact))
        self.lead.setText(_lead(found))
        self.about.setText(f"{words.found_words(listing)}. {tr(words.WHAT)}")
        self._clear.setText(_clear_words(listing))
        self._clear.setVisible(bool(self._clear.text()))
        self.more.setVisible(bool(listing.figures))
        self._fill(listing.figures)

    def _toggle(self) -> None:
        self._figures.setVisible(self._figures.isHidden())
        self.more.setText(tr("All figures") if self._figures.isHidden() else tr("Fewer figures"))

    def _fill(self, figures: Mapping[str, Any]) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            item.widget().deleteLater()
        for at, (name, value) in enumerate(flat(figures)):
            self._grid.addWidget(Label(tr(MEANINGS.get(name, "")), "small", wrap=True), at, 0)
            self._grid.addWidget(Label(name, "mono"), at, 1)
            self._grid.addWidget(Label(value, "mono"), at, 2)
        self._grid.setColumnStretch(0, 1)


class FactRow(QWidget):
    """One fact: its title with the figure, the bar, and what it means."""

    def __init__(self, fact: Fact, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        figure = words.percent(min(1.0, max(0.0, fact.share)))
        word, tone = mark(fact.share)
        bar = Bar(THICK)
        bar.show_segments((Segment(f"{fact.title}: {figure}", min(1.0, max(0.0, fact.share)), "accent"),), 1.0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addLayout(row(Label(fact.title, "strong"), Badge(word, tone), None, Label(figure, "strong")))
        column.addWidget(bar)
        column.addWidget(Label(fact.text, "small", wrap=True))


def flat(figures: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """All figures as (name, value), those within others by their path."""
    found: list[tuple[str, str]] = []
    for name, value in figures.items():
        if isinstance(value, Mapping):
            found += flat(value, f"{before}{name}.")
        elif isinstance(value, float):
            found.append((before + name, f"{value:.4g}"))
        elif isinstance(value, int | str):
            found.append((before + name, grouped(value) if isinstance(value, int) else value))
    return found


def _lead(found: list[Fact]) -> str:
    if not found:
        return tr("It was not measured how much concepts explain here.")
    share = found[0].share
    if share >= GOOD:
        return tr("Concepts explain nearly all that search by meaning sees in your documents.")
    if share >= 0.5:
        return tr("Concepts explain most of what search by meaning sees in your documents.")
    return tr("Concepts explain a part of what search by meaning sees in your documents.")


def _clear_words(listing: Listing) -> str:
    counts = by_clearness(listing.concepts)
    tested = sum(number for kind, number in counts.items() if kind is not Clearness.UNTESTED)
    if not tested:
        return ""
    told = plural(counts[Clearness.CLEAR], "{n} concept is clear", "{n} concepts are clear")
    vague = plural(counts[Clearness.WEAK], "{n} is vague and not given as a reason",
                   "{n} are vague and not given as a reason")  # fmt: skip
    return tr("Of {n} that were tested, {clear}; {vague}.", n=grouped(tested), clear=told, vague=vague)


def _first(figures: Mapping[str, Any], *names: str) -> float | None:
    return next((float(figures[n]) for n in names if isinstance(figures.get(n), float | int)), None)
