"""How much processor time a search child needs from its start to the first hits. On demand:

    python tests/benchmarks/bench_start.py [MODEL] [STARTS]

A small library is made with the model (default: the active encoder); then a child is started several times, asked one
query and ended. Medians of CPU seconds (the whole life of the child) and of wall seconds to the hits.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from core.base.events import Control, ignore
from core.base.types import Query
from core.base.wire import to_plain
from core.encode.load import open_encoder
from core.worker.client import ChildClient
from core.worker.ingesting import ingest
from core.worker.protocol import SEARCH

ROOT = Path(__file__).parents[2]
QUERY = {"query": to_plain(Query("how the ferries are kept safe in a storm"))}


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def start(library: Path) -> tuple[float, float]:
    """CPU seconds of one child's life, wall seconds to its first hits."""
    cpu, wall = children(), time.perf_counter()
    with ChildClient(SEARCH, library) as child:
        found = child.call("search", QUERY)
        wall = time.perf_counter() - wall
        assert found["hits"], "no hits"
    return children() - cpu, wall


def main(arguments: Sequence[str]) -> None:
    encoder = open_encoder(arguments[0] if arguments else None)
    starts = int(arguments[1]) if len(arguments) > 1 else 7
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        ingest(library, [ROOT / "resources/sample/documents/incident-sallow-island.md"], control=Control(),
               listener=ignore, encoder=encoder)  # fmt: skip
        figures = [start(library) for _ in range(starts)]
    cpu, wall = (statistics.median(column) for column in zip(*figures, strict=True))
    print(f"{encoder.id}: {cpu:.2f} s CPU, {wall:.2f} s to the first hits (medians of {starts} starts)")


if __name__ == "__main__":
    main(sys.argv[1:])
