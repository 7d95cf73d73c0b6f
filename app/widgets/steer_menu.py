"""The menu of a concept: how much it counts, whether it must be there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from app.i18n import tr
from app.widgets.steer_state import STEP_WORDS, Steering

Choose = Callable[[Steering], None]


def add_concept(menu: QMenu, steering: Steering, concept: int, label: str, choose: Choose) -> None:
    """Lines that steer by one concept; `choose` gets what the person wants."""
    group = QActionGroup(menu)
    for factor, words in STEP_WORDS.items():
        action = _checkable(menu, tr(words), steering.factor(concept) == factor)
        group.addAction(action)
        action.triggered.connect(
            lambda _on=False, factor=factor: choose(steering.counting(concept, label, factor))
        )  # fmt: skip
    menu.addSeparator()
    action = _checkable(menu, tr("Must be in every hit"), concept in steering.required)
    action.triggered.connect(lambda on=False: choose(steering.requiring(concept, label, on)))


def add_because(menu: QMenu, steering: Steering, name: str, concepts: dict[int, str], choose: Choose) -> None:
    """Lines that say because of which of its `concepts` more of the passage is to be found."""
    assert steering.like is not None
    passage = steering.like
    everything = _checkable(menu, tr("All that it is about"), not steering.because)
    everything.triggered.connect(lambda _on=False: choose(steering.more_like(passage, name, {})))
    kept = {i: steering.labels.get(i, "") for i in steering.because}
    for concept, label in (concepts | {i: label for i, label in kept.items() if i not in concepts}).items():
        action = _checkable(menu, menu_text(label), concept in kept)
        action.triggered.connect(
            lambda on=False, concept=concept, label=label: choose(
                steering.more_like(passage, name, _with(kept, concept, label, on))
            )
        )
    menu.addSeparator()
    menu.addAction(tr("Search by the words again"), lambda: choose(steering.freely()))


def _with(kept: dict[int, str], concept: int, label: str, on: bool) -> dict[int, str]:
    return kept | {concept: label} if on else {i: name for i, name in kept.items() if i != concept}


def _checkable(menu: QMenu, text: str, on: bool) -> QAction:
    action = menu.addAction(text)
    action.setCheckable(True)
    action.setChecked(on)
    return action


def menu_text(text: str) -> str:
    """A name as a menu or a button shows it."""
    return text.replace("&", "&&")
