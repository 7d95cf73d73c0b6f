"""The parts of the Adapt page by themselves: curves, words, stages, rows of the history."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import fake_adapt
import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.models.adapt_entries import ACCEPTED, Estimate, runs
from app.theme import Theme
from app.views import adapt_words as words
from app.views.adapt_history import RunHistory
from app.views.adapt_now import Now
from app.views.adapt_verdict import VerdictCard
from app.widgets.adapt_bars import gain
from app.widgets.adapt_curve import CurvePlot, smoothed, ticks
from core.base.events import Curve


def test_a_curve_in_words_and_without_numpy(qtbot: QtBot) -> None:
    plot = CurvePlot("First round")
    qtbot.addWidget(plot)
    assert plot.words() == "First round: nothing measured yet"
    plot.show_points([Curve("first", step, 2.0 if step < 40 else float("nan")) for step in range(0, 50, 10)])
    assert plot.words() == "First round: loss from 2 to 2 in 30 steps"
    script = "import sys, app.views.adapt_page; print({'numpy', 'torch', 'pyqtgraph'} & set(sys.modules))"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_ticks_are_round_and_within() -> None:
    assert ticks(0.0, 1.0) == pytest.approx([0.0, 0.5, 1.0])
    assert ticks(0.31, 2.6) == pytest.approx([1.0, 2.0])
    assert ticks(2.0, 2.0) == [2.0]
    assert ticks(float("nan"), 1.0) == []


def test_smoothing_keeps_the_start_and_a_constant() -> None:
    assert smoothed([3.0] * 500) == pytest.approx([3.0] * 500)
    assert smoothed([5.0, 1.0])[0] == pytest.approx(5.0)
    noisy = [1.0 + (-1) ** n for n in range(1000)]
    assert abs(smoothed(noisy)[-1] - 1.0) < 0.1


def test_gains_and_estimates_in_words() -> None:
    assert [gain(v) for v in (0.0234, -0.0105, 0.0001, -0.0)] == ["+2.3", "\N{MINUS SIGN}1.1", "0.0", "0.0"]
    times = ((20, 40), (380, 520), (340, 350), (1500, 2400), (9000, 15000), (3400, 6100))
    assert [words.estimate_time(Estimate("quick", t)) for t in times] == [
        "about a minute", "about 6 to 9 minutes", "about 6 minutes", "about 25 to 40 minutes", "about 2 to 4 hours",
        "about 1 to 2 hours",
    ]  # fmt: skip


def test_stages_are_listed_as_they_come_then_what_is_to_come() -> None:
    quick = ["questions", "mining", "queries", "judging", "encoding"]
    assert words.shown_stages("quick", []) == quick
    assert words.shown_stages("quick", ["questions", "mining"]) == quick
    assert words.shown_stages("quick", ["questions", "first", "indexing"]) == ["questions", "first", "encoding"]
    assert words.shown_stages("standard", ["mining", "questions", "new"])[:4] == [
        "mining",
        "questions",
        "new",
        "queries",
    ]
    assert words.stage_title("new") == "New"


def test_rows_of_the_history_bear_what_is_absent() -> None:
    rows = [
        {"number": 1, "recipe": "quick", "started": "x", "state": "failed", "later": 1},
        {
            "number": 2,
            "recipe": "quick",
            "started": "",
            "state": "accepted",
            "seconds": None,
            "generation": 7,
            "gate": fake_adapt.gate("accepted") | {"up": []},
            "up": [{"question": "q", "before": 2, "after": 1}],
        },
    ]
    newest, oldest = runs({"runs": rows})
    assert (newest.state, newest.generation, newest.previous) == (ACCEPTED, 7, 0)
    assert newest.gate is not None
    assert newest.gate.up[0].question == "q"
    assert oldest.gate is None
    assert words.outcome(oldest)[0] == "It did not come to a verdict"
    assert words.when("x") == ""


def beside(used: bool) -> dict[str, Any]:
    """A run whose encoder was refused, with learned weights of words and a reranker, both used or not."""
    gate = fake_adapt.gate("refused")
    verdict = gate | {"accepted": used, "fused_before": 0.70, "fused_after": 0.731, "delta": 0.031}
    headed = {"encoder": "tiny+1234abcd" if used else "", "weights": {"lexical": 0.3}, "without": 0.70, "after": 0.712,
              "low": 0.004, "high": 0.02, "queries": 400}  # fmt: skip
    read = {"reranker": "tiny-reranker+0badcafe" if used else "", "weight": 2.0, "gate": verdict}
    state = "accepted" if used else "refused"
    return {"number": 4, "recipe": "thorough", "started": "", "state": state, "gate": gate, "read": read,
            "headed": headed, "generation": 7, "previous": 6}  # fmt: skip


def shown_words(inside: QWidget) -> str:
    return "\n".join(label.text() for label in inside.findChildren(QLabel) if label.isVisibleTo(inside))


def test_what_was_learned_beside_the_vectors_is_told(qtbot: QtBot, theme: Theme) -> None:
    card = VerdictCard()
    qtbot.addWidget(card)
    for used in (True, False):
        (run,) = runs([beside(used)])
        assert (run.reads, run.weighs) == (used, used)
        card.show_run(run, {})
        qtbot.waitUntil(lambda: "Together, with learned weights of words" in shown_words(card))
        said = shown_words(card)
        assert "+1.2" in said
        assert "Together, the best hits read closely" in said
        assert "+3.1" in said
        assert ("They are used." in said) is used
        assert ("It is used" in said) is used
        title, _, tone = words.outcome(run)
        assert (title, tone) == (
            ("Search reads its best hits closely now", "success") if used else ("Not used, nothing was changed", "info")
        )
        assert bool(words.advice(run)) is not used


def test_a_refused_encoders_figure_is_not_that_of_what_is_in_use(qtbot: QtBot, theme: Theme) -> None:
    now, history = Now(lambda run: None, lambda run: None), RunHistory()
    for widget in (now, history):
        qtbot.addWidget(widget)
    refused = gain(runs([beside(True)])[0].gate.delta)  # type: ignore[union-attr]

    def said(row: dict[str, Any]) -> tuple[str, str]:
        (run,) = runs([row])
        now.show_state(run, None, known=True, free=True)
        history.show_runs([run])
        return now.text.text(), history.lines[0].accessibleName()

    both, unread = beside(True), beside(True) | {"read": None}
    for text in said(both):
        assert "+3.1 points by close reading, +1.2 points by the weight of words" in text
        assert f"{refused} points" not in text
    for text in said(unread):
        assert "+1.2 points by the weight of words" in text
        assert "close reading" not in text
        assert f"{refused} points" not in text
    accepted = both | {"gate": fake_adapt.gate("accepted")}
    delta = gain(fake_adapt.gate("accepted")["delta"])
    assert f"{delta} points in the test." in said(accepted)[0]
    assert said(accepted)[1].endswith(f"{delta} points")
    assert "points" in said(beside(False))[1]  # what was refused is told with what it would have gained
