"""Drives the real window with real children, as a person would; prints what it saw as JSON.

`python window_run.py main LIBRARY FOLDER SHOTS QUESTION` drops FOLDER, searches, asks, follows a citation, opens Why.
`python window_run.py ingest LIBRARY FOLDER` drops FOLDER and watches the event loop meanwhile.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.engine.pulse import Pulse
from app.main import application, make_window
from app.views.main_window import MainWindow

WAIT_SECONDS = 400.0


def wait(ready: Callable[[], object], what: str, seconds: float = WAIT_SECONDS) -> None:
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(what)
        QTest.qWait(20)


def drop(window: MainWindow, path: Path) -> None:
    """What the desktop sends when something is dragged onto the window and let go."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    place, actions = QPoint(400, 300), Qt.DropAction.CopyAction
    button, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    entered = QDragEnterEvent(place, actions, data, button, keys)
    QApplication.sendEvent(window, entered)
    assert entered.isAccepted()
    QApplication.sendEvent(window, QDropEvent(QPointF(place), actions, data, button, keys))


def opened(library: Path) -> MainWindow:
    window = make_window(application(), library)
    window.show()
    window.activateWindow()  # no window manager on this screen does it
    assert QTest.qWaitForWindowActive(window, 20_000)
    wait(lambda: window.context is not None, "the library opens")
    return window


def ingest(window: MainWindow, folder: Path) -> dict[str, Any]:
    """Drop the folder and wait until all is read; what was seen meanwhile."""
    assert window.context is not None
    ended: list[Any] = []
    failed: list[Any] = []
    seen: set[int] = set()
    stages: set[str] = set()
    jobs = window.context.jobs
    jobs.done.connect(lambda task, result: ended.append(result))
    jobs.failed.connect(lambda task, error: failed.append(str(error)))
    jobs.progress.connect(lambda p: stages.add(p.stage))
    window.context.engine.changed.connect(lambda change: seen.add(change.passages))
    drop(window, folder)
    wait(lambda: ended or failed, "the folder is read")
    assert not failed, failed
    return {"report": ended[0], "stages": sorted(stages), "commits": len(seen)}


class Shots:
    """Pictures of the window in both themes."""

    def __init__(self, window: MainWindow, folder: Path) -> None:
        self._window = window
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def take(self, name: str) -> None:
        for mode in ("light", "dark"):
            self._window._settings.set("theme", mode)
            QTest.qWait(150)
            assert self._window.grab().save(str(self._folder / f"{name}-{mode}.png"))


def search(window: MainWindow, text: str, shots: Shots) -> dict[str, Any]:
    window.navigate("search", None)
    page: Any = window.page("search")
    QTest.keyClicks(page.box, text)
    wait(lambda: page.results.list.hits, "hits")
    QTest.qWait(400)
    shots.take("search")
    page.results.list.setFocus()
    QTest.keyClick(page.results.list, Qt.Key.Key_Down)
    QTest.keyClick(page, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    wait(lambda: page.why.is_open and page.why.panel.explanation is not None, "the reason")
    shots.take("why")
    hit, why = page.results.list.hits[0], page.why.panel.explanation
    rows = [row.accessibleName() for row in page.why.panel.details.rows]
    QTest.keyClick(page, Qt.Key.Key_Escape)
    return {
        "hits": len(page.results.list.hits),
        "first": hit.passage.path,
        "parts_add_up": abs(hit.score - sum(p.contribution for p in hit.parts)) < 1e-9,
        "concepts": [c.label for c in why.concepts],
        "sentence": why.sentence,
        "rows": rows,
        "why_closed": not page.why.is_open,
    }


def ask(window: MainWindow, question: str, shots: Shots) -> dict[str, Any]:
    window.navigate("ask", None)
    page: Any = window.page("ask")
    page.focus_search()
    QTest.keyClicks(QApplication.focusWidget(), question)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    wait(lambda: page.conversation.turns and not page._flow.busy, "the answer")
    turn = page.conversation.turns[-1]
    QTest.qWait(300)
    shots.take("ask")
    click_citation(turn.text)
    wait(lambda: window.beside.is_open, "the document opens")
    viewer: Any = window.findChild(viewer_class())
    wait(lambda: viewer.shows_pages() and viewer.marked_rects(), "the sentence is marked")
    QTest.qWait(300)
    shots.take("viewer")
    citation = turn.answer.sentences[0].citations[0]
    rects = [[m.page, m.rect.left(), m.rect.top(), m.rect.right(), m.rect.bottom()] for m in viewer.marked_rects()]
    return {
        "mode": turn.answer.mode.value,
        "text": turn.answer.text,
        "document": citation.document,
        "page": citation.page,
        "quote": citation.quote,
        "rects": rects,
        "conversations": [c.title for c in window.context.library.conversations()],  # type: ignore[union-attr]
    }


def viewer_class() -> type:
    from app.views.viewer import Viewer

    return Viewer


def click_citation(text: Any) -> None:
    """A real click on the first number in the answer."""
    area = text.viewport()
    for y in range(2, area.height(), 3):
        for x in range(2, area.width(), 3):
            if text.anchorAt(QPoint(x, y)):
                QTest.mouseMove(area, QPoint(x + 2, y + 2))
                QTest.mouseClick(area, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(x + 2, y + 2))
                return
    raise AssertionError("no citation to click")


def close(window: MainWindow) -> int:
    """Close the window; the number of processes that are left."""
    children = psutil.Process().children(recursive=True)
    window.close()
    QApplication.processEvents()
    _, alive = psutil.wait_procs(children, timeout=10)
    return len(alive)


def main() -> dict[str, Any]:
    what, library, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    pulse = Pulse()
    window = opened(library)
    if what == "ingest":
        pulse.start()
        found = ingest(window, folder)
        found["documents"] = window.context.library.count()  # type: ignore[union-attr]
        found["report"] = None
        found |= {"longest_ms": pulse.longest_ms, "longest_work_ms": pulse.longest_work_ms, "beats": pulse.beats}
        return found | {"left": close(window)}
    shots = Shots(window, Path(sys.argv[4]))
    QTest.qWait(200)
    shots.take("welcome")
    pulse.start()
    found = ingest(window, folder)
    found["failed"] = [f.path for f in found["report"].failed]
    found["documents"] = found.pop("report").documents
    found["longest_work_ms"] = pulse.longest_work_ms
    shots.take("library")
    found["search"] = search(window, "storm and ferry safety", shots)
    found["ask"] = ask(window, sys.argv[5], shots)
    found["left"] = close(window)
    return found


if __name__ == "__main__":
    print(json.dumps(main()))
