"""Parts of the Concepts page that need no window: names on the map, months, figures in words."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QRectF, Qt
from pytestqt.qtbot import QtBot

from app.models.concept_entries import Clearness, by_clearness, clearness
from app.theme import Theme
from app.views.concept_fidelity import facts, flat
from app.views.concept_words import percent, sureness, times
from app.widgets.concept_example import window
from app.widgets.concept_growth import columns, filled
from app.widgets.concept_labels import Wanted, place
from app.widgets.concept_map import ConceptMap
from core.base.types import Concept, ConceptPoint, Difference, Span

AREA = QRectF(0, 0, 640, 400)


def scattered(seed: int, number: int = 300) -> list[Wanted]:
    dice = random.Random(seed)
    return [
        Wanted(n, dice.uniform(0, 640), dice.uniform(0, 400), dice.uniform(3, 12), 90.0, 16.0) for n in range(number)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_names_on_the_map_cover_nothing(seed: int) -> None:
    wanted = scattered(seed)
    found = place(wanted, AREA, [299], 12)
    front = {299, *range(12)}
    assert 10 < len(found) < len(wanted)
    boxes = list(found.items())
    for at, (key, box) in enumerate(boxes):
        assert AREA.contains(box)
        assert not any(box.intersects(other) for _, other in boxes[at + 1 :])
        if key not in front:
            dots = (QRectF(w.x - w.radius, w.y - w.radius, 2 * w.radius, 2 * w.radius) for w in wanted)
            assert not any(box.intersects(dot) for dot in dots)
    assert 299 in found or not AREA.adjusted(110, 20, -110, -20).contains(wanted[299].x, wanted[299].y)


def test_arrow_keys_go_to_the_neighbour_in_their_direction(qtbot: QtBot, theme: Theme) -> None:
    shown = ConceptMap()
    qtbot.addWidget(shown)
    shown.resize(600, 600)
    places = {1: (0.5, 0.5), 2: (0.9, 0.5), 3: (0.1, 0.52), 4: (0.5, 0.1), 5: (0.48, 0.9), 6: (0.6, 0.9)}
    shown.show_points([ConceptPoint(n, f"concept {n}", x, y, 10 - n, 0) for n, (x, y) in places.items()])
    shown.show_whole()
    went: list[int] = []
    shown.chosen.connect(went.append)
    keys = (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down)
    for key in keys:  # the first key chooses the most frequent; at the edge nothing happens
        qtbot.keyClick(shown, key)
    assert went == [1, 2, 1, 4, 1, 5]
    qtbot.keyClick(shown, Qt.Key.Key_Down)
    assert went == [1, 2, 1, 4, 1, 5]


def test_the_first_names_are_those_that_come_first() -> None:
    one, other = (Wanted(n, 100.0 + n, 100.0, 5.0, 500.0, 16.0) for n in (1, 2))
    assert set(place([one, other], AREA)) == {1}
    assert set(place([one, other], AREA, [2])) == {2}


def test_months_without_passages_are_there_and_many_are_put_together() -> None:
    assert filled([("2021-11", 2), ("2022-02", 1)]) == [("2021-11", 2), ("2021-12", 0), ("2022-01", 0), ("2022-02", 1)]
    assert filled([]) == []
    long = [("1990-01", 3), ("2026-12", 4)]
    shown = columns(long)
    assert len(shown) <= 60
    assert (shown[0][0], shown[-1][1], sum(n for _, _, n in shown)) == ("1990-01", "2026-12", 7)


def test_an_example_begins_near_its_mark() -> None:
    text = "word " * 100 + "the strong part" + " and more" * 100
    at = text.index("the strong")
    shown, marks = window(text, [Span(at, at + 15)])
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert shown[marks[0].start : marks[0].end] == "the strong part"
    assert window("short", [])[0] == "short"


def test_how_clear_a_concept_is() -> None:
    made = [Concept(1, "a", (), 1, (), 1.0, quality) for quality in (0.9, 0.5, 0.1, -1.0)]
    assert [clearness(c) for c in made] == [Clearness.CLEAR, Clearness.MIXED, Clearness.WEAK, Clearness.UNTESTED]
    named = Concept(2, "mine", (), 1, (), 1.0, 0.1, "person")
    assert clearness(named) is Clearness.MIXED  # what a person named is shown all the same
    assert by_clearness([*made, Concept(3, "b", (), 1, (), 1.0, 0.9, hidden=True)])[Clearness.CLEAR] == 1


def test_figures_in_words() -> None:
    assert (percent(0.0), percent(0.001), percent(0.714)) == ("0 %", "under 1 %", "71 %")
    assert (times(1.0), times(3.14), times(14.2)) == (
        "as often as everywhere",
        "3.1 times as often",
        "14 times as often",
    )
    assert [sureness(Difference(1, "", 0.1, 0.2, z)) for z in (-4.0, 2.5, 0.3)] == [
        "surely", "probably", "perhaps by chance",
    ]  # fmt: skip
    assert facts({}) == []
    assert [f.share for f in facts({"nmse": 0.4, "nmse_held_out": 0.25, "spearman": 0.5})] == [0.75, 0.5]
    assert flat({"a": {"b": 0.123456, "n": 1200}, "k": "x"}) == [("a.b", "0.1235"), ("a.n", "1\u202f200"), ("k", "x")]
