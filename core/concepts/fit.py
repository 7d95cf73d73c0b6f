"""Fitting the concepts of a library: gather, train, measure, describe, and store all of it or nothing."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from core.base.errors import ModelDamaged, ModelMissing
from core.base.events import Control, Listener, Progress, Throttle
from core.base.types import Concept, Passage
from core.concepts.choice import choose
from core.concepts.fidelity import measure
from core.concepts.folder import FOLDER, PREFIX, prune, put
from core.concepts.heirs import Heritage, hand_on, heritage, keep_labels
from core.concepts.intruder import intruder
from core.concepts.labels import label, shown
from core.concepts.lsa import word_space
from core.concepts.material import TRAINING_PASSAGES, Material, even, gather
from core.concepts.settings import SaeConfig, candidates
from core.concepts.stale import LEAST_PASSAGES
from core.concepts.vocabulary import Vocabulary
from core.encode.encoder import Encoder
from core.index.concept_model import FORMAT, ConceptModel
from core.index.neutral import Means
from core.index.neutral_encoder import alike
from core.index.snapshot import Snapshot
from core.store.concepts import default_labels, put_concepts, written
from core.store.database import transaction

STAGE = "concepts"
DESCRIBED_PASSAGES = 3_000  # of a larger library an even sample is read for the labels
_CHUNK = 4_096
_JUDGE_SEED = 0
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
    concepts, left = _concepts(library, db, name, model, corpus, snapshot, control)
    with transaction(db):
        put_concepts(db, name, concepts)
        if left is not None:
            hand_on(db, left, name)
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
    plans = [asdict(config) for config in candidates(len(corpus.hashes), len(corpus.hashes), corpus.vectors.shape[1])]
    settings = json.dumps(plans, sort_keys=True)
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
    """The best of the candidates for the library's size."""
    began = time.monotonic()
    _tell(listener, 0)
    material = gather(corpus.passages, corpus.vectors, alike(encoder, means), control)
    plans = candidates(len(corpus.hashes), len(material.train), corpus.vectors.shape[1])
    judge = _judge(corpus, control) if len(plans) > 1 else None
    models, figures = [], []
    for n, config in enumerate(plans):
        models.append(_trained(material, config, control, listener, n / len(plans), (n + 1) / len(plans)))
        known = measure(models[-1], corpus.vectors, material) | {"k": config.k, "latents": config.latents}
        figures.append(known | ({"intruder": judge(models[-1])} if judge else {}))
    choice = choose(figures)
    record = {
        "fidelity": figures[choice.index], "candidates": figures, "choice": choice.reason,
        "training_vectors": len(material.train), "seconds": round(time.monotonic() - began, 2),
    }  # fmt: skip
    return _with_record(models[choice.index], encoder_id, corpus, means, record)


def _judge(corpus: _Corpus, control: Control) -> Callable[[ConceptModel], float]:
    """The intruder test by the words of the passages."""
    rows = even(len(corpus.passages), DESCRIBED_PASSAGES)
    texts = [shown(corpus.passages[row]) for row in rows]
    space = word_space(Vocabulary(texts, control)).vectors
    languages = np.unique([text.language for text in texts], return_inverse=True)[1]

    def judge(model: ConceptModel) -> float:
        found = intruder(model.encode(corpus.vectors[rows]), space, _JUDGE_SEED, groups=languages)
        return 0.0 if np.isnan(found) else round(found, 4)

    return judge


def _trained(
    material: Material, config: SaeConfig, control: Control, listener: Listener, begin: float, end: float
) -> ConceptModel:
    from core.concepts.sae import export, train  # torch: only when there is something to train

    throttle = Throttle()

    def on_step(step: int, error: float) -> None:
        if throttle.ready():
            _tell(listener, int(20 + 65 * (begin + (end - begin) * step / config.steps)))

    return export(train(material.train, config, control, on_step))


def _with_record(
    model: ConceptModel, encoder_id: str, corpus: _Corpus, means: Means | None, record: dict[str, Any]
) -> ConceptModel:
    config = {
        **model.config,
        "encoder": encoder_id,
        "dimension": model.decoder.shape[1],
        "data": _data_hash(corpus, encoder_id, means),
        "languages": list(means.languages) if means else [],
        "passages": len(corpus.ids),
        **record,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return replace(model, config=config)


def _concepts(
    library: Path, db: Database, name: str, model: ConceptModel, corpus: _Corpus, snapshot: Snapshot, control: Control
) -> tuple[list[Concept], Heritage | None]:
    """The latents that can be named, and what they take over from the concepts before."""
    passages, active_NM = _described(corpus, model)
    fires_M = np.zeros(model.latents, np.int64)
    for start in range(0, len(corpus.ids), _CHUNK):
        control.check()
        fires_M += (model.encode(snapshot.vectors(corpus.ids[start : start + _CHUNK])) > 0).sum(0)
    concepts = label(passages, active_NM, fires_M, len(corpus.ids), control)
    hashes = snapshot.hashes_of([p.id for p in passages])
    named_NM = np.where(np.isin(np.arange(model.latents), [c.id for c in concepts]), active_NM, np.float32(0))
    left = heritage(library, db, snapshot.generation, name, model, passages, [hashes[p.id] for p in passages], named_NM)
    if left is not None:
        texts = {p.id: p.text for p in passages}
        former = default_labels(db, left.name)
        concepts = keep_labels(concepts, former, left.pairs, texts, written(db, left.name))
    return concepts, left


def _described(corpus: _Corpus, model: ConceptModel) -> tuple[list[Passage], Floats]:
    """The passages that name and judge the latents, with their activations."""
    rows = even(len(corpus.passages), DESCRIBED_PASSAGES)
    return [corpus.passages[row] for row in rows], model.encode(corpus.vectors[rows])


def _tell(listener: Listener, done: int) -> None:
    listener(Progress(STAGE, done, _STEPS))
