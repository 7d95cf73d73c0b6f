"""One model of the list: what it is, how it stands, what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from app.i18n import tr
from app.models.model_entries import ENCODER, LLM, RERANKER, TOO_LARGE, ModelRow, facts, room, speed_text
from app.tasks.remaining import size_text
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Card, row
from app.widgets.empty_state import IconLabel
from app.widgets.labels import Badge, ElidedLabel, Label

_ICONS = {ENCODER: "search", RERANKER: "eye", LLM: "ask"}
_ACTIVE = {ENCODER: "New libraries", RERANKER: "Tried when adapting", LLM: "In use"}
_USE = {ENCODER: "Use for new libraries", RERANKER: "Try when adapting", LLM: "Use for answers"}


@dataclass(frozen=True, slots=True)
class Deeds:
    """What the buttons of a model do, each with the model."""

    add: Callable[[ModelRow], object]
    use: Callable[[ModelRow], object]
    use_here: Callable[[ModelRow], object]
    remove: Callable[[ModelRow], object]
    renew: Callable[[ModelRow], object]
    measure: Callable[[ModelRow], object]


def model_card(model: ModelRow, library_encoder: str, deeds: Deeds, *, enabled: bool, memory: int = 0) -> QWidget:
    """`library_encoder` is what the open library's index was made with; without `enabled` the buttons wait. `memory` is
    what this computer has, in bytes."""
    here = model.kind == ENCODER and model.id == library_encoder
    card = Card(padding=12, spacing=4)
    head = row(
        IconLabel(_ICONS.get(model.kind, "search"), "muted", 18), ElidedLabel(model.id, "strong"),
        *_badges(model, here, memory), *_at_the_end(model, here, deeds, enabled), spacing=8,
    )  # fmt: skip
    head.setStretch(1, 1)
    card.body.addLayout(head)
    if model.about:
        card.body.addWidget(Label(tr(model.about), wrap=True))
    card.body.addWidget(Label(facts(model), "small", wrap=True))
    if speed_text(model):
        card.body.addWidget(Label(speed_text(model), "small", wrap=True))
    choices = _choices(model, here, deeds, enabled)
    if choices:
        card.body.addLayout(row(*choices, None, spacing=16))
    return card


def _badges(model: ModelRow, here: bool, memory: int) -> list[QWidget]:
    made = [Badge(tr("This library"), "success")] if here else []
    if model.active:
        made.append(Badge(tr(_ACTIVE.get(model.kind, "In use")), "accent"))
    if model.damaged:
        made.append(Badge(tr("Damaged"), "danger"))
    elif model.partial:
        made.append(Badge(tr("Fetched in part"), "warning"))
    elif model.outdated:
        made.append(Badge(tr("Made by an older version"), "warning"))
    taken = room(model.memory, memory)
    if taken:
        words = tr("Too large for this computer") if taken == TOO_LARGE else tr("Needs most of the memory")
        made.append(Badge(words, "danger" if taken == TOO_LARGE else "warning"))
        made[-1].setToolTip(tr("This computer has {size} of memory.", size=size_text(memory)))
    return list(made)


def _at_the_end(model: ModelRow, here: bool, deeds: Deeds, enabled: bool) -> list[QWidget]:
    made: list[QWidget] = []
    if not model.installed:
        words = tr("Add again") if model.damaged else tr("Go on") if model.partial else tr("Add")
        add = Button(words, "secondary", "plus", lambda: deeds.add(model))
        add.setAccessibleName(tr("Add {name}", name=model.id))
        made.append(add)
    if (model.installed and not model.active and not here) or model.damaged or model.partial:
        made.append(IconButton("trash", tr("Remove {name}", name=model.id), lambda: deeds.remove(model)))
    for button in made:
        button.setEnabled(enabled)
    return made


def _choices(model: ModelRow, here: bool, deeds: Deeds, enabled: bool) -> list[QWidget]:
    if not model.installed:
        return []
    made = []
    if model.outdated:
        made.append(Button(tr("Renew"), "link", "retry", lambda: deeds.renew(model)))
        made[-1].setAccessibleName(tr("Renew {name}", name=model.id))
        made[-1].setToolTip(tr("It works, and is faster once it is made ready again. Nothing is fetched."))
        made[-1].setEnabled(enabled)
    if model.kind == ENCODER and not here:
        made.append(Button(tr("Use for this library…"), "link", "", lambda: deeds.use_here(model)))
        made[-1].setAccessibleName(tr("Use {name} for this library", name=model.id))
    if model.kind == LLM:
        words = tr("Measure again") if model.write_speed else tr("Measure its speed")
        made.append(Button(words, "link", "", lambda: deeds.measure(model)))
        made[-1].setAccessibleName(f"{words}: {model.id}")
        made[-1].setEnabled(enabled)
    if not model.active:
        words = tr(_USE.get(model.kind, "Use"))
        made.append(Button(words, "link", "", lambda: deeds.use(model)))
        made[-1].setAccessibleName(f"{words}: {model.id}")
        made[-1].setEnabled(enabled)
    return list(made)
