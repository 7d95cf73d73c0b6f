"""What serves now: the model as it came, or what was learned, with the way back; and a run that can go on, or that
another window has at work."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.i18n import tr
from app.models.adapt_entries import Run
from app.views import adapt_words as words
from app.widgets.buttons import Button
from app.widgets.card import Card, row
from app.widgets.empty_state import IconLabel
from app.widgets.labels import Label


class Now(Card):
    """`back` and `go_on` are called with the run that they mean."""

    def __init__(self, back: Callable[[Run], object], go_on: Callable[[Run], object]) -> None:
        super().__init__(padding=14, spacing=6)
        self._run: Run | None = None
        self._stopped: Run | None = None
        self._sign = IconLabel("search", "muted", 20)
        self.text = Label("", wrap=True)
        self.back = Button(tr("Take it back…"), "secondary", "history", lambda: back(self._run) if self._run else None)
        self.go_on = Button(tr("Go on"), "primary", "play", lambda: go_on(self._stopped) if self._stopped else None)
        self.rest = Label("", wrap=True)
        line = row(self._sign, self.text, self.back, spacing=10)
        line.setStretch(1, 1)
        self.body.addLayout(line)
        self._second = QWidget()
        self._second_sign = IconLabel("pause", "muted", 20)
        second = row(self._second_sign, self.rest, self.go_on, spacing=10)
        second.setStretch(1, 1)
        self._second.setLayout(second)
        self.body.addWidget(self._second)

    def show_state(
        self, run: Run | None, stopped: Run | None, *, known: bool, free: bool, elsewhere: Run | None = None
    ) -> None:
        """`free` says that no other work goes on; `elsewhere` is a run at work in another window."""
        self._run, self._stopped = run, stopped
        if run is not None:
            learned = tr("In use now: what was learned on {when} ({recipe}).", when=words.when(run.started),
                         recipe=words.recipe_title(run.recipe))  # fmt: skip
            gained = words.gained(run)
            points = tr("{points} in the test.", points=gained) if gained else ""
            self.text.setText(f"{learned} {points}".strip())
        else:
            plain = tr("In use now: the model as it came. It has learned nothing from your documents yet.")
            self.text.setText(plain if known else tr("Looking at what was learned until now…"))
        self._sign.set_look("sparkle" if run is not None else "search", "success" if run is not None else "muted")
        self.back.setVisible(run is not None and bool(run.previous))
        self.back.setEnabled(free)
        self._show_rest(stopped, elsewhere)
        self.go_on.setEnabled(free)

    def _show_rest(self, stopped: Run | None, elsewhere: Run | None) -> None:
        self._second.setVisible(stopped is not None or elsewhere is not None)
        self.go_on.setVisible(stopped is not None)
        self._second_sign.set_look("pause" if stopped is not None else "play", "muted")
        if stopped is not None:
            self.rest.setText(tr("{recipe} was stopped before its test. What was learned is kept.",
                                 recipe=words.recipe_title(stopped.recipe)))  # fmt: skip
        elif elsewhere is not None:
            self.rest.setText(tr("{recipe} is at work in another window of Whymatch. Pause or stop it there.",
                                 recipe=words.recipe_title(elsewhere.recipe)))  # fmt: skip
