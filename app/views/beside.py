"""The pages, and the document that can be open beside them."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from app.context import Context, Place

LEAST = 0.3  # of the width that the document and the pages get when it is opened
NARROW = 880  # below this width the document takes the place of the pages
READABLE = 300  # pixels that a document needs beside them in any case


class Beside(QSplitter):
    """`stack` holds the pages; the viewer is made on first use and shares the width with them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.stack = QStackedWidget()
        self.viewer: QWidget | None = None
        self._context: Context | None = None
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.addWidget(self.stack)
        self.setStretchFactor(0, 1)

    @property
    def is_open(self) -> bool:
        return self.viewer is not None and not self.viewer.isHidden()

    @property
    def covers(self) -> bool:
        """Whether the document stands in place of the pages, for want of room."""
        return self.stack.isHidden()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = max(NARROW, self.stack.minimumSizeHint().width() + READABLE)
        self.stack.setVisible(not (self.is_open and self.width() < room))

    @property
    def has_focus(self) -> bool:
        focus = self.window().focusWidget()
        return self.is_open and focus is not None and self.viewer is not None and self.viewer.isAncestorOf(focus)

    def open(self, context: Context, place: Place) -> None:
        if self.viewer is None:
            self.viewer = self._make(context)
        if not self.is_open:
            self.viewer.show()
            self.setSizes(self._shares(context.settings.get("viewer_sizes")))
        self._fit()
        self.viewer.open(place)  # type: ignore[attr-defined]

    def close_document(self) -> None:
        if self.viewer is None or not self.is_open or self._context is None:
            return
        if not self.covers:
            self._context.settings.remember("viewer_sizes", self.sizes())
        self.viewer.hide()
        self._fit()
        current = self.stack.currentWidget()
        if current is not None:
            current.setFocus()

    def forget(self) -> None:
        """The library is left: the viewer goes with it."""
        self.close_document()
        if self.viewer is not None:
            self.viewer.deleteLater()
        self.viewer = self._context = None

    def _shares(self, kept: list[int]) -> list[int]:
        """The widths chosen last time, if the document could be read in them; else one half each."""
        share = kept[1] / sum(kept) if len(kept) == 2 and sum(kept) else 0.5
        wanted = round(self.width() * (share if LEAST < share < 1 - LEAST else 0.5))
        return [self.width() - wanted, wanted]

    def _make(self, context: Context) -> QWidget:
        from app.views.viewer import Viewer  # on first use, so that the window is up quickly

        viewer = Viewer(context)
        viewer.closed.connect(self.close_document)
        self._context = context
        viewer.hide()
        self.addWidget(viewer)
        return viewer
