"""Dense search of a library against bare FAISS on the same vectors, in turns: flat search on one thread.

    python tests/benchmarks/bench_dense.py scifact.npz --count 100000

The file holds unit vectors `P` [N, D] and query vectors `Q` [M, D]. With --count as many vectors are made of them
(means of two with a little noise). Printed as JSON: median CPU and wall microseconds a query, their ratio, and the
share of the exact nearest that ours finds (all, unless the file is large enough for codes).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.index.snapshot import Snapshot
from tests.benchmarks.bench_large import mixed
from tests.shelf import Item, Shelf

_QUERIES = 100


def compare(
    vectors: np.ndarray, queries: np.ndarray, k: int, runs: int, snapshot: Snapshot, library: Path
) -> dict[str, object]:
    bare = _bare(vectors, snapshot, library)
    faiss.omp_set_num_threads(1)
    times: dict[str, list[tuple[float, float]]] = {"ours": [], "faiss": []}
    for _ in range(runs):
        for query in queries:
            times["ours"].append(_spent(lambda q=query: snapshot.dense(q, k)))  # type: ignore[misc]
            times["faiss"].append(_spent(lambda q=query: bare.search(q[None, :], k)))  # type: ignore[misc]
    exact = [set(bare.search(q[None, :], k)[1][0].tolist()) for q in queries]
    found = [set(snapshot.ordinals(snapshot.dense(q, k)[0]).tolist()) for q in queries]
    cpu = {name: statistics.median(t[0] for t in spent) for name, spent in times.items()}
    return {
        "passages": len(vectors), "k": k, "queries": len(queries) * runs,
        "cpu us": {name: round(value) for name, value in cpu.items()},
        "wall us": {name: round(statistics.median(t[1] for t in spent)) for name, spent in times.items()},
        "ours / faiss (cpu)": round(cpu["ours"] / cpu["faiss"], 3),
        "recall": round(float(np.mean([len(a & b) / k for a, b in zip(exact, found, strict=True)])), 4),
    }  # fmt: skip


def _bare(vectors: np.ndarray, snapshot: Snapshot, library: Path) -> faiss.Index:
    """The library's own file, mapped, where it is flat; else a flat index in memory."""
    index = faiss.read_index(str(library / snapshot.generation.segments[0].dense_path), faiss.IO_FLAG_MMAP_IFC)
    if not isinstance(index, faiss.IndexFlat):
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
    return index


def _make(library: Path, vectors: np.ndarray) -> None:
    shelf = Shelf(library, dimension=vectors.shape[1])
    writer = shelf.writer()
    stored = shelf.store([Item(f"/s/{n:07d}", "word", vector) for n, vector in enumerate(vectors)])
    writer.add(stored, vectors)
    writer.commit()
    shelf.close()


def _spent(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall microseconds."""
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    work()
    return (time.process_time_ns() - cpu) / 1000, (time.perf_counter_ns() - wall) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    file = np.load(arguments.vectors)
    vectors, queries = file["P"].astype(np.float32), file["Q"].astype(np.float32)
    rng = np.random.default_rng(0)
    if arguments.count:
        vectors = mixed(vectors, arguments.count, rng)
    queries = queries[rng.permutation(len(queries))[:_QUERIES]]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        _make(library, vectors)
        with Snapshot.open(library) as snapshot:
            for k in (10, 200):
                print(json.dumps(compare(vectors, queries, k, arguments.runs, snapshot, library)), flush=True)


if __name__ == "__main__":
    main()
