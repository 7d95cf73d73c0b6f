"""Search while a job encodes new files, against search while nothing else runs, in turns. On demand:

    python tests/benchmarks/bench_busy.py /path/to/datasets/scifact --passages 400 --runs 3

A library is made of the first passages, one file each. Then a search child is asked queries, each one new to it, text
to hits over the pipe: half of them while a job child encodes files that the library does not have yet, half without.
Printed as JSON for each run: p50 and p95 in milliseconds idle and busy, how many passages the job encoded meanwhile,
and the ratio of the medians. Other work on the machine makes both slower.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.base.errors import Cancelled
from core.base.events import Control
from core.base.types import Query
from core.base.wire import to_plain
from core.evaluate.datasets import load
from core.worker.client import ChildClient
from core.worker.protocol import JOB, SEARCH, Reply

_NEW = 1_000  # files a job is given: more than it encodes while it is watched
_PAUSE = 0.2  # seconds between two queries, as of one who types


class Encoding:
    """A context: a job child that encodes new files all the while. Leaving it cancels the job."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._library, self._folder = library, folder
        self._control = Control()
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.encoded = 0

    def __enter__(self) -> Encoding:
        self._thread.start()
        if not self._begun.wait(120):
            raise RuntimeError("the job did not begin to encode")
        return self

    def __exit__(self, *exc: object) -> None:
        if not self._thread.is_alive():
            raise RuntimeError("the job ended before it was cancelled: give it more files")
        self._control.cancel()
        self._thread.join()

    def _run(self) -> None:
        with ChildClient(JOB, self._library) as child, contextlib.suppress(Cancelled):
            child.call("ingest", {"paths": [str(self._folder)]}, on_event=self._hear, control=self._control)

    def _hear(self, reply: Reply) -> None:
        if reply.event == "progress":
            self.encoded = int(reply.data["counts"].get("encoded", 0))
            if self.encoded:
                self._begun.set()


def make_files(folder: Path, texts: Sequence[str]) -> Path:
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"{number:05d}.txt").write_text(text, encoding="utf-8")
    return folder


def ask(child: ChildClient, queries: Iterator[str], count: int) -> list[float]:
    """Milliseconds from each query's text to its hits."""
    spent = []
    for _ in range(count):
        time.sleep(_PAUSE)
        query = {"query": to_plain(Query(next(queries)))}
        start = time.perf_counter()
        child.call("search", query)
        spent.append(1000 * (time.perf_counter() - start))
    return spent


def figures(spent: Sequence[float]) -> dict[str, float]:
    return {f"p{p}": round(float(np.percentile(spent, p)), 1) for p in (50, 95)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--passages", type=int, default=400)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--queries", type=int, default=40, help="in each half of a run")
    arguments = parser.parse_args()
    dataset = load(arguments.dataset)
    texts, queries = [d.text for d in dataset.corpus], iter(dataset.queries.values())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / "library"
        base = make_files(folder / "base", texts[: arguments.passages])
        with ChildClient(JOB, library) as child:
            child.call("ingest", {"paths": [str(base)]})
        with ChildClient(SEARCH, library) as child:
            ask(child, queries, 3)
            for run in range(arguments.runs):
                idle = ask(child, queries, arguments.queries)
                first = arguments.passages + run * _NEW
                with Encoding(library, make_files(folder / f"new-{run}", texts[first : first + _NEW])) as job:
                    before = job.encoded
                    busy = ask(child, queries, arguments.queries)
                    encoded = job.encoded - before
                ratio = round(float(np.median(busy) / np.median(idle)), 2)
                row = {"idle ms": figures(idle), "busy ms": figures(busy), "encoded meanwhile": encoded}
                print(json.dumps({**row, "busy / idle (medians)": ratio}), flush=True)


if __name__ == "__main__":
    main()
