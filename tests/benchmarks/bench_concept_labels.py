"""Fits concepts on real passages and prints what they keep, what they cost, and how they read.

`python tests/benchmarks/bench_concepts.py CORPUS.jsonl [--passages N] [--labels N]` encodes the passages with the
active encoder (cached in a file beside the temporary folder's other files), trains with the app's own settings, and
prints fidelity, seconds, a control with random directions, and a sample of labels to be read by a person.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.base.types import Passage
from core.concepts.describe import describe
from core.concepts.fidelity import measure, nmse
from core.concepts.material import gather
from core.concepts.sae import export, train
from core.concepts.settings import plan
from core.concepts.terms import Text
from core.concepts.vocabulary import Vocabulary
from core.encode.encoder import Encoder, input_text
from core.encode.load import open_encoder
from core.index.concept_model import ConceptModel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--passages", type=int, default=1_500)
    parser.add_argument("--labels", type=int, default=30)
    parser.add_argument("--language", default="en")
    chosen = parser.parse_args()
    encoder = open_encoder()
    passages = read(chosen.corpus, chosen.passages, chosen.language)
    vectors = encoded(encoder, passages)
    clock = Clock()
    material = gather(passages, vectors, encoder)
    clock.lap("sentences and titles")
    config = plan(len(passages), len(material.train), encoder.dimension)
    model = export(train(material.train, config))
    clock.lap("training")
    print(
        json.dumps(
            {"passages": len(passages), "vectors": len(material.train), "latents": config.latents, "k": config.k}
        )
    )
    print(json.dumps(measure(model, vectors, material)))
    control = random_directions(model, vectors)
    mean = vectors[material.train_rows].mean(0)
    print(json.dumps({"nmse_random_directions": round(nmse(control, vectors, mean), 4)}))
    active = model.encode(vectors)
    named = describe(Vocabulary([Text(f"{p.title}\n{p.text}", p.language) for p in passages]), active)
    clock.lap("labels")
    print(json.dumps({"named": len(named), "of": model.latents}))
    for d in np.random.default_rng(0).permutation(np.array(named, object))[: chosen.labels]:
        print(f"{int((active[:, d.latent] > 0).sum()):5d}  {d.label}    | {', '.join(d.terms)}")


class Clock:
    """Prints wall and CPU seconds of each stage."""

    def __init__(self) -> None:
        self._last = time.perf_counter(), time.process_time()

    def lap(self, stage: str) -> None:
        now = time.perf_counter(), time.process_time()
        print(f"{stage}: {now[0] - self._last[0]:.1f} s, CPU {now[1] - self._last[1]:.1f} s")
        self._last = now


def read(corpus: Path, most: int, language: str) -> list[Passage]:
    lines = corpus.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines[:: max(1, len(lines) // most)][:most]]
    return [
        Passage(n, n, 0, row["text"], 0, len(row["text"]), None, None, (), language, title=row.get("title", ""))
        for n, row in enumerate(rows)
    ]


def encoded(encoder: Encoder, passages: list[Passage]) -> np.ndarray:
    texts = [input_text((), p.text, p.title) for p in passages]
    name = hashlib.sha256("\0".join([encoder.id, *texts]).encode()).hexdigest()[:16]
    cache = Path(tempfile.gettempdir()) / f"whymatch-bench-{name}.npy"
    if not cache.exists():
        np.save(cache, encoder.encode(texts))
    return np.load(cache)


def random_directions(model: ConceptModel, vectors: np.ndarray) -> ConceptModel:
    """As many random directions, of which as many are active: what structure alone gives."""
    unit = np.random.default_rng(0).normal(size=model.decoder.shape).astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    control = replace(model, encoder=unit, decoder=unit, encoder_bias=np.zeros(len(unit), np.float32))
    pre = control.preactivations(vectors)
    kept = int((model.encode(vectors) > 0).sum())
    return replace(control, threshold=float(np.partition(pre.ravel(), -kept)[-kept]))


if __name__ == "__main__":
    main()
