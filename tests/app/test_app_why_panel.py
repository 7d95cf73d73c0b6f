"""The Why panel: the figures it shows add up, its rows mark the right words, its states are said."""

from __future__ import annotations

import math
from dataclasses import replace

import pages_fixtures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages_fixtures import Desk
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.views.why_panel import WhyPanel
from app.widgets.buttons import Button
from app.widgets.why_figures import additive, percent, signed
from app.widgets.why_reasons import pair_rows, reason_rows
from app.widgets.why_row import WhyRow
from app.widgets.why_sections import (
    added_rows,
    all_figures,
    concept_rows,
    concepts_text,
    score_rows,
    score_text,
    term_rows,
    token_rows,
)
from core.base.types import RERANK, STEER, AccountLine, Explanation, Level, Query, ScorePart, Span, TermMatch

desk, template = pages_fixtures.desk, pages_fixtures.template
QUERY = Query("harbour dues fees")


@pytest.fixture
def panel(desk: Desk, qtbot: QtBot) -> WhyPanel:
    made = WhyPanel(desk.context)
    qtbot.addWidget(made)
    made.resize(400, 800)
    made.show()
    return made


def explained(panel: WhyPanel, qtbot: QtBot, query: Query = QUERY, passage: int = 1) -> Explanation:
    panel.ask(query, passage)
    qtbot.waitUntil(lambda: panel.explanation is not None and not panel._latest.busy, timeout=15_000)
    assert panel.explanation is not None
    return panel.explanation


def row(panel: WhyPanel, label: str) -> WhyRow:
    return next(r for r in panel.details.rows if r.figures.label == label)


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").removesuffix(" %"))


def test_numbers_shown_add_up_to_the_score_shown(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = explained(panel, qtbot)
    *parts, together = [number(r.value) for r in score_rows(explanation)]
    assert round(math.fsum(parts), 2) == together == round(explanation.score, 2)


def test_words_that_the_search_added_stand_apart_and_are_not_marked(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = explained(panel, qtbot)
    own, added = explanation.terms[0], TermMatch("berth", 9.0, (Span(0, 5),), added=True)
    panel._show(replace(explanation, terms=(own, added)))
    assert [r.label for r in term_rows(panel.explanation)] == [own.term]
    assert [r.label for r in added_rows(panel.explanation, 5)] == ["berth"]
    assert panel._matched() == own.spans
    assert row(panel, "berth").figures.spans == added.spans


def test_parts_of_long_words_stand_apart_with_their_word(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = explained(panel, qtbot)
    own, part = explanation.terms[0], TermMatch("werk", 0.4, (Span(0, 5),), part_of="kernkraftwerk")
    panel._show(replace(explanation, terms=(own, part)))
    assert [r.label for r in term_rows(panel.explanation)] == [own.term]
    assert panel._matched() == own.spans
    assert row(panel, "werk  ←  kernkraftwerk").figures.spans == part.spans


def test_learned_words_stand_apart_strongest_first(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = explained(panel, qtbot)
    said, unsaid = TermMatch("dock", 0.4, (Span(0, 4),)), TermMatch("quay", 0.8, ())
    panel._show(replace(explanation, tokens=(said, unsaid)))
    assert [(r.label, r.share) for r in token_rows(panel.explanation, 5)] == [("quay", 1.0), ("dock", 0.5)]
    assert row(panel, "dock").figures.spans == said.spans
    assert row(panel, "quay").figures.value == "not in the text"


@pytest.mark.parametrize("level", list(Level))
def test_what_the_points_of_a_hit_count_is_said_for_its_size(panel: WhyPanel, qtbot: QtBot, level: Level) -> None:
    explained(panel, qtbot, replace(QUERY, level=level))
    said = [label.text() for label in panel.details.findChildren(QLabel) if label.isVisibleTo(panel)]
    assert score_text(level) in said
    assert (level is Level.PASSAGE) == (score_text(level) == score_text())


def test_shares_shown_add_up_to_all_of_the_meaning(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = explained(panel, qtbot)
    for most in (1, 2, 5):
        assert sum(number(r.value) for r in concept_rows(explanation, most)) == 100
    labels = [r.label for r in concept_rows(explanation, 1)]
    assert labels == [
        "harbour · dues · berth",
        "2 weaker concepts",
        "Common to all passages",
        "Not explained by concepts",
    ]
    assert concept_rows(explanation, 1)[-1].open_


def test_pointing_at_a_row_marks_its_words_and_choosing_keeps_them(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = explained(panel, qtbot)
    text, all_words = explanation.passage.text, panel.passage_text.spans
    assert [text[s.start : s.end] for s in all_words] == ["harbour", "dues"]
    dues, concept = row(panel, "dues"), row(panel, "harbour · dues · berth")
    dues.enterEvent(QEnterEvent(QPointF(1, 1), QPointF(1, 1), QPointF(1, 1)))
    assert [text[s.start : s.end] for s in panel.passage_text.spans] == ["dues"]
    dues.leaveEvent(QEvent(QEvent.Type.Leave))
    assert panel.passage_text.spans == all_words
    QTest.mouseClick(concept, Qt.MouseButton.LeftButton)
    concept.leaveEvent(QEvent(QEvent.Type.Leave))
    assert [text[s.start : s.end] for s in panel.passage_text.spans] == ["dues"]  # the word that makes it about that
    assert panel.passage_text.lines == concept.figures.spans
    assert text.startswith(text[concept.figures.spans[0].start : concept.figures.spans[0].end])
    panel.setFocus()
    QTest.mouseClick(dues, Qt.MouseButton.LeftButton)
    assert not concept.isChecked()


def test_marks_are_drawn_in_the_passage(panel: WhyPanel, qtbot: QtBot) -> None:
    explained(panel, qtbot)
    marked = [s.cursor.selectedText() for s in panel.passage_text.extraSelections()]
    assert marked == ["dues", "harbour", "dues"]  # a word of the strongest concept is underlined
    assert panel.passage_text.extraSelections()[0].format.fontUnderline()


def test_the_reasons_of_all_ways_of_searching_add_up_in_one_list(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = explained(panel, qtbot)
    for most in (1, 3, 9):
        *rows, together = reason_rows(explanation, most)
        assert round(math.fsum(number(r.value) for r in rows), 2) == number(together.value)
        assert number(together.value) == round(explanation.score, 2)
    labels = [r.label for r in reason_rows(explanation, 3)]
    assert labels == [
        "“harbour”", "“dues”", "«harbour · dues · berth»", "2 smaller reasons", "Common to all passages",
        "Not explained by concepts", "Together",
    ]  # fmt: skip
    visible = [r.figures.label for r in panel.details.rows if r.isVisibleTo(panel)]
    assert visible[:2] == labels[:2]
    assert "Matched words" not in [label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel)]


def test_without_an_account_the_ways_of_searching_are_the_reasons(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = replace(explained(panel, qtbot), account=())
    assert [r.label for r in reason_rows(explanation)] == ["Words in common", "Meaning", "Together"]
    lines = (AccountLine("unnamed", "dense", "", 0.3), AccountLine("others", "bm25", "", 0.7))
    bare = replace(explanation, concepts=(), account=lines, score=1.0)
    rows = reason_rows(bare)
    assert [r.label for r in rows] == ["Further passages: words in common", "Meaning", "Together"]
    assert not any(r.open_ for r in rows)


def test_what_is_steered_by_is_told_from_the_meaning(panel: WhyPanel, qtbot: QtBot) -> None:
    lines = (AccountLine("concept", "dense", "ice", 0.3, id=4), AccountLine("concept", STEER, "ice", 0.7, id=4))
    steered, meant, _ = reason_rows(replace(explained(panel, qtbot), concepts=(), account=lines, score=1.0))
    assert (steered.label, meant.label) == ("«ice» · steered", "«ice»")
    assert "you let it count" in steered.tip


def test_the_second_level_has_the_parts_of_a_concept_and_stays_open(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = explained(panel, qtbot)
    pairs = pair_rows(explanation.concepts[0])
    whole = math.fsum(number(r.value) for r in pairs)
    assert whole == pytest.approx(explanation.concepts[0].contribution, abs=0.002)
    toggle = next(b for b in panel.findChildren(Button) if b.text() == "All about the score")
    assert not row(panel, pairs[0].label).isVisibleTo(panel)
    QTest.keyClick(toggle, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: row(panel, pairs[0].label).isVisibleTo(panel), timeout=5000)
    panel._show(replace(explanation, sentence="another"))
    qtbot.waitUntil(lambda: row(panel, pairs[0].label).isVisibleTo(panel), timeout=5000)


def test_error_is_shown_and_tried_again(panel: WhyPanel, qtbot: QtBot) -> None:
    panel.ask(Query("fail"), 1)
    qtbot.waitUntil(lambda: panel._banner.isVisible(), timeout=15_000)
    assert panel._banner.text() == "The index is damaged."
    panel._asked = (QUERY, 1)
    panel._banner.acted.emit()
    qtbot.waitUntil(lambda: panel.explanation is not None, timeout=5000)
    assert not panel._banner.isVisible()


def test_same_question_is_not_asked_twice(panel: WhyPanel, qtbot: QtBot) -> None:
    explained(panel, qtbot)
    panel.ask(QUERY, 1)
    assert not panel._latest.busy


def test_all_figures_hold_every_raw_number(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = explained(panel, qtbot)
    said = {name: value for _, rows in all_figures(explanation) for name, value in rows}
    assert said["score"] == f"{explanation.score:.6f}"
    assert said["not explained"] == f"{explanation.residual:.6f}"
    assert said["7 harbour · dues · berth"] == f"{explanation.concepts[0].contribution:.6f}"


def test_escape_closes(panel: WhyPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.closed):
        QTest.keyClick(panel, Qt.Key.Key_Escape)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.integers(0, 4))
def test_rounded_parts_add_up(values: list[float], decimals: int) -> None:
    shown, total = additive(values, math.fsum(values), decimals)
    assert round(math.fsum(shown), decimals) == pytest.approx(total, abs=1e-9)
    assert all(abs(s - v) <= 10**-decimals + 1e-9 for s, v in zip(shown, values, strict=True))


def test_parts_that_do_not_add_up_are_not_bent() -> None:
    assert additive([0.1, 0.2], 0.9) == ([0.1, 0.2], 0.9)


def test_numbers_in_words() -> None:
    assert signed(-0.03149, 3) == "\N{MINUS SIGN}0.031"
    assert signed(-0.0001, 3) == "0.000"
    assert percent(0.004) == "under 1 %"
    assert percent(-0.05) == "\N{MINUS SIGN}5 %"


def test_parts_that_cancel_out_are_shown_themselves_and_add_up(panel: WhyPanel, qtbot: QtBot) -> None:
    explanation = explained(panel, qtbot)
    first, *rest = explanation.concepts
    rest_sum = math.fsum(c.contribution for c in rest)
    far = replace(
        explanation, concepts=(replace(first, contribution=0.2), *rest), common=0.02, residual=-0.2 - rest_sum,
        dense_score=0.02,
    )  # fmt: skip
    values = [r.value for r in concept_rows(far, 5)]
    assert values[0] == "+0.200"
    assert round(math.fsum(number(v) for v in values), 3) == 0.02
    assert "%" not in "".join(values) + concepts_text(far)


def test_close_reading_says_that_its_place_is_among_those_read(panel: WhyPanel, qtbot: QtBot) -> None:
    e = explained(panel, qtbot)
    read = score_rows(replace(e, parts=(*e.parts, ScorePart(RERANK, 3.0, 2, 1.0, 1.5)), score=e.score + 1.5))
    tips = {row.label: row.tip for row in read}
    assert tips["Close reading"] == "Place 2 among the best hits, which were read together with the question."
    assert tips["Meaning"] == "Place 1 when searching this way alone."
