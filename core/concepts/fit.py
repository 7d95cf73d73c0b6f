"""Fitting the concepts of a library: gather, train, measure, describe, and store all of it or nothing."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from core.base.errors import ModelDamaged, ModelMissing
from core.base.events import Control, Listener, Progress, Throttle
from core.base.types import Concept, Passage
from core.concepts.fidelity import measure
from core.concepts.folder import FOLDER, PREFIX, prune, put
from core.concepts.labels import label
from core.concepts.material import TRAINING_PASSAGES, Material, even, gather
from core.concepts.settings import plan
from core.concepts.stale import LEAST_PASSAGES
from core.encode.encoder import Encoder
from core.index.concept_model import FORMAT, ConceptModel
from core.index.neutral import Means
from core.index.neutral_encoder import alike
from core.index.snapshot import Snapshot
from core.store.concepts import put_concepts
from core.store.database import transaction

STAGE = "concepts"
DESCRIBED_PASSAGES = 3_000  # of a larger library an even sample is read for the labels
_CHUNK = 4_096
_STEPS = 100  # of the progress: training, then the rest

__all__ = ["fit", "prune"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Corpus:
    """The passages that can be found, ordered by what the encoder saw of them, so that ids do not matter.

    Copies are learnt from once: `hashes` are distinct. Of a large library only an even sample is in memory,
    `passages` with their `vectors`.
    """

    ids: NDArray[np.int64]
    hashes: list[str]
    passages: list[Passage]
    vectors: Floats


def fit(
    library: Path, db: Database, snapshot: Snapshot, encoder: Encoder, control: Control, listener: Listener
) -> str | None:
    """Fit, label and store the concepts of the snapshot's passages; the name of their folder under `models/`.

    None when there are too few passages. A fit of the same passages with the same encoder is found again by its
    name, and only labelled anew.

    Raises:
        Cancelled: through `control`; nothing is stored. KnownError: the disk is full or not writable.
    """
    if snapshot.passage_count < LEAST_PASSAGES:
        return None
    corpus = _corpus(db, snapshot)
    if len(corpus.hashes) < LEAST_PASSAGES:
        return None
    name = PREFIX + _data_hash(corpus, snapshot.generation.encoder, snapshot.means)
    model = _known(library / FOLDER / name)
    if model is None:
        model = _fitted(corpus, snapshot.generation.encoder, encoder, snapshot.means, control, listener)
        put(model, library / FOLDER / name)
    _tell(listener, 90)
    concepts = _concepts(model, corpus, snapshot, control)
    with transaction(db):
        put_concepts(db, name, concepts)
    _tell(listener, _STEPS)
    return name


def _corpus(db: Database, snapshot: Snapshot) -> _Corpus:
    hashes = dict(db.execute("SELECT id, hash FROM passage").fetchall())
    ordered = sorted((i for i in snapshot.ids().tolist() if i in hashes), key=lambda i: (hashes[i], i))
    first = [i for n, i in enumerate(ordered) if n == 0 or hashes[i] != hashes[ordered[n - 1]]]
    sample = [first[n] for n in even(len(first), TRAINING_PASSAGES)]
    found = snapshot.passages(sample)
    sample = [i for i in sample if i in found]
    vectors = snapshot.vectors(np.array(sample, np.int64))
    return _Corpus(np.array(ordered, np.int64), [hashes[i] for i in first], [found[i] for i in sample], vectors)


def _data_hash(corpus: _Corpus, encoder: str, means: Means | None) -> str:
    """Names what went in: the same passages and encoder give the same model."""
    settings = json.dumps(asdict(plan(0, 0, 1)), sort_keys=True)
    data = "\n".join([str(FORMAT), settings, encoder, *corpus.hashes]).encode()
    taken_out = b"" if means is None else means.offsets.tobytes() + means.centre.tobytes()
    return hashlib.sha256(data + taken_out).hexdigest()[:16]


def _known(folder: Path) -> ConceptModel | None:
    try:
        return ConceptModel.load(folder, verify=True)
    except (ModelMissing, ModelDamaged):
        return None


def _fitted(
    corpus: _Corpus, encoder_id: str, encoder: Encoder, means: Means | None, control: Control, listener: Listener
) -> ConceptModel:
    from core.concepts.sae import export, train  # torch: only when there is something to train

    began = time.monotonic()
    vectors = corpus.vectors
    _tell(listener, 0)
    material = gather(corpus.passages, vectors, alike(encoder, means), control)
    config = plan(len(corpus.hashes), len(material.train), vectors.shape[1])
    throttle = Throttle()

    def on_step(step: int, error: float) -> None:
        if throttle.ready():
            _tell(listener, 20 + 65 * step // config.steps)

    model = export(train(material.train, config, control, on_step))
    figures = measure(model, vectors, material) | {"k": config.k, "latents": config.latents}
    return _with_record(model, encoder_id, corpus, means, material, figures, time.monotonic() - began)


def _with_record(
    model: ConceptModel, encoder_id: str, corpus: _Corpus, means: Means | None, material: Material,
    figures: dict[str, Any], seconds: float,
) -> ConceptModel:  # fmt: skip
    record = {
        **model.config,
        "encoder": encoder_id,
        "dimension": model.decoder.shape[1],
        "data": _data_hash(corpus, encoder_id, means),
        "languages": list(means.languages) if means else [],
        "passages": len(corpus.ids),
        "training_vectors": len(material.train),
        "fidelity": figures,
        "seconds": round(seconds, 2),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return ConceptModel(model.encoder, model.encoder_bias, model.decoder, model.bias, model.threshold, record)


def _concepts(model: ConceptModel, corpus: _Corpus, snapshot: Snapshot, control: Control) -> list[Concept]:
    """The latents that can be named, with the number of passages in which each is active."""
    fires = np.zeros(model.latents, np.int64)
    for start in range(0, len(corpus.ids), _CHUNK):
        control.check()
        fires += (model.encode(snapshot.vectors(corpus.ids[start : start + _CHUNK])) > 0).sum(0)
    rows = even(len(corpus.passages), DESCRIBED_PASSAGES)
    passages = [corpus.passages[row] for row in rows]
    return label(passages, model.encode(corpus.vectors[rows]), fires, len(corpus.ids), control)


def _tell(listener: Listener, done: int) -> None:
    listener(Progress(STAGE, done, _STEPS))
