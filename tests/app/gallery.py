"""Pictures of the window in each of its states, to be looked at: `python tests/app/gallery.py FOLDER [light|dark]`.

Needs no models: the children are the fake role. `QT_SCALE_FACTOR=2` makes the large ones. Add a state by adding a
function to `STATES`; it gets the open window and leaves it as it shall be seen.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[2])]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from app_helpers import LONG_NAME, fake_command, fill  # noqa: E402
from PySide6.QtCore import QDeadlineTimer, QEventLoop  # noqa: E402
from PySide6.QtWidgets import QApplication, QDialog  # noqa: E402

from app.errors import Bug, Message, Notifications  # noqa: E402
from app.main import application  # noqa: E402
from app.settings import Settings  # noqa: E402
from app.theme import Theme  # noqa: E402
from app.views.main_window import MainWindow  # noqa: E402
from core.base.errors import DiskFull  # noqa: E402
from core.library import Library  # noqa: E402
from core.store import database, passages  # noqa: E402
from core.store.passages import NewPassage  # noqa: E402


def rest(app: QApplication, milliseconds: int) -> None:
    until = QDeadlineTimer(milliseconds)
    while not until.hasExpired():
        app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)


def welcome(window: MainWindow) -> None:
    pass


def report(window: MainWindow) -> None:
    window.navigate("library")


def problems(window: MainWindow) -> None:
    window.pages["library"].chips["problems"].click()
    window.pages["library"].table.selectRow(0)


def long_name(window: MainWindow) -> None:
    page = window.pages["library"]
    page.search.setText(LONG_NAME[:20])
    rest(QApplication.instance(), 400)
    page.table.selectRow(0)


def no_match(window: MainWindow) -> None:
    window.pages["library"].search.setText("nothing is called like this")


def busy(window: MainWindow) -> None:
    window.context.jobs.ingest(["/home/ada/Documents"])


def paused(window: MainWindow) -> None:
    busy(window)
    rest(QApplication.instance(), 900)
    window.context.jobs.pause()


def toasts(window: MainWindow) -> None:
    window._notifications.message(
        Message(
            "1 document was removed.",
            "It is no longer found or cited.",
            tone="success",
            action="Undo",
            on_action=lambda: None,
        )
    )
    window._notifications.error(
        DiskFull("The disk is full: library.db could not be written.", "Free some space, then try again.")
    )
    window._notifications.error(Bug("KeyError: 'x'", "Traceback ..."))


def banner(window: MainWindow) -> None:
    page = window.pages["library"]
    page.banner.show_message(
        Message("Reading was cut off last time.", "What was read is kept. Go on where it stopped?"), action="Go on"
    )


def drop(window: MainWindow) -> None:
    window.overlay.open()


def settings(window: MainWindow) -> None:
    window.show_settings()


def shortcuts(window: MainWindow) -> None:
    window.actions_by_id["shortcuts"].trigger()


def confirm(window: MainWindow) -> None:
    page = window.pages["library"]
    page.table.selectRow(2)
    page.do.remove(page.table.selected())


def several(window: MainWindow) -> None:
    window.pages["library"].table.selectAll()


def folders(window: MainWindow) -> None:
    window.actions_by_id["folders"].trigger()


def unlock(window: MainWindow) -> None:
    window.actions_by_id["unlock"].trigger()


def models(window: MainWindow) -> None:
    models_sheet(window)


def models_below(window: MainWindow) -> None:
    sheet = models_sheet(window)
    rest(QApplication.instance(), 600)  # until it has grown
    bar = sheet._scroller.verticalScrollBar()
    bar.setValue(bar.maximum())


def models_sheet(window: MainWindow) -> QDialog:
    window.actions_by_id["models"].trigger()
    until = QDeadlineTimer(20_000)
    while (window.models.models is None or window.models.busy) and not until.hasExpired():
        rest(QApplication.instance(), 100)
    return window.findChildren(QDialog)[-1]


def models_busy(window: MainWindow) -> None:
    sheet = models_sheet(window)
    sheet._work.looked.disconnect(sheet._offer)
    sheet._work.looked.connect(sheet._work.add)
    sheet._work.look("BAAI/bge-m3")
    rest(QApplication.instance(), 300)


def models_error(window: MainWindow) -> None:
    models_sheet(window)._look("closed/model")


def models_needs(window: MainWindow) -> None:
    models_sheet(window)._look("BAAI/bge-m3")


def models_change(window: MainWindow) -> None:
    sheet = models_sheet(window)
    sheet._use_here(next(m for m in sheet._work.models if m.id == "multilingual-e5-small"))


def wipe(window: MainWindow) -> None:
    window.actions_by_id["purge"].trigger()


def adapt(window: MainWindow) -> None:
    window.navigate("adapt")
    page = window.page("adapt")
    until = QDeadlineTimer(20_000)
    while (page.work.history is None or len(page.work.estimates) < 3) and not until.hasExpired():
        rest(QApplication.instance(), 100)


def adapt_empty(window: MainWindow) -> None:
    window.navigate("adapt")


def adapt_run(window: MainWindow) -> None:
    os.environ["FAKE_ADAPT_REST"] = "0.02"
    adapt(window)
    window.page("adapt").choice.start.click()
    rest(QApplication.instance(), 5_000)
    del os.environ["FAKE_ADAPT_REST"]


def adapt_verdict(window: MainWindow) -> None:
    adapt(window)
    window.page("adapt").history.lines[0].click()


def adapt_used(window: MainWindow) -> None:
    os.environ["FAKE_ADAPT"] = "used"
    adapt_verdict(window)
    del os.environ["FAKE_ADAPT"]


def adapt_judge(window: MainWindow) -> None:
    adapt(window)
    window.page("adapt").judge_button.click()


def concepts_empty(window: MainWindow) -> None:
    window.navigate("concepts")


# name, function, which library it wants
STATES: tuple[tuple[str, Callable[[MainWindow], None], str], ...] = (
    ("welcome", welcome, "empty"),
    ("report", report, "full"),
    ("problems", problems, "full"),
    ("long-name", long_name, "full"),
    ("no-match", no_match, "full"),
    ("busy", busy, "full"),
    ("busy-first", busy, "empty"),
    ("paused", paused, "full"),
    ("toasts", toasts, "full"),
    ("banner", banner, "full"),
    ("drop", drop, "full"),
    ("settings", settings, "full"),
    ("shortcuts", shortcuts, "full"),
    ("confirm", confirm, "full"),
    ("several", several, "full"),
    ("folders", folders, "full"),
    ("unlock", unlock, "full"),
    ("wipe", wipe, "full"),
    ("models", models, "full"),
    ("models-below", models_below, "full"),
    ("models-busy", models_busy, "full"),
    ("models-error", models_error, "full"),
    ("models-needs", models_needs, "full"),
    ("models-change", models_change, "full"),
    ("adapt-empty", adapt_empty, "empty"),
    ("adapt", adapt, "passages"),
    ("adapt-run", adapt_run, "passages"),
    ("adapt-verdict", adapt_verdict, "passages"),
    ("adapt-used", adapt_used, "passages"),
    ("adapt-judge", adapt_judge, "passages"),
    ("concepts-empty", concepts_empty, "empty"),
    ("trouble", welcome, "broken"),
)


def libraries(folder: Path) -> dict[str, Path]:
    made = {name: folder / name for name in ("empty", "full", "passages", "broken")}
    Library.create(made["empty"]).close()
    fill(made["full"])
    fill(made["passages"])
    db = database.open_writer(made["passages"])
    with database.transaction(db):
        passages.replace_passages(db, 1, [NewPassage("A paragraph of text.", 0, 20, 1, 1, (), "en", "hash")])
    db.conn.close()
    made["broken"].mkdir()
    (made["broken"] / "library.db").write_bytes(b"this is no database" * 200)
    return made


def take(app: QApplication, window: MainWindow, path: Path) -> None:
    """The window with the dialog over it, where there is one."""
    picture = window.grab()
    dialogs = [d for d in window.findChildren(QDialog) if d.isVisible()]
    picture.save(str(path))
    for dialog in reversed(dialogs):  # the innermost last, so that its picture stays
        dialog.grab().save(str(path.with_stem(path.stem + "-dialog" + "-inner" * (dialog.parent() in dialogs))))
        dialog.close()


def main(folder: Path, looks: tuple[str, ...], only: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["WHYMATCH_HOME"] = scratch
        app = application()
        theme, notifications = Theme(app), Notifications(app)
        made = libraries(Path(scratch))
        for look in looks:
            theme.set_mode(look)
            for name, state, library in STATES:
                if only and only != name:
                    continue
                settings_file = Settings(Path(scratch) / "settings.json", app)
                settings_file.set("start_search_early", False)
                window = MainWindow(made[library], settings_file, theme, notifications, fake_command())
                window.resize(1240, 800)
                window.show()
                rest(app, 700)
                state(window)
                rest(app, 900)
                take(app, window, folder / f"{name}-{look}.png")
                window.close()
                window.deleteLater()
                rest(app, 50)


if __name__ == "__main__":
    chosen = (sys.argv[2],) if len(sys.argv) > 2 else ("light", "dark")
    main(Path(sys.argv[1]), chosen, sys.argv[3] if len(sys.argv) > 3 else "")
