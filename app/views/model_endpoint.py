"""Another program of the person's that writes the answers: named, looked at, switched on and off, in plain words."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QVBoxLayout, QWidget

from app.i18n import tr
from app.models.model_entries import EndpointRow, Offered
from app.tasks.model_work import ModelWork
from app.widgets.buttons import Button
from app.widgets.card import Card, row
from app.widgets.labels import Badge, ElidedLabel, Label

_WHAT = (
    "A model in another program of yours, such as a llama.cpp server, Ollama or LM Studio, can write the answers. "
    "Your questions and the passages found for them are sent to it, and every answer says so. It is off until you "
    "switch it on."
)


class EndpointSection(QWidget):
    """The endpoint that is kept, and a line to name another one. Follows `ModelWork`."""

    def __init__(self, work: ModelWork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._offered: Offered | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(Label(tr("Another program on your network"), "heading"))
        column.addWidget(Label(tr(_WHAT), "muted", wrap=True))
        self._build_kept(column)
        self._build_other(column)
        work.changed.connect(self.refresh)
        work.offered.connect(self._show_offered)
        self.refresh()

    def _build_kept(self, column: QVBoxLayout) -> None:
        self.kept = Card(padding=12, spacing=4)
        self.title = ElidedLabel("", "strong")
        self.state = Badge("")
        head = row(self.title, self.state)
        head.setStretch(0, 1)
        self.kept.body.addLayout(head)
        self.sent = Label("", "small", wrap=True)
        self.kept.body.addWidget(self.sent)
        self.switch = Button("", "link", "", self._switch)
        self.drop = Button(tr("Forget it"), "link", "", self._work.forget_endpoint)
        self.kept.body.addLayout(row(self.switch, self.drop, None, spacing=16))
        column.addWidget(self.kept)

    def _build_other(self, column: QVBoxLayout) -> None:
        self.address = QLineEdit()
        self.address.setPlaceholderText("http://127.0.0.1:8080/v1")
        self.address.setAccessibleName(tr("Address of the program"))
        self.address.returnPressed.connect(self._look)
        self.address.textChanged.connect(self._typed)
        self.look = Button(tr("Find its models"), "secondary", "search", self._look)
        line = row(self.address, self.look)
        line.setStretch(0, 1)
        column.addLayout(line)
        self.anywhere = QCheckBox(tr("Allow other networks"))
        self.anywhere.toggled.connect(self._typed)
        column.addWidget(self.anywhere)
        outside = tr("Else only addresses on this computer and in its private networks are asked.")
        self.anywhere.setAccessibleDescription(outside)
        column.addWidget(Label(outside, "small", wrap=True))
        self.models = QComboBox()
        self.models.setMinimumContentsLength(8)  # long names shall not widen the sheet
        self.models.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.models.setAccessibleName(tr("Model of the program"))
        self.begin = Button(tr("Use for answers"), "secondary", "", self._begin)
        self._choice = QWidget()
        line = row(self.models, self.begin)
        line.setStretch(0, 1)
        self._choice.setLayout(line)
        self.consent = Label("", "small", wrap=True)
        for part in (self.consent, self._choice):
            column.addWidget(part)
            part.hide()

    def refresh(self) -> None:
        kept, free = self._work.endpoint, not self._work.busy
        self.kept.setVisible(kept is not None)
        if kept is not None:
            self._show_kept(kept)
        for button in (self.switch, self.drop, self.begin):
            button.setEnabled(free)
        self.look.setEnabled(free and bool(self.address.text().strip()))

    def _show_kept(self, kept: EndpointRow) -> None:
        self.title.set_whole(f"{kept.model} · {kept.host}")
        self.state.set_state(tr("In use") if kept.in_use else tr("Off"), "warning" if kept.in_use else "neutral")
        sent = tr("Questions and passages are sent to {host}.", host=kept.host)
        self.sent.setText(sent if kept.in_use else tr("Nothing is sent to it."))
        self.switch.setText(tr("Switch off") if kept.in_use else tr("Use for answers"))

    def _show_offered(self, found: Offered) -> None:
        self._offered = found
        self.models.clear()
        self.models.addItems(list(found.models))
        some = bool(found.models)
        words = tr("Your questions and the passages found for them will be sent to {host}.", host=found.host)
        self.consent.setText(words if some else tr("{host} offers no model.", host=found.host))
        self.consent.show()
        self._choice.setVisible(some)
        if some:
            self.models.setFocus()

    def _typed(self) -> None:
        """What was found belongs to another address."""
        self._offered = None
        self.consent.hide()
        self._choice.hide()
        self.refresh()

    def _look(self) -> None:
        if self.look.isEnabled():
            self._work.look_at_endpoint(self.address.text().strip(), anywhere=self.anywhere.isChecked())

    def _begin(self) -> None:
        if self._offered is None:
            return
        made = EndpointRow(self._offered.url, self.models.currentText(), True, self.anywhere.isChecked())
        self._work.use_endpoint(made)
        self.address.clear()

    def _switch(self) -> None:
        kept = self._work.endpoint
        if kept is not None:
            made = EndpointRow(kept.url, kept.model, not kept.in_use, kept.anywhere, kept.context)
            self._work.use_endpoint(made)
