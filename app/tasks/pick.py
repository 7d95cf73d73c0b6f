"""Choosing folders and files: native dialogs that do not block, and what was dropped on the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from app.i18n import tr
from app.settings import Settings


def pick_folder(parent: QWidget, settings: Settings, then: Callable[[str], object]) -> QFileDialog:
    dialog = _dialog(parent, tr("Add a folder"), settings)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.filesSelected.connect(lambda paths: _chosen(paths, settings, lambda all_: then(all_[0])))
    dialog.open()
    return dialog


def pick_files(parent: QWidget, settings: Settings, then: Callable[[list[str]], object]) -> QFileDialog:
    dialog = _dialog(parent, tr("Add files"), settings)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(lambda paths: _chosen(paths, settings, then))
    dialog.open()
    return dialog


def dropped(data: QMimeData) -> list[str]:
    """Local paths in what is dragged; empty when there are none."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()] if data.hasUrls() else []


def _dialog(parent: QWidget, title: str, settings: Settings) -> QFileDialog:
    last = settings.get("last_folder")
    dialog = QFileDialog(parent, title, last if last and Path(last).is_dir() else str(Path.home()))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog


def _chosen(paths: list[str], settings: Settings, then: Callable[[list[str]], object]) -> None:
    if paths:
        settings.remember("last_folder", str(Path(paths[0]).parent))
        then(list(paths))
