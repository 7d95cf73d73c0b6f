"""Whether explanations are true, and what they cost: counterfactuals, sums and processor time on a real library.

`python tests/benchmarks/bench_faithful.py DATASET --library FOLDER [--vectors FILE.npz] [--pairs N] [--words N]` makes
a library of a data set (BEIR layout, see `core.evaluate.datasets`) with the active encoder and fits its concepts, or
takes the one that is there; `--vectors` are the passages' unit vectors `P` [N, D] where they are known. Of N pairs of a
query and a hit it prints in JSON

- `vector`: in which share the top concept, taken out of the passage's vector (made a unit vector again), costs more
  than another one of the library, and than another one that is active in the passage;
- `words`: the same for the words in which the top concept was said to stand, taken out of the text that is encoded
  again, against as many other words, in N pairs;
- `sums`: the largest error of the account against the score, of the parts of meaning, of pairs against their concept;
- `explain` and `why_not`: milliseconds of processor and wall time, the search before not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the search child has it

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.base.events import Control, ignore
from core.base.types import Explanation, Passage, Query, Span
from core.concepts.terms import content_words
from core.encode.encoder import Encoder, input_text
from core.encode.load import open_encoder
from core.evaluate.datasets import Dataset, load
from core.explain.faithful import tried
from core.index import generation
from core.index.concept_model import ConceptModel
from core.search.searcher import MatchContext
from core.worker.finding import Finder
from core.worker.ingesting import refit
from tests.shelf import Item, Shelf

RANKS = (1, 5, 2, 8, 3)  # of the hits that are explained, each for as many queries as there are
ABSENT = 40  # rank of a passage that is asked for


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--absent", type=int, default=20)
    chosen = parser.parse_args()
    data = load(chosen.dataset)
    if not (chosen.library / "library.db").exists():
        make(chosen.library, data, chosen.vectors)
    finder = Finder(chosen.library)
    try:
        print(json.dumps(measured(finder, data, chosen.library, chosen.pairs, chosen.words, chosen.absent)))
    finally:
        finder.close()


def make(library: Path, data: Dataset, vectors: Path | None) -> None:
    encoder = open_encoder()
    texts = [input_text((), one.text, one.title) for one in data.corpus]
    rows = np.load(vectors)["P"] if vectors else encoder.encode(texts)
    shelf = Shelf(library, encoder.id, encoder.dimension)
    shelf.add(
        [Item(f"/shelf/{one.id}.txt", one.text, row, one.title) for one, row in zip(data.corpus, rows, strict=True)]
    )
    shelf.close()
    refit(library, Control(), ignore)


@dataclass
class Clock:
    """Processor and wall time of many runs."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def __enter__(self) -> None:
        self._began = time.process_time(), time.perf_counter()

    def __exit__(self, *exc: object) -> None:
        self.cpu.append(1000 * (time.process_time() - self._began[0]))
        self.wall.append(1000 * (time.perf_counter() - self._began[1]))

    def told(self) -> dict[str, float]:
        middle = {name: round(float(np.median(v)), 1) for name, v in (("cpu", self.cpu), ("wall", self.wall))}
        return {"runs": len(self.cpu), **middle, "cpu_p95": round(float(np.percentile(self.cpu, 95)), 1)}


def pairs(finder: Finder, data: Dataset, most: int) -> Iterator[tuple[Query, int]]:
    """Queries with their hits at the `RANKS`, all queries at one rank before the next."""
    left = most
    for rank in RANKS:
        for text in data.queries.values():
            if left == 0:
                return
            query = Query(text, literal=True)
            hits = finder.search(query).hits
            if len(hits) >= rank:
                left -= 1
                yield query, hits[rank - 1].passage.id


def measured(
    finder: Finder, data: Dataset, library: Path, most: int, with_words: int, absent: int
) -> dict[str, object]:
    made = generation.current(library)
    assert made is not None
    model = ConceptModel.load(library / "models" / made.concepts)
    clock, luck, sums = Clock(), np.random.default_rng(0), Sums()
    live = np.flatnonzero(finder.searcher.snapshot().codes.counts()).tolist()
    wins: dict[str, list[bool]] = {"live": [], "active": []}
    words: list[tuple[float, float]] = []
    for query, passage_id in pairs(finder, data, most):
        with clock:
            found = finder.explain(query, passage_id)
        sums.add(found)
        match = finder.searcher.context(query, passage_id)
        for name, among in (("live", live), ("active", ())):
            if (trial := tried(model, *_vectors(match), found.concepts, luck, among)) is not None:
                wins[name].append(trial.faithful)
        if len(words) < with_words and (fell := without_words(finder.encoder, match, found, luck)):
            words.append(fell)
    fell = np.array(words).reshape(-1, 2)
    return {
        "passages": finder.searcher.snapshot().passage_count, "latents": model.latents, "fidelity": model.fidelity,
        "vector": {"pairs": len(wins["live"]), "top_costs_more_than": {n: float(np.mean(v)) for n, v in wins.items()}},
        "words": {
            "pairs": len(fell), "top_costs_more": round(float((fell[:, 0] > fell[:, 1]).mean()), 4),
            "fall": fell.mean(0).round(4).tolist(),
        },
        "sums": sums.told(), "explain": clock.told(), "why_not": absent_ones(finder, data, absent).told(),
    }  # fmt: skip


def _vectors(match: MatchContext) -> tuple[np.ndarray, np.ndarray]:
    assert match.query_vector is not None
    assert match.passage_vector is not None
    return match.query_vector, match.passage_vector


@dataclass
class Sums:
    account: float = 0.0
    meaning: float = 0.0
    pairs: float = 0.0
    explained: list[float] = field(default_factory=list)

    def add(self, found: Explanation) -> None:
        carried = sum(c.contribution for c in found.concepts)
        self.account = max(self.account, abs(sum(line.contribution for line in found.account) - found.score))
        self.meaning = max(self.meaning, abs(carried + found.common + found.residual - found.dense_score))
        for c in found.concepts:
            self.pairs = max(self.pairs, abs(sum(p.contribution for p in c.pairs) + c.rest - c.contribution))
        self.explained.append(found.explained_share)

    def told(self) -> dict[str, float]:
        return {
            "account": self.account, "meaning": self.meaning, "pairs": self.pairs,
            "explained_share": round(float(np.median(self.explained)), 3),
        }  # fmt: skip


def without_words(
    encoder: Encoder, match: MatchContext, found: Explanation, luck: np.random.Generator
) -> tuple[float, float] | None:
    """What the dense score loses without the words of the top concept, and without as many others at random."""
    passage, said = match.passage, found.concepts[0].words if found.concepts else ()
    every = {Span(t.start, t.end) for t in content_words(passage.text, passage.language)}
    others = sorted(every - set(said), key=lambda span: span.start)
    if not said or len(others) < len(said):
        return None
    at_random = [others[i] for i in luck.choice(len(others), len(said), replace=False)]
    texts = [input_text((), _cut(passage, spans), passage.title) for spans in ((), said, at_random)]
    scores = encoder.encode(texts) @ _vectors(match)[0]
    return float(scores[0] - scores[1]), float(scores[0] - scores[2])


def _cut(passage: Passage, spans: tuple[Span, ...] | list[Span]) -> str:
    text = passage.text
    for span in sorted(spans, key=lambda one: -one.start):
        text = text[: span.start] + text[span.end :]
    return text


def absent_ones(finder: Finder, data: Dataset, most: int) -> Clock:
    """Passages behind the hits are asked for."""
    clock = Clock()
    for text in list(data.queries.values())[:most]:
        query = Query(text, literal=True)
        ids = finder.searcher.ranking(query, ABSENT).ids
        finder.search(query)
        if len(ids) >= ABSENT:
            with clock:
                finder.why_not(query, int(ids[ABSENT - 1]))
    return clock


if __name__ == "__main__":
    main()
