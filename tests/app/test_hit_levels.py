"""The switch of the search page."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.widgets.hit_levels import LevelSwitch
from core.base.types import Level


@pytest.fixture
def switch(qapp):
    made = LevelSwitch("passage")
    made.show()
    yield made
    made.close()
    made.deleteLater()


def test_one_is_on_and_a_change_is_told_once(switch):
    told = []
    switch.changed.connect(lambda: told.append(switch.level()))
    switch.choose(Level.DOCUMENT)
    switch.choose(Level.DOCUMENT)
    assert told == [Level.DOCUMENT]
    assert [chip.isChecked() for chip in switch._chips.values()] == [False, True, False, False]


def test_where_four_do_not_fit_one_has_them_in_its_menu(switch):
    wide = switch.sizeHint().width()
    switch.fit(wide - 1)
    assert switch.sizeHint().width() < wide / 2
    assert switch.one.isVisible()
    menu = switch.one.menu()
    menu.aboutToShow.emit()
    assert [action.isChecked() for action in menu.actions()] == [True, False, False, False]
    menu.actions()[3].trigger()
    assert switch.level() is Level.SENTENCE
    assert switch.one.text() == "Sentences ▾"
    switch.fit(wide)
    assert switch.sizeHint().width() == wide
    assert not switch.one.isVisible()


def test_arrow_keys_go_along(switch):
    told = []
    switch.changed.connect(lambda: told.append(switch.level()))
    chips = list(switch._chips.values())
    chips[0].setFocus()
    QTest.keyClick(chips[0], Qt.Key.Key_Right)
    QTest.keyClick(chips[1], Qt.Key.Key_Space)
    assert switch.level() is Level.DOCUMENT
    assert told == [Level.DOCUMENT]
    assert all(chip.accessibleName() for chip in chips)
