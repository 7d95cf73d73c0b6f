"""The `watch` child: says when files in the library's folders changed. It reads none of them, and stays light."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.base.events import Notice
from core.ingest.watch import EVERY_SECONDS, SETTLE_SECONDS, Watch
from core.worker.server import Call


class WatchRole:
    def __init__(self, library: Path) -> None:
        self._library = library

    def open(self) -> dict[str, Any]:
        return {"role": "watch"}

    def handle(self, call: Call) -> Any:
        if call.request.op != "watch":
            raise ValueError(f"watch has no operation {call.request.op!r}")
        args = call.request.args
        watch = Watch(
            self._library, every=float(args.get("every", EVERY_SECONDS)),
            settle=float(args.get("settle", SETTLE_SECONDS)),
            changed=lambda count: call.emit("partial", {"paths": count}), told=lambda text: call.listen(Notice(text)),
        )  # fmt: skip
        watch.run(call.control)

    def close(self) -> None:
        pass


def make(library: Path | None) -> WatchRole:
    assert library is not None
    return WatchRole(library)
