"""Saved lenses: the lines of their menu, the sheet that names a new one, deleting with a way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from app.context import Context
from app.i18n import tr
from app.views.dialogs import Sheet
from app.widgets.buttons import Button
from app.widgets.hit_filters import shorten
from app.widgets.labels import Label
from app.widgets.page_background import Background
from app.widgets.page_latest import Latest
from app.widgets.page_offsets import one_line
from app.widgets.steer_menu import menu_text
from app.widgets.steer_state import Steering
from core.base.errors import KnownError
from core.base.types import Lens
from core.worker.protocol import SEARCH

LONGEST = 80  # characters of a name
_LINE = 48  # characters of a line in the menu


class Lenses(QObject):
    """The lenses of the library's present concepts. `loaded`: they can be listed; `renewed`: there are other concepts
    than before, so that a number names another one."""

    loaded = Signal()
    renewed = Signal()

    def __init__(self, context: Context, page: QWidget) -> None:
        super().__init__(page)
        self._context = context
        self._page = page
        self.model = ""
        self.labels: dict[int, str] = {}
        self._background = Background(self)
        self._latest = Latest(context.engine, self)
        self._latest.result.connect(self._heard)

    @property
    def busy(self) -> bool:
        return self._latest.busy

    def load(self) -> None:
        """Ask anew which concepts there are."""
        self._latest.start(SEARCH, "concepts", {})

    def drop(self) -> None:
        self._latest.drop()

    def all(self) -> list[Lens]:
        return self._context.library.lenses(self.model) if self.model else []

    def looking_through(self, steering: Steering) -> Lens | None:
        """The lens that says just what is steered by."""
        return next((lens for lens in self.all() if steering.fits(lens)), None) if steering.concepts else None

    def fill(self, menu: QMenu, steering: Steering, choose: Callable[[Steering], None]) -> None:
        """The lines of the menu."""
        lenses, current = self.all(), self.looking_through(steering)
        for lens in lenses:
            action = menu.addAction(menu_text(shorten(one_line(lens.name), _LINE)))
            action.setToolTip(self.told(lens))
            action.setCheckable(True)
            action.setChecked(current is not None and lens.id == current.id)
            action.triggered.connect(lambda on=False, lens=lens: choose(self._looked(steering, lens, on)))
        if not lenses:
            menu.addAction(tr("None saved yet")).setEnabled(False)
        menu.addSeparator()
        save = menu.addAction(tr("Save what counts now as a lens…"), lambda: self.ask_name(steering))
        save.setEnabled(bool(steering.concepts) and bool(self.model) and current is None)
        if lenses:
            self._fill_deletions(menu.addMenu(tr("Delete a lens")), lenses)

    def _fill_deletions(self, menu: QMenu, lenses: list[Lens]) -> None:
        for lens in lenses:
            menu.addAction(menu_text(shorten(one_line(lens.name), _LINE)), lambda lens=lens: self.delete(lens))

    def told(self, lens: Lens) -> str:
        """What a lens does, a concept a line."""
        steering = Steering().through(lens, self.labels)
        names = [(one_line(self.labels.get(i, "")) or str(i), steering.said(i)) for i in steering.concepts]
        return "\n".join(f"{name}: {said}" for name, said in names)

    def _looked(self, steering: Steering, lens: Lens, on: bool) -> Steering:
        return steering.through(lens if on else Lens(0, "", {}), self.labels)

    def ask_name(self, steering: Steering) -> None:
        LensSheet(self._page, lambda name: self.save(Lens(0, name, steering.boosts, steering.required))).open()

    def save(self, lens: Lens) -> None:
        """Keep a lens; one of the same name is replaced."""
        library, model = self._context.library, self.model
        said = tr("Saved as the lens “{name}”.", name=one_line(lens.name))
        self._write(lambda: library.save_lens(model, lens), said)

    def delete(self, lens: Lens) -> None:
        library = self._context.library
        said = tr("Deleted the lens “{name}”.", name=one_line(lens.name))
        again = Lens(0, lens.name, lens.boosts, lens.required)
        self._write(lambda: library.delete_lens(lens.id), said, lambda: self.save(again))

    def _write(self, work: Callable[[], object], said: str, undo: Callable[[], None] | None = None) -> None:
        """Beside the event loop: a job may hold the database for a moment."""
        self._background.run(work, lambda outcome: self._written(outcome, said, undo))

    def _written(self, outcome: object, said: str, undo: Callable[[], None] | None) -> None:
        if isinstance(outcome, KnownError):
            self._context.notifications.error(outcome)
        elif isinstance(outcome, Exception):
            raise outcome
        else:
            action = tr("Undo") if undo is not None else ""
            self._context.notifications.tell(said, tone="success", action=action, on_action=undo)
            self.loaded.emit()

    def _heard(self, listed: dict[str, Any]) -> None:
        before, self.model = self.model, str(listed["model"])
        self.labels = {int(c["id"]): str(c["label"]) for c in listed["concepts"]}
        if before not in ("", self.model):
            self.renewed.emit()
        self.loaded.emit()


class LensSheet(Sheet):
    """Asks for a name; `save(name)` is called with it."""

    def __init__(self, parent: QWidget, save: Callable[[str], None]) -> None:
        super().__init__(tr("Save as a lens"), parent, close=tr("Cancel"))
        self._save = save
        self.name = QLineEdit()
        self.name.setMaxLength(LONGEST)
        self.name.setPlaceholderText(tr("A name, such as “For the treasurer”"))
        self.name.setAccessibleName(tr("Name of the lens"))
        kept = tr("It keeps what counts more or less and what must be there, for any search.")
        self.body.addWidget(Label(kept, "muted", wrap=True))
        self.body.addWidget(self.name)
        self.save_button = Button(tr("Save"), "primary", "", self._done)
        self.save_button.setEnabled(False)
        self.close_button.set_kind("secondary")
        self.close_button.setDefault(False)
        self.save_button.setDefault(True)
        self.buttons.addWidget(self.save_button)
        self.name.textChanged.connect(lambda text: self.save_button.setEnabled(bool(text.strip())))
        self.name.setFocus()

    def _done(self) -> None:
        self._save(self.name.text().strip())
        self.accept()
