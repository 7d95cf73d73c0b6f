"""The report on every document as a CSV file, written beside the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.context import Context
from app.errors import Message
from app.i18n import plural, tr
from app.views.viewer_outside import open_outside
from app.widgets.page_background import Background
from core.library import Library

NAME = "whymatch-report.csv"


def export_report(context: Context, background: Background, parent: QWidget) -> QFileDialog:
    """Ask where to, then write; a message tells how it went."""
    last = context.settings.get("last_folder")
    folder = Path(last) if last and Path(last).is_dir() else Path.home()
    dialog = QFileDialog(parent, tr("Export the report"), str(folder / NAME))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter(tr("Tables (*.csv)"))
    dialog.setDefaultSuffix("csv")
    dialog.selectFile(NAME)
    dialog.fileSelected.connect(lambda path: write_report(context, background, Path(path)))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def write_report(context: Context, background: Background, path: Path) -> None:
    folder = context.library.folder

    def written(outcome: object) -> None:
        if isinstance(outcome, BaseException):
            context.notifications.error(outcome)
        elif isinstance(outcome, int):
            text = plural(
                outcome, "The report on {n} document was written.", "The report on {n} documents was written."
            )
            context.notifications.message(
                Message(text, str(path), tone="success", action=tr("Open"), on_action=lambda: _open(context, path))
            )

    background.run(lambda: _write(folder, path), written)


def _write(folder: Path, path: Path) -> int:
    library = Library.open(folder)
    try:
        return library.write_report(path)
    finally:
        library.close()


def _open(context: Context, path: Path) -> None:
    if not open_outside(path):
        context.notifications.tell(tr("No program of this system opens {name}.", name=path.name), tone="warning")
