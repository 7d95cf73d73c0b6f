"""What an autoencoder keeps of real libraries' rankings, whether its latents are understood, and what a fit costs.

`python tests/benchmarks/bench_concepts.py DATASETS --out FILE [--vectors FOLDER] [--sets ...] [--k ...] [--seeds ...]`
appends one JSON line a run to FILE and leaves out what is there already, so that it can be stopped at any time;
`--table` prints what FILE holds. Vectors are read from FOLDER/MODEL/SET.npz (`P` passages in the order of the corpus,
`Q` judged queries) and encoded when they are not there; sentences, titles and models are kept beside FILE.

Real judged queries are asked, with true vectors, of rebuilt passages. Time is the processor's, since the machine may be
busy. The judge of the intruder test knows the passages' words alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.base.types import Passage
from core.concepts.fidelity import measure, order_kept
from core.concepts.intruder import intruder, random_directions, raw_dimensions
from core.concepts.labels import shown
from core.concepts.lsa import word_space
from core.concepts.match import match_share
from core.concepts.material import Material, even, gather
from core.concepts.sae import export, train
from core.concepts.settings import plan
from core.concepts.vocabulary import Vocabulary
from core.encode.encoder import input_text
from core.encode.load import open_encoder
from core.evaluate.datasets import Dataset, load
from core.evaluate.metrics import ndcg, recall
from core.index.concept_model import ConceptModel
from core.index.neutral import estimate
from core.index.neutral_encoder import alike
from core.text.language import detect

ENGLISH, MANY = "all-MiniLM-L6-v2", "multilingual-e5-small"
MODELS = {"scifact": ENGLISH, "npl": ENGLISH, "tydiqa-en-train": ENGLISH, "multi-dev": MANY}
JUDGED = 3_000  # passages that the judge reads, as in the app


@dataclass(frozen=True)
class Library:
    """A data set as a library: `passages`, their vectors [N, D] and those of its judged queries [Q, D]."""

    name: str
    data: Dataset
    passages: list[Passage]
    vectors: np.ndarray
    queries: np.ndarray
    material: Material

    @cached_property
    def dense(self) -> tuple[float, float]:
        return self.ranked(self.vectors)

    @cached_property
    def judge(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of the passages that are judged, the space of their words, and their languages."""
        rows = even(len(self.passages), JUDGED)
        texts = [shown(self.passages[row]) for row in rows]
        languages = np.unique([text.language for text in texts], return_inverse=True)[1]
        return rows, word_space(Vocabulary(texts)).vectors, languages

    def understood(self, activations: np.ndarray) -> float:
        _, space, languages = self.judge
        return round(intruder(activations, space, 0, groups=languages), 4)

    def ranked(self, passages: np.ndarray) -> tuple[float, float]:
        """nDCG@10 and recall@100 with these vectors for the passages."""
        scores = self.queries @ passages.T
        near = np.argsort(-scores, axis=1, kind="stable")[:, :100]
        ids = [document.id for document in self.data.corpus]
        found = [([ids[i] for i in row], self.data.qrels[q]) for row, q in zip(near, self.data.queries, strict=True)]
        return float(np.mean([ndcg(*f) for f in found])), float(np.mean([recall(*f) for f in found]))


def opened(folder: Path, name: str, vectors: Path, cache: Path) -> Library:
    data = load(folder / name)
    languages = [detect(c.text) if MODELS[name] == MANY else "en" for c in data.corpus]
    passages = [
        Passage(n, n, 0, c.text, 0, len(c.text), None, None, (), language, title=c.title)
        for n, (c, language) in enumerate(zip(data.corpus, languages, strict=True))
    ]
    encoder = open_encoder(MODELS[name])
    plain, asked = encoded(encoder, data, passages, vectors / MODELS[name] / f"{name}.npz")
    means = estimate(plain, languages)
    if means is not None:
        plain, asked = means.passages(plain, languages), means.queries(asked)
    kept = cache / f"material-{name}.npz"
    if not kept.exists():
        made = gather(passages, plain, alike(encoder, means))
        np.savez(kept, **{field: getattr(made, field) for field in Material.__dataclass_fields__})
    return Library(name, data, passages, np.float32(plain), np.float32(asked), Material(**np.load(kept)))


def encoded(encoder: Any, data: Dataset, passages: list[Passage], path: Path) -> tuple[np.ndarray, np.ndarray]:
    if path.exists():
        found = np.load(path)
        return found["P"], found["Q"]
    texts = [input_text((), passage.text, passage.title) for passage in passages]
    return encoder.encode(texts), encoder.encode(list(data.queries.values()), kind="query")


def run(library: Library, k: int, seed: int, cache: Path) -> dict[str, Any]:
    config = replace(plan(len(library.passages), len(library.material.train), library.vectors.shape[1], k), seed=seed)
    began = time.process_time()
    model = export(train(library.material.train, config))
    seconds = time.process_time() - began
    model.save(model_folder(cache, library.name, k, seed))
    rebuilt = model.decode(model.encode(library.vectors))
    found, true = library.ranked(rebuilt), library.dense
    rows, _, _ = library.judge
    figures = measure(model, library.vectors, library.material)
    figures.update({
        "ndcg10_kept": found[0] / true[0], "r100_kept": found[1] / true[1],
        "spearman": order_kept(library.queries @ library.vectors.T, library.queries @ rebuilt.T),
        "intruder": library.understood(model.encode(library.vectors[rows])),
        "intruder_random": library.understood(random_directions(library.vectors[rows], config.latents, k, seed)),
    })  # fmt: skip
    return {
        "set": library.name, "k": k, "seed": seed, "passages": len(library.passages), "latents": config.latents,
        "steps": config.steps, "cpu_s": round(seconds, 1), "ms_step": round(1000 * seconds / config.steps, 1),
        "dense": true, **{name: round(float(value), 4) for name, value in figures.items()},
    }  # fmt: skip


def model_folder(cache: Path, name: str, k: int, seed: int) -> Path:
    folder = cache / f"{name}-{k}-{seed}"
    folder.mkdir(exist_ok=True)
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def add(path: Path, row: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)


def missing(done: list[dict[str, Any]], name: str, ks: list[int], seeds: list[int]) -> Iterator[tuple[int, int]]:
    there = {(row["set"], row.get("k"), row.get("seed")) for row in done}
    yield from ((k, seed) for seed, k in itertools.product(seeds, ks) if (name, k, seed) not in there)


def matches(library: Library, k: int, seeds: list[int], cache: Path) -> float:
    models = [ConceptModel.load(model_folder(cache, library.name, k, seed)) for seed in seeds]
    pairs = itertools.permutations(models, 2)
    return round(float(np.mean([match_share(one, other, library.vectors) for one, other in pairs])), 4)


def table(rows: list[dict[str, Any]]) -> None:
    names = ("nmse", "nmse_held_out", "ndcg10_kept", "r100_kept", "spearman", "dead", "l0", "l0_held_out",
             "l0_questions", "intruder", "intruder_random", "cpu_s")  # fmt: skip
    print("| set | k | seeds | latents |", " | ".join(names), "|")
    print("|---" * (len(names) + 4) + "|")
    runs = [row for row in rows if "nmse" in row]
    for name, k in sorted({(row["set"], row["k"]) for row in runs}):
        same = [row for row in runs if (row["set"], row["k"]) == (name, k)]
        means = " | ".join(f"{np.mean([row[n] for row in same]):.3f}" for n in names)
        print(f"| {name} | {k} | {len(same)} | {same[0]['latents']} | {means} |")
    for row in rows:
        if "nmse" not in row:
            print(json.dumps(row))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, default=Path("vectors"))
    parser.add_argument("--sets", nargs="+", default=list(MODELS))
    parser.add_argument("--k", nargs="+", type=int, default=[32, 16, 64, 128])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--table", action="store_true")
    chosen = parser.parse_args()
    if chosen.table:
        return table(lines(chosen.out))
    cache = chosen.out.with_suffix(".kept")
    cache.mkdir(parents=True, exist_ok=True)
    for name in chosen.sets:
        library = opened(chosen.datasets, name, chosen.vectors, cache)
        if not any(row["set"] == name and "intruder_raw" in row for row in lines(chosen.out)):
            rows, _, _ = library.judge
            add(chosen.out, {"set": name, "intruder_raw": library.understood(raw_dimensions(library.vectors[rows]))})
        for k, seed in missing(lines(chosen.out), name, chosen.k, chosen.seeds):
            add(chosen.out, run(library, k, seed, cache))
        for k in chosen.k if len(chosen.seeds) > 1 else []:
            add(chosen.out, {"set": name, "match": matches(library, k, chosen.seeds, cache), "of_k": k})


if __name__ == "__main__":
    main()
