"""What steering a search and looking at concepts cost, and how far steering moves the hits.

`python tests/benchmarks/bench_steering.py LIBRARY QUERIES.jsonl` (lines with `text`) asks a library that has concepts.
Milliseconds are the processor's, since the machine may be busy: the median, and the largest beside it. The first call,
which reads the codes of all passages, stands by itself.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.base.types import Filters, Query
from core.worker.concept_views import Concepts
from core.worker.finding import Finder

TOP = 10


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    made = work()
    return 1000 * (time.process_time() - start), made


def told(name: str, milliseconds: list[float]) -> None:
    print(f"{name:28} {np.median(milliseconds):8.1f} {max(milliseconds):8.1f}", flush=True)


def asked(finder: Finder, concepts: Concepts, texts: list[str]) -> None:
    """Each text plain, then with its first concept muted, doubled and required; and what is shown beside it."""
    spent: dict[str, list[float]] = {}
    new: dict[str, list[float]] = {"mute": [], "boost": []}
    for text in texts:
        query = Query(text, k=TOP, rerank=False)
        took, held = timed(lambda query=query: concepts.of_query(finder.searcher, query))
        spent.setdefault("concepts of a query", []).append(took)
        took, plain = timed(lambda query=query: finder.search(query))
        spent.setdefault("search", []).append(took)
        spent.setdefault("facets", []).append(
            timed(lambda query=query: concepts.facets(finder.searcher.found(query).ranking.ids))[0]
        )
        if not held:
            continue
        one = held[0].id
        for name, steered in (
            ("mute", replace(query, boosts={one: 0.0})), ("boost", replace(query, boosts={one: 2.0})),
            ("require", replace(query, required=(one,))),
        ):  # fmt: skip
            took, found = timed(lambda steered=steered: finder.search(steered))
            spent.setdefault(f"search, {name}", []).append(took)
            if name in new:
                before = {hit.passage.id for hit in plain.hits}
                new[name].append(len({hit.passage.id for hit in found.hits} - before))
        best = plain.hits[0].passage.id
        spent.setdefault("more like a passage", []).append(
            timed(lambda best=best: finder.search(Query("", k=TOP, like=best)))[0]
        )
    for name, milliseconds in spent.items():
        told(name, milliseconds)
    for name, counts in new.items():
        print(f"{name}: {np.mean(counts):.2f} of {TOP} hits are others")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--count", type=int, default=30)
    options = parser.parse_args()
    texts = [json.loads(line)["text"] for line in options.queries.read_text().splitlines()][: options.count]
    finder = Finder(options.library)
    took, concepts = timed(finder.concepts)
    assert concepts is not None, "the library has no concepts"
    print(f"{concepts.snapshot.passage_count} passages, {len(concepts.every)} concepts; opened in {took:.0f} ms")
    told("first profile", [timed(lambda: concepts.profile(Filters()))[0]])
    asked(finder, concepts, texts)
    told("map", [timed(concepts.map)[0] for _ in range(3)])
    documents = [p.document_id for p in concepts.snapshot.passages(concepts.snapshot.ids().tolist()).values()]
    half = Filters(documents=tuple(documents[::2])), Filters(documents=tuple(documents[1::2]))
    told("profile of half", [timed(lambda: concepts.profile(half[0]))[0] for _ in range(5)])
    told("difference of halves", [timed(lambda: concepts.difference(*half))[0] for _ in range(5)])
    some = sorted(concepts.every.values(), key=lambda c: -c.passages)[:: max(1, len(concepts.every) // 10)]
    told("detail", [timed(lambda one=one: concepts.detail(one.id, finder.encoder))[0] for one in some])
    finder.close()


if __name__ == "__main__":
    main()
