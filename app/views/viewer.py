"""The document viewer: the pages of a PDF or an image, or the stored text, open at a place with its sentence marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.context import Context, Place
from app.errors import Message, describe
from app.i18n import tr
from app.views.viewer_outside import open_outside, show_in_folder
from app.views.viewer_tools import FindBar, PageTools
from app.views.why_expected import Expected
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.buttons import IconButton
from app.widgets.card import row
from app.widgets.hit_model import name_of
from app.widgets.labels import ElidedLabel
from app.widgets.page_loader import DocumentLoader, FileState, StoredDocument
from app.widgets.page_offsets import one_line
from app.widgets.page_pdf import PdfView
from app.widgets.page_text import TextView, find
from core.base.files import path_shown, text_path
from core.base.types import Span

_FILE_WORDS = {
    FileState.CHANGED: ("The file has changed since it was read.", "Marks may be off. Read it again in the library."),
    FileState.GONE: ("The file is no longer there.", "This is the text as it was read."),
    FileState.UNREADABLE: ("The file cannot be opened.", "This is the text as it was read."),
}


def has_pages(media_type: str) -> bool:
    """Is the file shown as pictures of its pages? Drawings (SVG) are shown as their text."""
    return media_type == "application/pdf" or (media_type.startswith("image/") and "svg" not in media_type)


@dataclass(frozen=True, slots=True)
class MarkedRect:
    """Where a mark is drawn. On pages: the page's number and points from its top left corner. In a text: pixels of
    the text's viewport, `page` is None."""

    page: int | None
    rect: QRectF


class Viewer(QWidget):
    """`open(Place)` shows a document. `closed` is sent when the person closes it."""

    closed = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        self.setAccessibleName(tr("Document"))
        self.context = context
        self._place = Place(0)
        self._stored: StoredDocument | None = None
        self._found: Span | None = None
        self._where = ""
        self._loader = DocumentLoader(context.library.folder, self)
        self._loader.loaded.connect(self._loaded)
        self._loader.checked.connect(self._checked)
        self._loader.failed.connect(self._failed)
        self._build()
        self._connect()

    # what can be asked

    @property
    def place(self) -> Place:
        return self._place

    @property
    def stored(self) -> StoredDocument | None:
        """The document that is shown, once it is loaded."""
        return self._stored

    def shows_pages(self) -> bool:
        return self._stack.currentWidget() is self.pdf

    def marked_rects(self) -> list[MarkedRect]:
        """Every mark that is loaded."""
        if self.shows_pages():
            return [MarkedRect(page, rect) for page, rect in self.pdf.marked_rects()]
        in_text = self.text.marked_rects() if self._stack.currentWidget() is self.text else []
        return [MarkedRect(None, rect) for rect in in_text]

    # what can be done

    def open(self, place: Place) -> None:
        """Show a document at a place. The same document is not loaded again."""
        same = place.document_id == self._place.document_id and self._stored is not None
        self._place, self._found = place, None
        if same:
            self._show_place()
            return
        self._stored = None
        self.banner.hide()
        self._find.hide()
        self._stack.setCurrentWidget(self._blank)
        self._busy.start(tr("Opening…"))
        self._loader.load(place.document_id)

    def close_document(self) -> None:
        """Let go of the document and of what is in flight for it."""
        self._loader.stop()
        self.pdf.close_document()
        self.text.show_text("", (), ())
        self._stack.setCurrentWidget(self._blank)
        self._busy.stop()
        self._place, self._stored = Place(0), None

    def focus_search(self) -> None:
        self._find.open()

    # layout

    def _build(self) -> None:
        self._title = ElidedLabel("", "heading")
        self._path = ElidedLabel("", "small")
        self._close = IconButton("close", tr("Close the document"), self.closed.emit)
        self._find_button = IconButton("search", tr("Find in this document (Ctrl+F)"), self.focus_search)
        self._open = IconButton("open", tr("Open in its own program"), self._open_outside)
        self._folder = IconButton("folder", tr("Show in its folder"), self._show_folder)
        self._expected = IconButton("why", tr("Why is this not found?"), self._expect)
        self.tools = PageTools()
        self._find = FindBar()
        self._find.hide()
        self.banner = Banner()
        self._busy = Busy(delay_ms=300)
        self.pdf = PdfView(self.context.engine)
        self.text = TextView(tr("Text of the document"))
        self._blank = QWidget()
        self._stack = QStackedWidget()
        for part in (self._blank, self.pdf, self.text):
            self._stack.addWidget(part)
        names = QVBoxLayout()
        names.setSpacing(0)
        names.addWidget(self._title)
        names.addWidget(self._path)
        head = row(self._find_button, self._expected, self._open, self._folder, self._close, spacing=2)
        head.insertLayout(0, names, 1)
        head.setContentsMargins(14, 0, 8, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        for part in (self.tools, self._find, self.banner, self._busy):
            line = row(part)
            line.setContentsMargins(10, 0, 10, 0)
            column.addLayout(line)
        column.addWidget(self._stack, 1)
        self.tools.hide()

    def _connect(self) -> None:
        self.pdf.opened.connect(self.tools.show_pages)
        self.pdf.page_changed.connect(self.tools.show_page)
        self.pdf.failed.connect(self._no_pages)
        self.tools.page_wanted.connect(self.pdf.go_to)
        self.tools.zoom.connect(self.pdf.zoom)
        self.tools.fit_width.connect(self.pdf.fit_width)
        self.tools.text_wanted.connect(self._switch)
        self._find.wanted.connect(self._find_words)
        self._find.closed.connect(self._close_find)

    # keys: the window has some of these, too, so that the viewer claims them while it has the focus

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._action(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        action = self._action(event)
        if action is None:
            super().keyPressEvent(event)
        else:
            action()

    def _action(self, event: QKeyEvent) -> Callable[[], None] | None:
        """What a key does while the focus is in the viewer."""
        keys = QKeySequence.StandardKey
        if event.matches(keys.Find):
            return self.focus_search
        if event.matches(keys.ZoomIn) or event.matches(keys.ZoomOut):
            return partial(self.pdf.zoom, 1 if event.matches(keys.ZoomIn) else -1)
        if event.key() == Qt.Key.Key_0 and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            return self.pdf.fit_width
        if event.key() == Qt.Key.Key_Escape and self._find.isAncestorOf(self.focusWidget() or self):
            return self._close_find
        return None

    def hideEvent(self, event: QHideEvent) -> None:
        """Out of sight: let go of what it holds."""
        super().hideEvent(event)
        if not event.spontaneous():
            self.close_document()

    # the document arrives

    def _loaded(self, stored: StoredDocument) -> None:
        self._busy.stop()
        self._stored = stored
        document = stored.document
        self._title.set_whole(name_of(document))
        inside = f" › {document.external_id}" if document.external_id else ""
        self._where = one_line(document.path + inside)
        self.setAccessibleDescription(name_of(document))
        self._text_is_here = False
        self.tools.show_as_text(False)
        self._show_place()

    def _show_place(self) -> None:
        stored = self._stored
        if stored is None:
            return
        self._show_named_place(min((s.start for s in self._place.spans), default=None))
        if has_pages(stored.document.media_type) and not self._wants_text():
            first = min((s.start for s in self._place.spans), default=None)
            # a passage may begin on the page before the words that are to be seen
            page = (stored.page_of(first) if first is not None else None) or self._place.page or 1
            self.tools.show()
            self._stack.setCurrentWidget(self.pdf)
            self.pdf.open(stored.document.id, page, self._place.spans)
        else:
            self._show_text(self._place.spans)

    def _show_named_place(self, offset: int | None) -> None:
        """Sheet and cells, slide or line stand with the path, where the document names its places."""
        named = self._stored.named_place(offset) if self._stored is not None and offset is not None else ""
        self._path.set_whole(f"{self._where}  ·  {named}" if named else self._where)

    def _wants_text(self) -> bool:
        return self._stack.currentWidget() is self.text and self.tools.isVisibleTo(self)

    def _show_text(self, spans: Sequence[Span]) -> None:
        stored = self._stored
        if stored is None:
            return
        self.tools.setVisible(has_pages(stored.document.media_type))
        self._stack.setCurrentWidget(self.text)
        if self._text_is_here:
            self.text.mark(spans)
            return
        self._text_is_here = True
        self.text.show_text(stored.text, stored.blocks, spans)

    def _switch(self, as_text: bool) -> None:
        """Between pages and text, at the same place."""
        if as_text:
            self._show_text(self._place.spans)
        elif self._stored is not None:
            self._stack.setCurrentWidget(self.pdf)
            if not self.pdf.pages:
                self._show_place()

    def _checked(self, state: FileState) -> None:
        outside = state in (FileState.SAME, FileState.CHANGED)
        self._open.setEnabled(outside)
        self._folder.setEnabled(state is not FileState.GONE or bool(self._stored))
        if state in _FILE_WORDS:
            message, advice = _FILE_WORDS[state]
            self.banner.show_message(Message(tr(message), tr(advice), tone="warning"))
            if not outside and self.shows_pages() and not self.pdf.pages:
                self._show_text(self._place.spans)

    def _failed(self, error: Any) -> None:
        self._busy.stop()
        self.banner.show_error(error)

    def _no_pages(self, error: Any) -> None:
        """The page pictures cannot be had: the stored text is shown instead, and why."""
        if not self.shows_pages():
            return
        said = describe(error)
        if not self.banner.isVisibleTo(self):
            advice = tr("This is the text as it was read.")
            self.banner.show_message(Message(said.text, advice, said.details, "warning"))
        self._show_text(self._place.spans)
        self.tools.show_as_text(True)

    # find

    def _find_words(self, words: str, backwards: bool) -> None:
        if self._stored is None:
            return
        if self.shows_pages():
            self._find_on_pages(words, backwards)
        else:
            self._found = self.text.find_next(words, backwards=backwards)
            if self._found is not None:
                self._show_named_place(self._found.start)
        self._find.say("" if self._found else tr("Not found"))

    def _find_on_pages(self, words: str, backwards: bool) -> None:
        stored = self._stored
        assert stored is not None
        start = self._start_of_page()
        if self._found is not None:
            start = self._found.start if backwards else self._found.end
        self._found = find(stored.text, words, start, backwards=backwards)
        if self._found is not None:
            page = stored.page_of(self._found.start) or self.pdf.page
            self.pdf.open(stored.document.id, page, (self._found,))

    def _start_of_page(self) -> int:
        pages = self._stored.pages if self._stored else ()
        return next((p.start for p in pages if p.number == self.pdf.page), 0)

    def _close_find(self) -> None:
        self._find.hide()
        (self.pdf if self.shows_pages() else self.text).setFocus(Qt.FocusReason.OtherFocusReason)

    # outside

    def _expect(self) -> None:
        """Ask why a search does not find what is shown."""
        if self._stored is None:
            return
        spans = (self._found,) if self._found else self._place.spans
        offset = min((span.start for span in spans), default=self._start_of_page() if self.shows_pages() else 0)
        self.context.navigate("search", Expected(self._stored.document.id, offset))

    def _open_outside(self) -> None:
        if self._stored is not None and not open_outside(text_path(self._stored.document.path)):
            name = PurePath(path_shown(self._stored.document.path)).name
            self.context.notifications.tell(tr("No program of this system opens {name}.", name=name), tone="warning")

    def _show_folder(self) -> None:
        if self._stored is not None and not show_in_folder(text_path(self._stored.document.path)):
            self.context.notifications.tell(tr("The folder could not be shown."), tone="warning")
