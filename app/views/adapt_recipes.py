"""The choice of how to adapt: a card a recipe with what it takes, what will happen, all settings for those who want
them, and the button that begins."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QComboBox, QVBoxLayout, QWidget

from app.engine.engine import Engine
from app.i18n import tr
from app.models.adapt_entries import QUICK, RECIPES, Estimate
from app.views import adapt_words as words
from app.views.adapt_settings import RecipeSettings
from app.widgets.buttons import Button
from app.widgets.card import Card, row
from app.widgets.empty_state import IconLabel
from app.widgets.labels import Badge, Label
from app.widgets.line_button import LineButton

NARROW = 620  # below this width the cards stand below one another
LIMITS = (None, 10, 30, 60, 180, 480)  # minutes


class RecipeCard(LineButton):
    """A recipe as a large button that stays chosen."""

    def __init__(self, recipe: str) -> None:
        super().__init__(words.recipe_title(recipe), kind="recipe")
        told = words.RECIPES[recipe]
        self.recipe = recipe
        self.setCheckable(True)
        self.time = Label("", "strong", wrap=True)
        self.needs = Label("", "small", wrap=True)
        column = QVBoxLayout()
        column.setSpacing(4)
        badge = [Badge(tr("Recommended"))] if recipe == QUICK else []
        column.addLayout(row(Label(tr(told.title), "heading"), None, *badge))
        column.addWidget(Label(tr(told.text), "muted", wrap=True))
        column.addStretch(1)
        column.addSpacing(6)
        column.addWidget(self.time)
        column.addWidget(self.needs)
        self.fill(column, across=16, down=14)

    def show_estimate(self, made: Estimate | None, *, trying: bool) -> None:
        if made is None:
            self.time.setText(tr("Trying it on this computer…") if trying else tr("Time not known yet"))
        else:
            self.time.setText(tr(made.reason) if made.reason else words.estimate_time(made))
        self.needs.setText(words.estimate_needs(made) if made is not None and not made.reason else "")
        self.needs.setVisible(bool(self.needs.text()))
        title = words.recipe_title(self.recipe)
        self.setAccessibleName(f"{title}: {self.time.text()}")
        self.setAccessibleDescription(f"{tr(words.RECIPES[self.recipe].text)} {self.needs.text()}")
        self.fit()


class RecipeChoice(Card):
    """`begun(recipe, minutes, changes)` when the person begins; minutes are None without a limit, `changes` are
    settings of the recipe."""

    begun = Signal(str, object, object)

    def __init__(self, engine: Engine, parent: QWidget | None = None) -> None:
        super().__init__(parent, padding=18, spacing=12)
        self._estimates: dict[str, Estimate] = {}
        self._hindrance = ""
        self._told = ""  # the recipe whose steps are shown
        self.body.addWidget(Label(tr("Learn from your documents"), "heading"))
        self.cards = {recipe: RecipeCard(recipe) for recipe in RECIPES}
        self._group = QButtonGroup(self)
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._line.setSpacing(10)
        for card in self.cards.values():
            self._group.addButton(card)
            self._line.addWidget(card, 1)
        self.cards[QUICK].setChecked(True)
        self._group.buttonClicked.connect(lambda _: self._tell())
        self.body.addLayout(self._line)
        self._build_story()
        self._build_settings(engine)
        self._build_start()
        self._tell()

    def _build_story(self) -> None:
        self.steps = QVBoxLayout()
        self.steps.setSpacing(5)
        well = Card(role="well", padding=14, spacing=8)
        well.body.addWidget(Label(tr("What will happen"), "strong"))
        well.body.addLayout(self.steps)
        self.material = Label("", "small", wrap=True)
        well.body.addWidget(self.material)
        self.body.addWidget(well)
        self.body.addWidget(_with_sign("lock", Label(tr(words.SAFE), wrap=True)))

    def _build_settings(self, engine: Engine) -> None:
        self.settings = RecipeSettings(engine)
        self.settings.edited.connect(self._count_changes)
        self.settings.hide()
        self.open_settings = Button(tr("All settings"), "link", "chevron-right")
        self.open_settings.setCheckable(True)
        self.open_settings.toggled.connect(self._show_settings)
        self.body.addLayout(row(self.open_settings, None))
        self.body.addWidget(self.settings)

    def _show_settings(self, on: bool) -> None:
        self.open_settings.set_icon("chevron-down" if on else "chevron-right")
        if on:
            self.settings.show_recipe(self.recipe)
        self.settings.setVisible(on)

    def _count_changes(self) -> None:
        """What is set counts whether or not it is seen; so it is told on the button."""
        count = len(self.settings.changes)
        self.open_settings.setText(tr("All settings ({n} changed)", n=count) if count else tr("All settings"))

    def _build_start(self) -> None:
        self.limit = _Limit()
        self.limit.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.limit.setMinimumContentsLength(10)
        self.limit.setAccessibleName(tr("Longest time of a round"))
        for minutes in LIMITS:
            self.limit.addItem(_limit_words(minutes), minutes)
        self.hint = Label("", "small", wrap=True)
        self.start = Button(tr("Begin"), "primary", "sparkle", self._begin)
        self._foot = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._foot.setSpacing(10)
        self._foot.addLayout(row(Label(tr("Longest round")), self.limit, None, spacing=10))
        self._foot.addWidget(self.hint, 1)
        self._foot.addLayout(row(None, self.start))
        self.body.addLayout(self._foot)

    @property
    def recipe(self) -> str:
        return next(recipe for recipe, card in self.cards.items() if card.isChecked())

    def show_estimates(self, estimates: dict[str, Estimate], trying: str, hindrance: str) -> None:
        """`trying` is the recipe being tried now; `hindrance` says why nothing can be begun now."""
        self._estimates, self._hindrance = dict(estimates), hindrance
        for recipe, card in self.cards.items():
            card.show_estimate(estimates.get(recipe), trying=bool(trying))
        self._tell()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = NARROW * max(1.0, self.fontMetrics().height() / 19)
        across = self.width() >= narrow
        direction = QBoxLayout.Direction.LeftToRight if across else QBoxLayout.Direction.TopToBottom
        for line in (self._line, self._foot):
            line.setDirection(direction)

    def _tell(self) -> None:
        recipe = self.recipe
        if recipe != self._told:
            self._told = recipe
            self._tell_steps(recipe)
            self.settings.show_recipe(recipe, now=self.settings.isVisibleTo(self))
            self._count_changes()
        made = self._estimates.get(recipe)
        known = made is not None and not made.reason
        self.material.setText(words.estimate_material(made) if made is not None and known else "")
        self.material.setVisible(known)
        why_not = self._hindrance or (tr(made.reason) if made is not None else "")
        self.hint.setText(why_not)
        self.start.setEnabled(not why_not)
        self.start.setAccessibleName(tr("Begin: {recipe}", recipe=words.recipe_title(recipe)))

    def _tell_steps(self, recipe: str) -> None:
        while (item := self.steps.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for number, step in enumerate(words.RECIPES[recipe].steps, 1):
            self.steps.addWidget(_with_sign("", Label(tr(step), wrap=True), f"{number}."))

    def _begin(self) -> None:
        self.begun.emit(self.recipe, self.limit.currentData(), dict(self.settings.changes))


class _Limit(QComboBox):
    """The wheel scrolls the page, wherever the pointer is, and changes nothing."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def _limit_words(minutes: int | None) -> str:
    if minutes is None:
        return tr("as planned")
    if minutes < 60:
        return tr("{n} minutes", n=minutes)
    return tr("an hour") if minutes == 60 else tr("{n} hours", n=minutes // 60)


def _with_sign(icon_name: str, label: Label, text: str = "") -> QWidget:
    """A paragraph with an icon, or a number, beside its first line."""
    sign = IconLabel(icon_name, "muted", 18) if icon_name else Label(text, "muted")
    made = QWidget()
    line = row(sign, label)
    line.setStretch(1, 1)
    line.setAlignment(sign, Qt.AlignmentFlag.AlignTop)
    made.setLayout(line)
    return made
