r"""Adapting a library without a judgement, measured on the judgements: nDCG@10 before and after, by channel.

    PYTHONPATH=. python tests/benchmarks/bench_adapt.py FOLDER_OF_SETS --sets cranfield,cacm \
        [--recipe quick] [--model ID] [--vectors FOLDER] [--out FILE.jsonl] [--keep FOLDER]

Each set becomes a library of its own (each line of its corpus a passage), which is adapted by the recipe exactly as the
app does it; queries and judgements of the set are used for nothing but the measuring. `accepted` tells what the gate
said; where it refused nothing was changed, and `after` tells what the refused candidate would have done. Vectors that
are there already (NAME.npz with P and Q) are not encoded again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from bench_table import fill  # the folder of a script is on its path

from core.base.events import Control, Curve, Event, Progress
from core.encode.encoder import QUERY, Encoder
from core.encode.load import open_encoder, serve
from core.encode.towers import TwoTowers
from core.evaluate.datasets import Dataset, load
from core.evaluate.kept_vectors import KeptVectors, Remembering
from core.evaluate.run import DENSE, FUSED, Evaluation, evaluate, evaluate_encoder
from core.evaluate.significance import compare
from core.evaluate.throwaway import build
from core.models import adapted
from core.models.bundles import find
from core.search.searcher import Searcher
from core.worker import adapting
from core.worker.finding import encoder_for

MEASURE = "ndcg@10"


def library(folder: Path, data: Dataset, model: str, vectors: Path | None) -> None:
    """A library of the set's corpus in `folder`."""
    encoder = open_encoder(model)
    folder.mkdir(parents=True, exist_ok=True)
    with KeptVectors(folder.parent / "vectors.db") as kept:
        if vectors is not None:
            fill(kept, encoder, vectors / model / f"{data.name}.npz", data)
        build(folder, data, Remembering(encoder, kept), Control(), lambda event: None)


def measured(folder: Path, data: Dataset, encoder: Encoder | None = None) -> Evaluation:
    """With what serves the library, or with another `encoder`, for which a library is made anew if need be."""
    if encoder is not None and encoder.id != encoder_for(folder).id:
        return evaluate_encoder(data, encoder, (DENSE, FUSED), measures=(MEASURE,), clock=False)
    searcher = Searcher(folder, encoder or encoder_for(folder))
    try:
        return evaluate(data, searcher, (DENSE, FUSED), measures=(MEASURE,), clock=False)
    finally:
        searcher.close()


def told(event: Event) -> None:
    if isinstance(event, Progress) and event.done == 0:
        print(f"  {event.stage}", file=sys.stderr, flush=True)
    if isinstance(event, Curve) and event.step % 20 == 1:
        print(f"    {event.stage} {event.step}: {event.loss:.3f}", file=sys.stderr, flush=True)


def row(name: str, recipe: str, before: Evaluation, after: Evaluation, run: dict, seconds: float) -> dict:
    found: dict = {"set": name, "recipe": recipe, "accepted": run["gate"]["accepted"], "seconds": round(seconds, 1)}
    for channel in (DENSE, FUSED):
        compared = compare("after", "before", MEASURE, after.values[channel][MEASURE], before.values[channel][MEASURE])
        found[channel] = {
            "before": before.channels[channel][MEASURE], "after": after.channels[channel][MEASURE],
            "delta": round(100 * compared.delta, 2), "low": round(100 * compared.low, 2),
            "high": round(100 * compared.high, 2), "p": round(compared.p, 4),
        }  # fmt: skip
    gate = run["gate"]
    found["gate"] = {key: gate[key] for key in ("reason", "delta", "low", "high", "queries", "kinds")}
    found["checks"] = {check["name"]: check["figure"] for check in gate["checks"]}
    found["stages"] = run["stages"]
    return found


def one(folder: Path, options: argparse.Namespace, where: Path) -> dict:
    data = load(folder)
    if not (where / "library.db").exists():
        library(where, data, options.model, options.vectors)
    before, begun = measured(where, data), time.monotonic()
    run = adapting.adapt(where, options.recipe, options.minutes, control=Control(), listener=told)
    seconds = time.monotonic() - begun
    after = measured(where, data) if run["gate"]["accepted"] else measured(where, data, candidate(where))
    return row(data.name, options.recipe, before, after, run, seconds)


def candidate(folder: Path) -> Encoder:
    """The encoder that was refused: its bundle stays until the next sweep."""
    own = adapted.folder(folder)
    newest = max(own.glob("*+*"), key=lambda path: path.stat().st_mtime)
    bundle, present = find(newest.name, own), encoder_for(folder)
    return TwoTowers(present, serve(bundle)) if bundle.config.get("role") == QUERY else serve(bundle)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", required=True)
    parser.add_argument("--recipe", default="quick")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--keep", type=Path, help="where the libraries stay; by default they are thrown away")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as thrown:
        root = options.keep or Path(thrown)
        for name in options.sets.split(","):
            found = one(options.folder / name, options, root / name / "library")
            print(json.dumps(found), flush=True)
            if options.out is not None:
                with options.out.open("a") as file:
                    file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
