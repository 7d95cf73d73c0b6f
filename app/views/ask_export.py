"""Exchanges as a file for other programs: a dialog that asks where to and as what, then written beside the window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.context import Context
from app.errors import Message
from app.i18n import tr
from app.views.viewer_outside import open_outside
from core.base.errors import BadSetting, KnownError
from core.base.files import write_bytes
from core.library import Format, StoredTurn, file_name, format_of

_NAMES = {  # as the dialog offers them
    Format.DOCX: "Word document",
    Format.MARKDOWN: "Markdown",
    Format.HTML: "Web page",
    Format.JSON: "JSON, with everything",
    Format.BIBTEX: "References as BibTeX",
    Format.CSL: "References as CSL-JSON",
}


def ask_export(context: Context, parent: QWidget, title: str, turns: Sequence[StoredTurn]) -> QFileDialog:
    """Ask where to, then write; a message tells how it went."""
    last = context.settings.get("last_folder")
    folder = Path(last) if last and Path(last).is_dir() else Path.home()
    dialog = QFileDialog(parent, tr("Export"), str(folder))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    filters = {f"{tr(name)} (*{kind.suffix})": kind for kind, name in _NAMES.items()}
    dialog.setNameFilters(list(filters))
    dialog.selectFile(file_name(title, Format.DOCX))

    def other(chosen: str) -> None:
        """The name follows the format, and the format the person's choice."""
        dialog.selectFile(file_name(title, filters[chosen]))

    dialog.filterSelected.connect(other)
    dialog.fileSelected.connect(
        lambda path: export(context, Path(path), filters[dialog.selectedNameFilter()], title, turns)
    )
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def export(context: Context, path: Path, kind: Format, title: str, turns: Sequence[StoredTurn]) -> None:
    """Write the exchanges to `path` as what its name says, else as `kind`, whose ending the name then gets."""
    path, kind = _as_named(path, kind)
    try:
        write_bytes(path, context.library.exported(kind, title, turns))
    except KnownError as error:
        context.notifications.error(error)
        return
    context.notifications.message(
        Message(
            tr("Exported."), str(path), tone="success", action=tr("Open"), on_action=lambda: _open(context, path)
        )
    )  # fmt: skip


def _as_named(path: Path, kind: Format) -> tuple[Path, Format]:
    """The person may have typed another ending than the chosen one."""
    if path.name.lower().endswith(f".{kind.suffix.rsplit('.', 1)[1]}"):
        return path, kind
    try:
        return path, format_of(path)
    except BadSetting:
        return path.with_name(path.name + kind.suffix), kind


def _open(context: Context, path: Path) -> None:
    if not open_outside(path):
        context.notifications.tell(tr("No program of this system opens {name}.", name=path.name), tone="warning")
