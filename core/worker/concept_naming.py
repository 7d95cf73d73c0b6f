"""Names for concepts by the local language model: as many as the given minutes allow, each kept as soon as it stands.

Nothing is locked: a name is one small write to a row that is there or not, so a fit may come in between.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.answer.backend import Backend
from core.base.errors import ModelMissing
from core.base.events import Control, Listener, Progress, ignore
from core.base.types import Concept
from core.concepts.fit import DESCRIBED_PASSAGES
from core.concepts.labels import shown
from core.concepts.lsa import word_space
from core.concepts.material import even
from core.concepts.naming import Namer
from core.concepts.terms import Text
from core.concepts.vocabulary import Vocabulary
from core.encode.encoder import Encoder
from core.index.concept_model import ConceptModel
from core.index.neutral_encoder import alike
from core.index.snapshot import Floats, Snapshot
from core.store import concepts as stored
from core.store import database, living
from core.store.concepts import PERSON
from core.worker.finding import encoder_for
from core.worker.roles.answer import load_backend

STAGE = "naming"
_PROBE, _LEAST_KEPT = 12, 3  # a model of whose first names fewer are kept is not up to it
_TRIED = "concept-names-tried"


@dataclass(frozen=True, slots=True)
class Naming:
    """`asked` names were written, `kept` led to the passages better than those by contrast, `faults` counts the others.

    `capable` is False where the model was given up after its first names; `left` concepts were not asked about.
    """

    asked: int
    kept: int
    left: int
    capable: bool
    faults: dict[str, int] = field(default_factory=dict)


def name_concepts(
    library: Path, minutes: float, *, control: Control | None = None, listener: Listener = ignore,
    load: Callable[[], Backend | None] = load_backend, encoder: Encoder | None = None,
) -> Naming:  # fmt: skip
    """Let the local language model name the concepts, the most frequent first; goes on where an earlier call ended.

    Raises:
        ModelMissing: there is no language model, or there are no concepts. Cancelled: what was kept stays.
    """
    control = control or Control()
    backend = load()
    if backend is None:
        raise ModelMissing("There is no local language model that could write names.", "Add one: whymatch models add.")
    try:
        with Snapshot.open(library) as snapshot:
            return _named(library, snapshot, encoder or encoder_for(library), backend, minutes, control, listener)
    finally:
        backend.close()


def _named(
    library: Path, snapshot: Snapshot, encoder: Encoder, backend: Backend, minutes: float, control: Control,
    listener: Listener,
) -> Naming:  # fmt: skip
    until = time.monotonic() + 60 * minutes
    name = snapshot.generation.concepts
    if not name:
        raise ModelMissing("This library has no concepts yet.", "They come with enough passages: add documents.")
    listener(Progress(STAGE, 0, 0))
    model = ConceptModel.load(library / "models" / name)
    db = database.open_writer(library)
    try:
        every = stored.concepts(db, name)
        tried = _tried(db, name, backend.id)
        waiting = [c for c in every if c.id not in tried and c.named_by != PERSON and not c.hidden]
        namer, active_NM = _prepared(snapshot, model, encoder, backend, control)
        faults: Counter[str] = Counter()
        labels = {c.id: c.label for c in every}
        for number, concept in enumerate(waiting):
            if time.monotonic() >= until or _given_up(number, faults):
                break
            control.check()
            taken = {label.casefold() for latent, label in labels.items() if latent != concept.id}
            trial = namer(active_NM[:, concept.id], concept.label, concept.terms, taken)
            tried.add(concept.id)
            labels[concept.id] = trial.name or concept.label
            faults[trial.fault] += 1
            _keep(db, name, concept, trial.name, backend.id, tried)
            listener(Progress(STAGE, number + 1, len(waiting)))
        asked, kept = sum(faults.values()), faults.pop("", 0)
        return Naming(asked, kept, len(waiting) - asked, not _given_up(asked, faults | {"": kept}), dict(faults))
    finally:
        db.conn.close()


def _prepared(
    snapshot: Snapshot, model: ConceptModel, encoder: Encoder, backend: Backend, control: Control
) -> tuple[Namer, Floats]:
    """A namer over an even sample of the passages, and their activations [N, M].

    Names are judged by the words alone and by the encoder, each with half a vote.
    """
    ids = snapshot.ids()
    ids = ids[even(len(ids), DESCRIBED_PASSAGES)]
    found = snapshot.passages(ids.tolist())
    kept = [i for i in ids.tolist() if i in found]
    texts = [shown(found[i]) for i in kept]
    vectors = snapshot.vectors(np.array(kept, np.int64))
    space = word_space(Vocabulary(texts, control))
    same = alike(encoder, snapshot.means)

    def by_words(name: Text) -> Floats:
        return space.vectors @ space.fold(name)

    def by_encoder(name: Text) -> Floats:
        return np.asarray(vectors @ same.encode([name.text], kind="query")[0], np.float32)

    return Namer(backend, texts, (by_words, by_encoder), control), model.encode(vectors)


def _given_up(asked: int, faults: Counter[str] | dict[str, int]) -> bool:
    return asked >= _PROBE and faults.get("", 0) < _LEAST_KEPT


def _tried(db: Database, name: str, writer: str) -> set[int]:
    """The concepts that this writer was asked about before."""
    told = json.loads(living.meta(db, _TRIED) or "{}")
    return set(told["latents"]) if told.get("concepts") == name and told.get("writer") == writer else set()


def _keep(db: Database, name: str, concept: Concept, written: str, writer: str, tried: set[int]) -> None:
    with database.transaction(db):
        if written:
            stored.put_name(db, name, concept.id, written)
        living.set_meta(db, _TRIED, json.dumps({"concepts": name, "writer": writer, "latents": sorted(tried)}))
