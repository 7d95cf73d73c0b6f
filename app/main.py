"""The start of the window: arguments, application object, crash log, event loop."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from app.errors import Notifications, install_hooks
from app.i18n import tr
from app.settings import Settings
from app.theme import Theme
from app.views.main_window import MainWindow
from core.base import crash, paths


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and stay until it is closed. Returns the exit code."""
    options = _parse(sys.argv[1:] if argv is None else list(argv))
    log = crash.enable("window")
    app = application()
    window = make_window(app, Path(options.library).expanduser() if options.library else paths.default_library())
    _stop_on_signals(app, window)
    window.show()
    code = app.exec()
    crash.disable(log)
    return int(code)


def application() -> QApplication:
    """The one application object, with the names that the desktop shows."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(["whymatch"])
    app.setApplicationName("whymatch")
    app.setApplicationDisplayName(tr("Whymatch"))
    app.setDesktopFileName("whymatch")
    app.setWindowIcon(QIcon(str(paths.resources() / "icons" / "whymatch.svg")))
    return app


def make_window(app: QApplication, library: Path) -> MainWindow:
    """A window over `library`, not shown yet."""
    settings = Settings(parent=app)
    theme = Theme(app, settings.get("theme"), settings.get("text_percent"))
    notifications = Notifications(app)
    app.aboutToQuit.connect(install_hooks(notifications))
    return MainWindow(library.absolute(), settings, theme, notifications)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="whymatch", description="Search and answers from your own documents.")
    parser.add_argument("--library", metavar="DIR", help="the library to open (default: the one in your data folder)")
    return parser.parse_args(argv)


def _stop_on_signals(app: QApplication, window: MainWindow) -> None:
    """Ctrl+C and a polite kill close the window as its button does, so that no child is left."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: window.close())
    tick = QTimer(app)  # lets Python see signals while Qt waits
    tick.timeout.connect(lambda: None)
    tick.start(300)


if __name__ == "__main__":
    raise SystemExit(main())
