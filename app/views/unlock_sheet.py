"""The password of locked files: asked for, tried at once, and kept in the system's keyring only when that is wished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from app.context import Context
from app.errors import describe
from app.i18n import plural, tr
from app.models.documents import name
from app.tasks.jobs import Task
from app.views.dialogs import Sheet
from app.widgets.busy import Busy
from app.widgets.buttons import Button, IconButton
from app.widgets.card import row
from app.widgets.labels import ElidedLabel, Label
from core.base.errors import NotFound
from core.base.types import Document, DocumentState

_NAMED = 4  # files told by name


class UnlockSheet(Sheet):
    """Stays open until the password has opened every file, or the person gives up."""

    def __init__(self, context: Context, documents: Sequence[Document], parent: QWidget) -> None:
        title = plural(len(documents), "Unlock this file", "Unlock {n} files")
        super().__init__(title, parent, close=tr("Cancel"))
        self._context = context
        self._documents = list(documents)
        self._paths = list(dict.fromkeys(d.path for d in documents))
        self._build()
        context.jobs.done.connect(self._done)
        context.jobs.failed.connect(self._failed)
        context.jobs.cancelled.connect(self._cancelled)

    def _build(self) -> None:
        for document in self._documents[:_NAMED]:
            self.body.addWidget(ElidedLabel(name(document), "strong"))
        more = len(self._documents) - _NAMED
        if more > 0:
            self.body.addWidget(Label(plural(more, "and {n} more", "and {n} more"), "muted"))
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setAccessibleName(tr("Password"))
        self.field.setPlaceholderText(tr("Password"))
        self.field.textChanged.connect(lambda text: self.yes.setEnabled(bool(text)))
        self.eye = IconButton("eye", tr("Show the password"), checkable=True)
        self.eye.toggled.connect(self._show_letters)
        line = row(self.field, self.eye)
        line.setStretch(0, 1)
        self.body.addLayout(line)
        self.error = Label("", "error", wrap=True)
        self.error.hide()
        self.busy = Busy(tr("Trying the password…"))
        self.keep = QCheckBox(tr("Remember it in the system's keyring"))
        note = tr("Without this the password is used once and kept nowhere. The text that was read stays searchable.")
        for part in (self.error, self.busy, self.keep, Label(note, "small", wrap=True)):
            self.body.addWidget(part)
        self.yes = Button(tr("Unlock"), "primary", "unlock", self._try)
        self.yes.setEnabled(False)
        self.close_button.set_kind("secondary")
        self.close_button.setDefault(False)
        self.yes.setDefault(True)
        self.buttons.addWidget(self.yes)
        self.field.setFocus()

    def _show_letters(self, on: bool) -> None:
        self.field.setEchoMode(QLineEdit.EchoMode.Normal if on else QLineEdit.EchoMode.Password)
        self.eye.set_look("eye", tr("Hide the password") if on else tr("Show the password"))

    def _try(self) -> None:
        self._say("")
        self._wait(True)
        self._context.jobs.unlock(self._paths, self.field.text(), remember=self.keep.isChecked())

    def done(self, result: int) -> None:
        """Left while the password is being tried: it stays out of sight until it can tell how that went."""
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, self.field.isEnabled())
        super().done(result)

    def _wait(self, on: bool) -> None:
        for part in (self.field, self.eye, self.keep, self.yes):
            part.setEnabled(not on)
        if on:
            self.busy.show()
            self.grow()
        else:
            self.busy.stop()
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
            self.field.selectAll()

    def _mine(self, task: Task) -> bool:
        given = task.args.get("passwords", {})
        return not self.field.isEnabled() and any(path in given for path in self._paths)

    def _done(self, task: Task, _result: Any) -> None:
        if not self._mine(task):
            return
        still = [d for d in self._documents if self._is_locked(d)]
        if not still:
            self.field.setEnabled(True)
            self.accept()
            return
        if self.isHidden():
            self._tell_later(still)
            return
        self._wait(False)
        opened = len(self._documents) - len(still)
        self._documents, self._paths = still, list(dict.fromkeys(d.path for d in still))
        if opened:
            self._say(plural(len(still), "One file stays locked: it has another password.",
                             "{n} files stay locked: they have other passwords."))  # fmt: skip
        else:
            self._say(tr("This password does not open it."))

    def _tell_later(self, still: Sequence[Document]) -> None:
        words = plural(len(still), "The password does not open {name}.", "The password does not open {n} of the files.",
                       name=name(still[0]))  # fmt: skip
        self._context.notifications.tell(words, tone="warning")
        self.deleteLater()

    def _is_locked(self, document: Document) -> bool:
        try:
            return self._context.library.document(document.id).state is DocumentState.LOCKED
        except NotFound:
            return False

    def _failed(self, task: Task, error: Any) -> None:
        if self._mine(task):
            said = describe(error)
            self._wait(False)
            self._say(f"{said.text} {said.advice}".strip())

    def _cancelled(self, task: Task) -> None:
        if self._mine(task):
            self._wait(False)
            self._say(tr("Stopped before the password was tried."))

    def _say(self, text: str) -> None:
        self.error.setText(text)
        self.error.setVisible(bool(text))
        self.grow()
