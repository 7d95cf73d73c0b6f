"""The folders of the library: how each stands, what is left out of them, and the patterns that scans pass by."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from app.context import Context
from app.errors import describe
from app.i18n import plural, tr
from app.tasks.pick import pick_folder
from app.tasks.places import RootState, root_states
from app.tasks.remaining import ago
from app.views.dialogs import Sheet, confirm
from app.views.viewer_outside import open_outside
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Card, Rule, row
from app.widgets.empty_state import IconLabel
from app.widgets.labels import Badge, ElidedLabel, Label
from app.widgets.page_background import Background
from core.base.files import text_path
from core.library import RootSummary

_ANY_WAY = (
    "Patterns as in a .gitignore file, one a line: drafts/, *.log, !keep.log. "
    "A file named .whymatchignore in any of your folders does the same for that folder."
)


class FoldersSheet(Sheet):
    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(tr("Folders of this library"), parent)
        self.setMinimumWidth(640)
        self._context = context
        self._background = Background(self)
        self._states: dict[str, RootState] = {}
        self._shown: object = None
        body = self.scrolling()
        self._roots = self._section(body)
        self.add_button = Button(tr("Add a folder"), "secondary", "folder-add", self._add)
        body.addLayout(row(self.add_button, None))
        body.addWidget(Rule())
        body.addWidget(Label(tr("Left out"), "heading"))
        self._left_out = self._section(body)
        body.addWidget(Rule())
        self._build_patterns(body)
        body.addStretch(1)
        context.jobs.changed.connect(self.refresh)
        context.engine.changed.connect(self.refresh)  # a bound method: it ends with the sheet
        self.refresh()
        self._look()

    def _section(self, body: QVBoxLayout) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(8)
        body.addLayout(column)
        return column

    def _build_patterns(self, body: QVBoxLayout) -> None:
        body.addWidget(Label(tr("Never read what is called like this"), "heading"))
        self.patterns = QPlainTextEdit(self._context.library.ignore_patterns())
        self.patterns.setAccessibleName(tr("Patterns of files and folders that are never read"))
        self.patterns.setPlaceholderText("drafts/\n*.log")
        self.patterns.setTabChangesFocus(True)
        self.patterns.setFixedHeight(self.fontMetrics().lineSpacing() * 4 + 24)
        self.patterns.textChanged.connect(lambda: self.save_button.setEnabled(self._changed()))
        self.error = Label("", "error", wrap=True)
        self.error.hide()
        self.save_button = Button(tr("Use these patterns"), "secondary", "", self._save)
        self.save_button.setEnabled(False)
        for part in (self.patterns, self.error):
            body.addWidget(part)
        body.addLayout(row(self.save_button, None))
        body.addWidget(Label(tr(_ANY_WAY), "small", wrap=True))

    # what is shown

    def refresh(self, _change: object = None) -> None:
        """Read the numbers again; rows are made anew only when something changed, so that the focus stays."""
        library = self._context.library
        roots, left_out = library.root_summaries(), library.excluded()
        wanted = (roots, left_out, dict(self._states), self._context.settings.get("watch"))
        if wanted == self._shown:
            return
        self._shown = wanted
        _clear(self._roots)
        _clear(self._left_out)
        for summary in roots:
            self._roots.addWidget(self._root(summary))
        if not roots:
            self._roots.addWidget(Label(tr("No folder was added yet."), "muted"))
        for path in left_out:
            self._left_out.addWidget(self._excluded(path))
        if not left_out:
            nothing = tr("Nothing. What you remove from the library is listed here, and can be taken back.")
            self._left_out.addWidget(Label(nothing, "muted", wrap=True))
        QTimer.singleShot(0, self, self.grow)  # when the new rows have their sizes

    def _look(self) -> None:
        """Whether the folders are there; a drive that sleeps may take its time to say so."""
        paths = [summary.root.path for summary in self._context.library.root_summaries()]
        self._background.run(lambda: root_states(paths), self._looked)

    def _looked(self, states: object) -> None:
        if isinstance(states, dict):
            self._states = states
            self.refresh()

    def _root(self, summary: RootSummary) -> QWidget:
        path = summary.root.path
        state = self._states.get(path, RootState.HERE)
        badge = Badge()
        badge.set_state(*_state_words(state, bool(self._context.settings.get("watch"))))
        card = Card(role="well", padding=10, spacing=2)
        look = IconButton("retry", tr("Look for changes in {path}", path=path), lambda: self._again(path))
        look.setEnabled(state is RootState.HERE)
        show = IconButton("open", tr("Open {path}", path=path), lambda: open_outside(text_path(path)))
        show.setEnabled(state is RootState.HERE)
        gone = IconButton("trash", tr("Remove {path} from the library", path=path), lambda: self._remove(summary))
        sign = IconLabel("folder" if summary.root.is_folder else "file", "muted", 18)
        line = row(sign, ElidedLabel(path, "strong"), badge, look, show, gone, spacing=6)
        line.setStretch(1, 1)
        card.body.addLayout(line)
        card.body.addWidget(Label(_numbers(summary, state), "small", wrap=True))
        return card

    def _excluded(self, path: str) -> QWidget:
        holder = QWidget()
        back = Button(tr("Take back"), "link", "", lambda: self._take_back(path))
        back.setAccessibleName(tr("Take back {path}", path=path))
        line = row(IconLabel("file", "muted", 18), ElidedLabel(path), back)
        line.setStretch(1, 1)
        holder.setLayout(line)
        return holder

    # what is done

    def _add(self) -> None:
        pick_folder(self, self._context.settings, lambda path: self._context.jobs.ingest([path]))

    def _again(self, path: str) -> None:
        self._context.jobs.again([path])

    def _remove(self, summary: RootSummary) -> None:
        path = summary.root.path
        confirm(
            self, tr("Remove this folder from the library?") if summary.root.is_folder
            else tr("Remove this file from the library?"),
            plural(
                summary.documents, "{path} with {n} document can no longer be found or cited.",
                "{path} with {n} documents can no longer be found or cited.", path=path,
            ) + " " + tr("The files on disk stay as they are."),
            tr("Remove"), lambda: self._context.jobs.remove([path]),
        )  # fmt: skip

    def _take_back(self, path: str) -> None:
        library, jobs = self._context.library, self._context.jobs

        def taken(outcome: object) -> None:
            if isinstance(outcome, Exception):
                self._context.notifications.error(outcome)
                return
            jobs.again([path])
            self.refresh()

        self._background.run(lambda: library.take_back(path), taken)

    def _changed(self) -> bool:
        return self.patterns.toPlainText().strip() != self._context.library.ignore_patterns().strip()

    def _save(self) -> None:
        library, text = self._context.library, self.patterns.toPlainText().strip()
        self._background.run(lambda: library.set_ignore_patterns(text), self._saved)

    def _saved(self, outcome: object) -> None:
        failed = isinstance(outcome, Exception)
        self.error.setVisible(failed)
        if isinstance(outcome, Exception):
            said = describe(outcome)
            self.error.setText(f"{said.text} {said.advice}".strip())
        else:
            self.save_button.setEnabled(False)
            self._context.jobs.ingest([])
        self.grow()


def _clear(column: QVBoxLayout) -> None:
    while (item := column.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


def _state_words(state: RootState, watched: bool) -> tuple[str, str]:
    if state is RootState.AWAY:
        return tr("Drive not connected"), "warning"
    if state is RootState.MISSING:
        return tr("Missing"), "danger"
    return (tr("Watched"), "success") if watched else (tr("Here"), "neutral")


def _numbers(summary: RootSummary, state: RootState) -> str:
    parts = [plural(summary.documents, "{n} document", "{n} documents")]
    if summary.files != summary.documents:
        parts.append(plural(summary.files, "in {n} file", "in {n} files"))
    looked = ""
    if summary.looked:
        looked = tr(
            "looked at {ago}", ago=ago((datetime.now(UTC) - datetime.fromisoformat(summary.looked)).total_seconds())
        )
    words = " ".join(parts) + (f" · {looked}" if looked else "")
    if state is RootState.AWAY:
        return f"{words}. {tr('Its documents stay until it is back.')}"
    if state is RootState.MISSING:
        advice = tr("It was moved, renamed or deleted. Its documents stay; add the new place, then remove this one.")
        return f"{words}. {advice}"
    return words
