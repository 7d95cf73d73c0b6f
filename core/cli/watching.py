"""The command `watch`: an ingest now, and one whenever files in the library's folders changed."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

from core.base.errors import Cancelled
from core.base.events import Notice
from core.cli.output import ProgressLine, err
from core.ingest.watch import Watch
from core.store import database
from core.worker.ingesting import ingest


def run(library: Path, line: ProgressLine, *, every: float) -> None:
    """Until `line` is cancelled, which is a good end.

    Raises:
        NotALibrary, LibraryLocked, ModelMissing, DiskFull
    """
    database.require(library)
    changed = threading.Event()
    changed.set()
    watch = Watch(library, every=every, changed=lambda count: changed.set(), told=lambda text: line(Notice(text)))
    thread = threading.Thread(target=_watch, args=(watch, line), name="watch", daemon=True)
    thread.start()
    try:
        while not line.control.cancelled:
            if changed.wait(0.2):
                changed.clear()
                _ingest(library, line)
    except Cancelled:
        pass
    finally:
        line.control.cancel()
        thread.join()


def _watch(watch: Watch, line: ProgressLine) -> None:
    with contextlib.suppress(Cancelled):
        watch.run(line.control)


def _ingest(library: Path, line: ProgressLine) -> None:
    report = ingest(library, [], control=line.control, listener=line)
    err.print(
        f"{report.documents} documents, {report.removed} gone, {report.moved} moved, {report.encoded} passages encoded",
        markup=False,
    )
    for path in report.away:
        err.print(f"  away: {path}", markup=False)
