"""Handing a document to the system: its own program, or the folder it lies in."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices


def open_outside(path: Path) -> bool:
    """Open a file in the program that the system has for it. False when there is none."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def show_in_folder(path: Path) -> bool:
    """Show a file in its folder, selected where the system can do that."""
    if sys.platform == "win32":
        return QProcess.startDetached("explorer", ["/select,", str(path)])[0]
    if sys.platform == "darwin":
        return QProcess.startDetached("open", ["-R", str(path)])[0]
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))
