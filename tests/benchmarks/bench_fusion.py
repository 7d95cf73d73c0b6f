"""How to fuse: several rules on several data sets at once, and what each set would get from the other sets' choice.

    python tests/benchmarks/bench_fusion.py DATASETS --only scifact,cacm,... [--vectors FOLDER] [--queries 300]

Vectors are kept as in bench_table.py. The last lines hold, for each set, the nDCG@10 of the rule that is best on the
mean of all other sets (leave one out): a rule that is tuned to one set does badly there.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from bench_table import ENGLISH, OTHERS, chosen, fill, language

from core.base.events import Control, ignore
from core.base.types import BM25, DENSE, Query
from core.encode.load import open_encoder
from core.evaluate.datasets import Dataset, load
from core.evaluate.kept_vectors import KeptVectors, Remembering
from core.evaluate.metrics import ndcg
from core.evaluate.run import passage_names
from core.evaluate.throwaway import build
from core.search.fuse import Fusing, Method
from core.search.searcher import Searcher

BARE = Fusing(feedback=False, adaptive=False)
RULES = {
    "rrf": Fusing(Method.RECIPROCAL, feedback=False, adaptive=False),
    "z": BARE,
    "z, dense 0.6": Fusing(weights={DENSE: 0.6}, feedback=False, adaptive=False),
    "z, dense 1.5": Fusing(weights={DENSE: 1.5}, feedback=False, adaptive=False),
    "z, feedback": Fusing(adaptive=False),
    "z, adaptive": Fusing(feedback=False),
    "z, both": Fusing(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--queries", type=int, default=300)
    options = parser.parse_args()
    columns = [BM25, DENSE, *RULES]
    print("|".join(["data set".ljust(18), *(c.rjust(12) for c in columns)]))
    table: dict[str, list[float]] = {}
    for folder in chosen(options.datasets, options.only):
        table[folder.name] = measured(folder, options)
        print("|".join([folder.name.ljust(18), *(f"{v:12.4f}" for v in table[folder.name])]), flush=True)
    for name, values in table.items():
        others = np.array([row[2:] for other, row in table.items() if other != name])
        if len(others):
            best = int(others.mean(axis=0).argmax())
            print(f"{name:18s} without it the others choose {list(RULES)[best]!r}: {values[2 + best]:.4f}")


def measured(folder: Path, options: argparse.Namespace) -> list[float]:
    data = load(folder)
    step = max(1, len(data.queries) // options.queries)
    encoder = open_encoder(ENGLISH if language(folder) == "en" else OTHERS)
    with KeptVectors() as kept, tempfile.TemporaryDirectory() as library:
        if options.vectors:
            fill(kept, encoder.id, options.vectors / encoder.id / f"{folder.name}.npz", data)
        known = Remembering(encoder, kept)
        build(Path(library), data, known, Control(), ignore)
        asked = list(data.queries.items())[::step]
        alone = [ranked(Path(library), known, data, asked, BARE, (channel,)) for channel in (BM25, DENSE)]
        return [*alone, *(ranked(Path(library), known, data, asked, rule, (BM25, DENSE)) for rule in RULES.values())]


def ranked(
    library: Path, encoder: Remembering, data: Dataset, asked: list[tuple[str, str]], rule: Fusing,
    channels: tuple[str, ...],
) -> float:  # fmt: skip
    searcher = Searcher(library, encoder, rule)
    try:
        names = passage_names(data, searcher)
        values = []
        for query, text in asked:
            ids = searcher.ranking(Query(text, channels=channels, literal=True), 100).ids[:50].tolist()
            documents = list(dict.fromkeys(name for i in ids for name in names.get(i, ())))
            values.append(ndcg(documents, data.qrels[query]))
        return float(np.mean(values))
    finally:
        searcher.close()


if __name__ == "__main__":
    main()
