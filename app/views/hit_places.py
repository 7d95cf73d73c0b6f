"""What can be done with a hit, and the other places where it stands: copies and versions, each to be opened."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.context import Context, Place
from app.i18n import tr
from app.views.hit_said import HitSaid
from app.views.steer_search import Steer
from app.views.viewer_outside import open_outside, show_in_folder
from app.widgets.hit_filters import shorten
from app.widgets.hit_model import location
from app.widgets.page_offsets import one_line
from core.base.errors import NotFound
from core.base.files import path_shown, text_path
from core.base.types import Copy, Hit, Passage, Query, Span

_LISTED = 15
_LONGEST = 56


class HitPlaces(QObject):
    """`opened(Hit)`, `why(Hit)`, `why_not(Hit)`: asked for in the menu of a hit. Copies are opened from here."""

    opened = Signal(object)
    why = Signal(object)
    why_not = Signal(object)

    def __init__(self, context: Context, page: QWidget, said: HitSaid) -> None:
        super().__init__(page)
        self._context = context
        self._page = page
        self._said = said
        self.steer: Steer | None = None  # where search can be steered by what a hit is about
        self.query = Query("")  # what the hits belong to

    def menu(self, hit: Hit, at: QPoint) -> None:
        menu = self._menu()
        path, passage_id = hit.passage.path, hit.passage.id
        menu.addAction(tr("Read it here"), lambda: self.opened.emit(hit))
        menu.addAction(tr("Why this match?"), lambda: self.why.emit(hit))
        if hit.rank > 1:
            menu.addAction(tr("Why not higher up?"), lambda: self.why_not.emit(hit))
        if self.steer is not None:
            self.steer.add_like(menu, self.query, hit.passage)
        menu.addAction(tr("Open file"), lambda: self._outside(path, passage_id))
        menu.addAction(tr("Show in folder"), lambda: show_in_folder(text_path(path)))
        self._said.add_to(menu, passage_id)
        if hit.copies:
            menu.addSeparator()
            self._add_places(menu, hit)
        menu.popup(at)

    def copies(self, hit: Hit, at: QPoint) -> None:
        """All places of a hit: the newest, which is shown, first."""
        menu = self._menu()
        passage = hit.passage
        menu.addAction(
            tr("{name}, shown here", name=_label(passage.path, passage.external_id)), lambda: self.opened.emit(hit)
        ).setToolTip(path_shown(passage.path))
        self._add_places(menu, hit)
        menu.popup(at)

    def open_copy(self, hit: Hit, copy: Copy) -> None:
        """A copy is open at the same place; a version at the passage of its own that says the same."""
        passage: Passage = hit.passage
        if copy.passage_id is not None:
            try:
                passage = self._context.library.passage(copy.passage_id)
            except NotFound as error:
                self._context.notifications.error(error)
                return
        self._said.opened(passage.id)
        spans = (Span(passage.start, passage.end),)
        if copy.exact:
            spans = tuple(Span(passage.start + s.start, passage.start + s.end) for s in hit.spans) or spans
        self._context.navigate("document", Place(copy.document_id, passage.first_page, spans))

    def _menu(self) -> QMenu:
        menu = QMenu(self._page)
        menu.setToolTipsVisible(True)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _add_places(self, menu: QMenu, hit: Hit) -> None:
        for copy in hit.copies[:_LISTED]:
            kind = tr("copy") if copy.exact else tr("version of {day}", day=copy.modified[:10])
            action = menu.addAction(f"{_label(copy.path, copy.external_id)}\t{kind}")
            action.setToolTip(path_shown(copy.path))
            action.triggered.connect(lambda _=False, copy=copy: self.open_copy(hit, copy))
        more = len(hit.copies) - _LISTED
        if more > 0:
            menu.addAction(tr("and {n} more", n=more)).setEnabled(False)

    def _outside(self, path: str, passage_id: int) -> None:
        if open_outside(text_path(path)):
            self._said.opened(passage_id)
        else:
            name = PurePath(path_shown(path)).name
            self._context.notifications.tell(tr("No program of this system opens {name}.", name=name), tone="warning")


def _label(path: str, external_id: str) -> str:
    """File and folder: copies often have the same name."""
    folder = PurePath(path_shown(path)).parent.name
    whole = one_line(location(path, external_id))
    return shorten(f"{folder}/{whole}" if folder else whole, _LONGEST).replace("&", "&&")
