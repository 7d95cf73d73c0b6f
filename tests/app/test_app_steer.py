"""Steering on the Search page: chips of concepts, what the hits are about, more of one, lenses, undo."""

from __future__ import annotations

from collections.abc import Iterator

import pages_fixtures
import pytest
import test_app_access
from hypothesis import given
from hypothesis import strategies as st
from pages_fixtures import Desk
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.views.search_page import SearchPage
from app.views.steer_lenses import LensSheet
from app.widgets.steer_state import LESS, MORE, MUCH, OFF, STEPS, USUAL, ByConcept, Steering
from core.base.types import Lens, Query

desk, template = pages_fixtures.desk, pages_fixtures.template
DUES, MONEY, ICE = 7, 9, 11


@pytest.fixture
def page(desk: Desk, qtbot: QtBot) -> Iterator[SearchPage]:
    made = SearchPage(desk.context)
    qtbot.addWidget(made)
    made.resize(1000, 700)
    made.show()
    yield made
    made.close_page()


def search(page: SearchPage, qtbot: QtBot, text: str) -> None:
    page.box.setText(text)
    qtbot.waitUntil(lambda: page._query.text == text and settled(page), timeout=15_000)


def settled(page: SearchPage) -> bool:
    return not (page._latest.busy or page.steer.busy)


def titles(page: SearchPage) -> list[str]:
    return [hit.passage.title for hit in page.results.list.hits]


def open_menu(menu: QMenu) -> dict[str, QAction]:
    menu.aboutToShow.emit()
    return {action.text().split("\t")[0]: action for action in menu.actions() if action.text()}


def test_the_concepts_of_the_question_are_shown_and_counted_more(page: SearchPage, qtbot: QtBot) -> None:
    assert not page.steer.bar.isVisible()
    search(page, qtbot, "harbour closes in winter")
    bar = page.steer.bar
    assert [chip.concept for chip in bar.chips] == [DUES, ICE]
    assert not bar.clear_button.isVisible()
    before = titles(page)
    menu = open_menu(bar.chips[1].menu())
    assert menu["Count it as usual"].isChecked()
    menu["Count it much more"].trigger()
    qtbot.waitUntil(lambda: settled(page) and page._query.boosts == {ICE: MUCH}, timeout=5000)
    assert bar.chips[1].text() == "↑↑ ice ▾"
    assert bar.chips[1].isChecked()
    assert bar.chips[1].accessibleName() == "Concept: ice, counts much more"
    assert "Winter" in page.results.list.hits[0].passage.heading_path[0]
    assert set(titles(page)) == set(before)


def test_a_concept_is_searched_for_among_its_passages_alone(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    page.show_target(ByConcept("winter", ICE, "ice"))
    qtbot.waitUntil(lambda: settled(page) and page._query.text == "winter", timeout=5000)
    assert page._query.required == (ICE,)
    page.show_target(ByConcept("closes", ICE, "ice"))
    qtbot.waitUntil(lambda: settled(page) and page._query.text == "closes", timeout=5000)
    assert page._query.required == (ICE,)
    assert page.steer.bar.undo_button.isVisible()


def test_keys_count_more_and_less_and_undo_goes_back_step_by_step(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    chip = page.steer.bar.chips[0]
    for _ in range(3):
        QTest.keyClicks(chip, "-")
    qtbot.waitUntil(lambda: settled(page) and page._query.boosts == {DUES: OFF}, timeout=5000)
    assert page.steer.bar.chips[0].font().strikeOut()
    page.steer.bar.undo_button.click()
    qtbot.waitUntil(lambda: settled(page) and page._query.boosts == {DUES: LESS}, timeout=5000)
    page.results.list.setFocus()
    QTest.keyClick(page.results.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: settled(page) and page._query.boosts == {}, timeout=5000)
    assert not page.steer.bar.undo_button.isVisible()
    assert not page.steer.undo()


def test_what_the_hits_are_about_narrows_them(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour")
    offered = open_menu(page.steer.bar.topics.menu())
    assert "ice" in offered
    offered["ice"].trigger()
    qtbot.waitUntil(lambda: settled(page) and page._query.required == (ICE,), timeout=5000)
    assert len(page.results.list.hits) == 1
    assert page.steer.bar.chips[-1].text() == "✓ ice ▾"
    page.box.setText("letter lamp")
    qtbot.waitUntil(lambda: page.results.shown is page.results.no_hits, timeout=5000)
    assert "must be there" in page.results.no_hits.text.text()
    page.results._clear.click()
    qtbot.waitUntil(lambda: bool(page.results.list.hits), timeout=5000)
    assert not page.steer.state


def test_more_like_a_hit_because_of_one_of_its_concepts(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    hit = page.results.list.hits[0]
    menu = QMenu(page)
    page.steer.add_like(menu, page._query, hit.passage)
    inner = menu.actions()[0].menu()
    inner.aboutToShow.emit()
    qtbot.waitUntil(lambda: any("Because of" in a.text() for a in inner.actions()), timeout=5000)
    assert not any("Looking" in a.text() for a in inner.actions())
    next(a for a in inner.actions() if "money" in a.text()).trigger()
    qtbot.waitUntil(lambda: settled(page) and page._query.like == hit.passage.id, timeout=5000)
    assert page._query.because == (MONEY,)
    like = page.steer.bar.like
    assert like.isVisible()
    assert "because of «money and payment»" in like.accessibleName()
    offered = open_menu(like.menu())
    assert offered["money and payment"].isChecked()
    offered["harbour · dues · berth"].trigger()
    qtbot.waitUntil(lambda: settled(page) and page._query.because == (MONEY, DUES), timeout=5000)
    assert page.has_open
    assert page.escape()
    qtbot.waitUntil(lambda: settled(page) and page._query.like is None, timeout=5000)
    assert not like.isVisible()


def test_typing_something_else_searches_by_words_again(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    page.steer.choose(Steering().more_like(1, "it", {}))
    qtbot.waitUntil(lambda: settled(page) and page._query.like == 1, timeout=5000)
    QTest.keyClicks(page.box, " x")
    qtbot.waitUntil(lambda: settled(page) and page._query.text == "harbour dues x", timeout=5000)
    assert page._query.like is None


def test_a_lens_is_saved_looked_through_and_deleted_with_a_way_back(page: SearchPage, desk: Desk, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    library, lenses = desk.context.library, page.steer.lenses
    assert not open_menu(page.steer.bar.lenses.menu())["Save what counts now as a lens…"].isEnabled()
    page.steer.choose(Steering().counting(MONEY, "money and payment", MORE).requiring(DUES, "dues", True))
    qtbot.waitUntil(lambda: settled(page), timeout=5000)
    open_menu(page.steer.bar.lenses.menu())["Save what counts now as a lens…"].trigger()
    sheet = page.findChild(LensSheet)
    assert not sheet.save_button.isEnabled()
    QTest.keyClicks(sheet.name, "For the treasurer")
    QTest.keyClick(sheet.name, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(library.lenses("sae-test")), timeout=5000)
    qtbot.waitUntil(lambda: page.steer.bar.lenses.text() == "Lens: For the treasurer ▾", timeout=5000)
    page.steer.choose(Steering())
    assert page.steer.bar.lenses.text() == "Lens ▾"
    open_menu(page.steer.bar.lenses.menu())["For the treasurer"].trigger()
    qtbot.waitUntil(lambda: page._query.boosts == {MONEY: MORE} and page._query.required == (DUES,), timeout=5000)
    lens = library.lenses("sae-test")[0]
    assert "money and payment: counts more" in lenses.told(lens)
    lenses.delete(lens)
    qtbot.waitUntil(lambda: not library.lenses("sae-test") and desk.messages[-1].action == "Undo", timeout=5000)
    desk.messages[-1].on_action()
    qtbot.waitUntil(lambda: [one.name for one in library.lenses("sae-test")] == ["For the treasurer"], timeout=5000)


def test_every_control_can_be_reached_and_says_what_it_is(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    page.steer.choose(Steering().counting(MONEY, "money & payment", OFF).more_like(1, "it", {}).only_by(("dense",)))
    page._why_current()
    qtbot.waitUntil(lambda: settled(page) and page.why.panel.explanation is not None, timeout=5000)
    qtbot.waitUntil(lambda: any(r.isVisibleTo(page) for r in page.why.panel.details.rows), timeout=5000)
    test_app_access.check(page)
    names = {test_app_access.name(widget) for widget in test_app_access.controls(page)}
    assert {"Steer by «harbour · dues · berth»", "Concept: money & payment, left out of account", "Undo"} <= names
    page.missing.ask(1)
    qtbot.waitUntil(lambda: page.why.not_panel.shown is not None, timeout=5000)
    qtbot.waitUntil(lambda: all(b.isVisibleTo(page) for b in page.why.not_panel.lifts), timeout=5000)
    test_app_access.check(page)


def test_a_concept_of_a_passage_is_steered_by_from_the_reason(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour dues")
    page._why_current()
    qtbot.waitUntil(lambda: page.why.panel.explanation is not None, timeout=5000)
    page.steer.concept_menu(page.why.panel.explanation, MONEY, QPoint())
    menu = page.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly)[-1]
    actions = {action.text(): action for action in menu.actions()}
    actions["More like this passage, because of it"].trigger()
    menu.hide()
    qtbot.waitUntil(lambda: settled(page) and page._query.because == (MONEY,), timeout=5000)
    assert dict(page.steer.bar.like.concepts)[DUES] == "harbour · dues · berth"


def test_without_concepts_nothing_is_offered(page: SearchPage, qtbot: QtBot) -> None:
    search(page, qtbot, "harbour")
    page.steer.bar.show_asked(())
    page.steer.bar.show_topics(())
    assert not page.steer.bar.isVisible()
    page.box.clear()
    qtbot.waitUntil(lambda: page.results.shown is page.results.start, timeout=5000)
    assert not page.steer.bar.isVisible()


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-1, 1])), max_size=20))
def test_steps_stay_on_the_ladder_and_the_usual_is_not_kept(steps: list[tuple[int, int]]) -> None:
    steering = Steering()
    for concept, by in steps:
        steering = steering.stepped(concept, str(concept), by)
    assert all(factor in STEPS and factor != USUAL for factor in steering.boosts.values())
    bare = steering
    for concept in steering.concepts:
        bare = bare.without(concept)
    assert not bare
    assert bare.on(Query("x")) == Query("x")


def test_a_lens_takes_the_place_of_what_was_said_of_concepts() -> None:
    lens = Lens(1, "x", {1: 2.0}, (2,))
    looked = Steering().counting(5, "five", 0.5).more_like(3, "it", {}).through(lens, {1: "one", 2: "two"})
    assert looked.fits(lens)
    assert looked.like == 3
    assert looked.labels[1] == "one"
