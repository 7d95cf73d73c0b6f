"""Quality and speed of search, on demand.

    WHYMATCH_SHARED=... python tests/benchmarks/bench_search.py quality scifact cranfield cacm
    python tests/benchmarks/bench_search.py scale 50000

`quality` evaluates test collections with the active encoder. `scale` makes an index of random passages and
times its parts: adding, merging, opening, searching (CPU and wall time; wall times mean little on a busy machine).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.base.events import Event, Progress, Throttle
from core.base.types import BM25
from core.base.wire import to_plain
from core.encode.load import open_encoder
from core.evaluate.datasets import load
from core.evaluate.run import evaluate_encoder
from core.index.snapshot import Snapshot
from core.text.analyze import query_terms
from tests.shelf import DIMENSION, Item, Shelf, unit_vectors

_BATCH = 2000
T = TypeVar("T")


def quality(names: list[str]) -> None:
    encoder = open_encoder()
    throttle = Throttle(10.0)

    def tell(event: Event) -> None:
        if isinstance(event, Progress) and throttle.ready():
            print(f"{event.stage} {event.done}/{event.total}", file=sys.stderr)

    for name in names:
        dataset = load(Path(os.environ["WHYMATCH_SHARED"]) / "datasets" / name)
        print(json.dumps(to_plain(evaluate_encoder(dataset, encoder, listener=tell))), flush=True)


def scale(count: int) -> None:
    """Passages of 120 words drawn from a vocabulary with Zipf's distribution."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 30_001)
    vocabulary = np.array([f"w{n}" for n in range(len(shares))])
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        writer = shelf.writer()
        for start in range(0, count, _BATCH):
            words = rng.choice(vocabulary, (min(_BATCH, count - start), 120), p=shares / shares.sum())
            vectors = unit_vectors(len(words), start)
            pairs = zip(words, vectors, strict=True)
            stored = shelf.store([Item(f"/s/{start + n:07d}", " ".join(w), v) for n, (w, v) in enumerate(pairs)])
            timed(f"add at {start}", lambda s=stored, v=vectors: writer.add(s, v))  # type: ignore[misc]
            timed(f"merge at {start}", writer.merge)
        timed("commit", writer.commit)
        snapshot = timed("open", lambda: Snapshot.open(shelf.folder))
        asked = rng.choice(vocabulary, (50, 6), p=shares / shares.sum())
        queries = [query_terms(" ".join(words), ["en"]) for words in asked]
        timed("50 word searches", lambda: [snapshot.sparse(BM25, query, 200) for query in queries])
        vectors = unit_vectors(50, 1)
        timed(f"50 dense searches, {DIMENSION} dimensions", lambda: [snapshot.dense(v, 200) for v in vectors])
        snapshot.close()


def timed(what: str, work: Callable[[], T]) -> T:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    spent = (1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu))
    print(f"{what}: {spent[0]:.0f} ms wall, {spent[1]:.0f} ms CPU", flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["quality", "scale"])
    parser.add_argument("values", nargs="+", help="data sets, or the number of passages")
    arguments = parser.parse_args()
    if arguments.what == "quality":
        quality(arguments.values)
    else:
        scale(int(arguments.values[0]))


if __name__ == "__main__":
    main()
