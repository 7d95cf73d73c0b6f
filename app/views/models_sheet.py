"""The models: what is there and in use, what can be added, with progress and in plain words when something fails."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLineEdit, QProgressBar, QVBoxLayout, QWidget

from app.context import Context
from app.i18n import tr
from app.models.model_entries import ENCODER, LLM, RERANKER, ModelRow, Needs
from app.tasks.jobs import Task
from app.tasks.model_work import ModelWork
from app.tasks.pick import pick_folder
from app.tasks.remaining import remaining, size_text
from app.views import model_needs
from app.views.dialogs import Sheet, confirm
from app.views.model_card import Deeds, model_card
from app.views.model_endpoint import EndpointSection
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.buttons import Button
from app.widgets.card import Card, Rule, row
from app.widgets.labels import ElidedLabel, Label
from core.base.events import Progress

_ENCODERS = "An encoder turns text into meaning. A library is searched with the one that its index was made with."
_RERANKERS = (
    "A reranker reads question and passage together. Adapting tries it on your documents, and search uses it where it "
    "finds more."
)
_LLMS = "A language model writes the answers. Without one they are quoted from the documents."
_WIDTH = 680
_READY = "It is made ready for fast use on this computer. This may take a minute."
_BY_NAME = "Any other model of the hub by its name, or one that you have on this computer."


class ModelsSheet(Sheet):
    def __init__(self, context: Context, work: ModelWork, parent: QWidget) -> None:
        super().__init__(tr("Models"), parent)
        self.setMinimumWidth(_WIDTH)
        self.close_button.setDefault(False)  # Return in the field of a name looks at the model
        self._context, self._work = context, work
        self._shown: object = None
        self._deeds = Deeds(lambda m: self._look(m.spec), lambda m: work.use(m.id), self._use_here, self._remove,
                            self._renew, lambda m: self._measure(m.id))  # fmt: skip
        self._build_work()
        self.error = Banner()
        self.body.addWidget(self.error)
        body = self.scrolling()
        self._sections = {kind: self._section(body, *words) for kind, words in _SECTIONS.items()}
        body.addWidget(Rule())
        self._build_other(body)
        body.addSpacing(8)
        body.addWidget(Rule())
        self.endpoint = EndpointSection(work)
        body.addWidget(self.endpoint)
        body.addStretch(1)
        work.watched = True
        work.changed.connect(self.refresh)  # bound methods: they end with the sheet
        work.looked.connect(self._offer)
        work.progress.connect(self._progressed)
        work.failed.connect(self._failed)
        context.jobs.changed.connect(self.refresh)
        context.engine.changed.connect(self._library_changed)
        self.refresh()
        work.refresh()

    def done(self, result: int) -> None:
        self._work.watched = False
        super().done(result)

    def grow(self) -> None:
        """As wide, too, as its cards need: with large text they would be cut off at the side."""
        if self._scroller is not None:
            rest = self.width() - self._scroller.viewport().width()
            wanted = max(_WIDTH, self._scroller.widget().minimumSizeHint().width() + rest)
            self.setMinimumWidth(min(wanted, self.screen().availableGeometry().width()))
        super().grow()

    # layout

    def _build_work(self) -> None:
        """The addition at work; above what scrolls, so that it is always seen."""
        self.work_card = Card(padding=14, spacing=8)
        self.work_title = ElidedLabel("", "strong")
        self.stop = Button(tr("Stop"), "secondary", "stop", self._work.cancel)
        head = row(self.work_title, self.stop)
        head.setStretch(0, 1)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress"))
        self.amount = Label("", "small")
        for part in (self.bar, self.amount):
            self.work_card.body.addWidget(part)
        self.work_card.body.insertLayout(0, head)
        self.work_card.hide()
        self.body.addWidget(self.work_card)
        self.busy = Busy(tr("Looking…"))
        self.body.addWidget(self.busy)

    def _section(self, body: QVBoxLayout, title: str, words: str) -> QVBoxLayout:
        body.addWidget(Label(tr(title), "heading"))
        body.addWidget(Label(tr(words), "muted", wrap=True))
        column = QVBoxLayout()
        column.setSpacing(8)
        body.addLayout(column)
        body.addSpacing(8)
        return column

    def _build_other(self, body: QVBoxLayout) -> None:
        body.addWidget(Label(tr("Other models"), "heading"))
        body.addWidget(Label(tr(_BY_NAME), "muted", wrap=True))
        self.name = QLineEdit()
        self.name.setPlaceholderText(tr("owner/name"))
        self.name.setAccessibleName(tr("Name of a model of the hub"))
        self.name.returnPressed.connect(self._look_by_name)
        self.name.textChanged.connect(lambda _: self.refresh())
        self.look = Button(tr("Look at it"), "secondary", "search", self._look_by_name)
        line = row(self.name, self.look)
        line.setStretch(0, 1)
        body.addLayout(line)
        self.from_folder = Button(tr("From a folder…"), "secondary", "folder-add", self._pick_folder)
        self.from_file = Button(tr("From a file…"), "secondary", "file-add", self._pick_file)
        body.addLayout(row(self.from_folder, self.from_file, None))

    # what there is

    def refresh(self) -> None:
        work = self._work
        adding = bool(work.adding)
        self.work_card.setVisible(adding)
        if adding:
            self._headline()
        self.stop.setEnabled(not work.cancelling)
        self.busy.start(tr("Looking…")) if work.busy and not adding else self.busy.stop()
        free = not work.busy
        self.look.setEnabled(free and bool(self.name.text().strip()))
        for button in (self.from_folder, self.from_file):
            button.setEnabled(free)
        self._list(free)

    def _list(self, free: bool) -> None:
        work, running = self._work, self._context.jobs.running
        enabled = free or not work.adding  # a moment's question shall not make the list blink
        wanted = (work.models, work.library_encoder, enabled, running is not None and running.op)
        if wanted == self._shown or work.models is None:
            return
        self._shown = wanted
        held = self.focusWidget()
        for kind, column in self._sections.items():
            _clear(column)
            for model in sorted(work.models, key=self._order):
                if model.kind == kind:
                    card = model_card(model, work.library_encoder, self._deeds, enabled=enabled, memory=work.memory)
                    column.addWidget(card)
        self._order_keys(held.accessibleName() if held is not None else "")
        QTimer.singleShot(0, self, self.grow)  # when the new cards have their sizes

    def _order_keys(self, held: str) -> None:
        """Tab goes down the new cards, then to the other models; the button named `held` has the focus again."""
        columns = self._sections.values()
        cards = [column.itemAt(at).widget() for column in columns for at in range(column.count())]
        buttons = [button for card in cards for button in card.findChildren(QAbstractButton)]
        for before, after in pairwise([*buttons, self.name, self.look, self.from_folder, self.from_file]):
            QWidget.setTabOrder(before, after)
        same = next((button for button in buttons if held and button.accessibleName() == held), None)
        if same is not None:
            same.setFocus(Qt.FocusReason.OtherFocusReason)

    def _order(self, model: ModelRow) -> tuple[bool, bool, bool]:
        """What is in use first, then what is there; else as the child lists them."""
        return (model.id != self._work.library_encoder, not model.active, not model.installed)

    def _library_changed(self, _changed: object) -> None:
        self._work.refresh()

    def _headline(self) -> None:
        work = self._work
        fetching = work.fetches and (work.last_progress is None or work.last_progress.stage == "fetching")
        title = tr("Fetching {name}", name=work.adding) if fetching else tr("Preparing {name}", name=work.adding)
        self.work_title.set_whole(tr("Stopping") if work.cancelling else title)
        if work.last_progress is None:
            self.bar.setRange(0, 0)
            self.amount.setText(tr("Asking the hub") if work.fetches else tr(_READY))

    def _progressed(self, progress: Progress) -> None:
        self._headline()
        if progress.stage != "fetching":
            self.bar.setRange(0, 0)
            self.amount.setText(tr(_READY))
            return
        self.bar.setRange(0, 1000)  # bytes would not fit
        self.bar.setValue(1000 * progress.done // max(1, progress.total))
        words = tr("{n} of {m}", n=size_text(progress.done), m=size_text(progress.total))
        left = remaining(progress.seconds_left)
        self.amount.setText(f"{words} · {left}" if left else words)

    def _failed(self, error: Any) -> None:
        self.error.show_error(error)
        self.grow()

    # what is done

    def _look_by_name(self) -> None:
        if self.look.isEnabled():
            self._look(self.name.text().strip())

    def _look(self, spec: str) -> None:
        self.error.hide()
        self._work.look(spec)

    def _offer(self, needs: Needs) -> None:
        if self.isVisible():
            model_needs.ask(self, needs, lambda: self._work.add(needs))

    def _pick_folder(self) -> None:
        pick_folder(self, self._context.settings, self._look)

    def _pick_file(self) -> None:
        dialog = QFileDialog(self, tr("Choose a language model"))
        dialog.setNameFilter(tr("Language models (*.gguf)"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._look)
        dialog.open()

    def _remove(self, model: ModelRow) -> None:
        self.error.hide()
        words = tr("{size} are given back. This cannot be undone: to use it again it must be added again.",
                   size=size_text(model.size))  # fmt: skip
        if model.partial:
            words = tr("What was fetched of it is deleted.")
        confirm(self, tr("Remove {name}?", name=model.id), words, tr("Remove"),
                lambda: self._work.remove(model.spec if model.partial else model.id))  # fmt: skip

    def _renew(self, model: ModelRow) -> None:
        self.error.hide()
        self._work.renew(model.id)

    def _measure(self, id: str) -> None:
        self.error.hide()
        self._work.measure(id)

    def _use_here(self, model: ModelRow) -> None:
        ask_to_change(self, self._context, model, then=self.accept)


def ask_to_change(parent: QWidget, context: Context, model: ModelRow, *, then: Any) -> Sheet:
    """Offer to make the library's index anew with this encoder."""
    sheet = Sheet(tr("Use {name} for this library?", name=model.id), parent, close=tr("Cancel"))
    for words in (
        tr("Every passage is read by the new encoder, which may take a while. You can pause or stop it at any time."),
        tr("Until it is done, search uses the old index. That is kept, and you can go back to it."),
    ):
        sheet.body.addWidget(Label(words, wrap=True))
    yes = Button(tr("Make the index anew"), "primary", "retry", sheet.accept)
    sheet.close_button.set_kind("secondary")
    sheet.buttons.addWidget(yes)

    def begin() -> None:
        context.jobs.add(Task("reencode", {"model": model.id}))
        then()
        context.navigate("library", None)

    yes.clicked.connect(begin)
    sheet.open()
    return sheet


def _clear(column: QVBoxLayout) -> None:
    while (item := column.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


_SECTIONS = {
    ENCODER: ("For search", _ENCODERS),
    RERANKER: ("For close reading", _RERANKERS),
    LLM: ("For answers", _LLMS),
}
