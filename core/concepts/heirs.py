"""What is handed on when a library's concepts are fitted anew: names, the person's marks, lenses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from core.base.errors import IndexDamaged, ModelDamaged, ModelMissing
from core.base.types import Concept, Generation, Passage
from core.concepts.folder import FOLDER
from core.concepts.match import carry, carry_by_use
from core.index import generation, neutral
from core.index.concept_model import ConceptModel
from core.store import lenses
from core.store import passages as stored
from core.store.concepts import carry_marks

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Heritage:
    """The concepts that a new model comes after, and which of its latents mean the same (`pairs`: old to new)."""

    name: str
    pairs: dict[int, int]


def heritage(
    library: Path, db: Database, current: Generation, name: str, new: ConceptModel, passages: Sequence[Passage],
    hashes: Sequence[str], active_NM: Floats,
) -> Heritage | None:  # fmt: skip
    """Match the model `name` with the one in use before; None when there was none that can be read.

    `active_NM` are the new model's activations on `passages` [N] with `hashes`. Models of one encoder are compared by
    their decoders; of two, by what they say of the same passages, as far as the old vectors are still stored.
    """
    found = _predecessor(library, current, name)
    if found is None:
        return None
    made, old = found
    if old.config.get("encoder") == new.config.get("encoder") and old.decoder.shape[1] == new.decoder.shape[1]:
        return Heritage(made.concepts, carry(old, new, alive=np.any(active_NM > 0, axis=0)))
    rows, former_NO = _former_activations(library, db, made, old, passages, hashes)
    return Heritage(made.concepts, carry_by_use(former_NO, active_NM[rows]) if len(rows) else {})


def hand_on(db: Database, left: Heritage, name: str) -> None:
    """Give the person's marks and lenses to the concepts `name`; call in the transaction that stores those."""
    carry_marks(db, left.name, name, left.pairs)
    lenses.carry(db, left.name, name, left.pairs)


def keep_labels(
    fresh: Sequence[Concept], former: Mapping[int, str], pairs: Mapping[int, int], texts: Mapping[int, str]
) -> list[Concept]:
    """Matched concepts keep their `former` label (by old latent) where it still says something about them.

    All parts of the label must stand in `texts` of the concept's examples (so a name does not outlive the documents
    that it came from), and no other concept may have it.
    """
    wanted = {new: former[old] for old, new in pairs.items() if old in former}
    taken = {c.label.casefold() for c in fresh}
    kept = []
    for concept in fresh:
        label = wanted.get(concept.id, "")
        strongest = "\n".join(texts.get(i, "") for i in concept.examples).casefold()
        stands = bool(label) and all(part in strongest for part in label.casefold().split(", "))
        if stands and label.casefold() not in taken:
            taken.add(label.casefold())
            concept = replace(concept, label=label)
        kept.append(concept)
    return kept


def _predecessor(library: Path, current: Generation, name: str) -> tuple[Generation, ConceptModel] | None:
    """The concepts in use, else the newest that can still be read."""
    for made in (current, *reversed(generation.history(library))):
        if made.concepts and made.concepts != name:
            try:
                return made, ConceptModel.load(library / FOLDER / made.concepts)
            except (ModelMissing, ModelDamaged):
                continue
    return None


def _former_activations(
    library: Path, db: Database, made: Generation, model: ConceptModel, passages: Sequence[Passage],
    hashes: Sequence[str],
) -> tuple[NDArray[np.int64], Floats]:  # fmt: skip
    """Rows of `passages` whose vectors of that generation's encoder are still stored, and their activations there.

    No rows where the vectors or the generation's language means are gone.
    """
    nothing = np.empty(0, np.int64), np.empty((0, model.latents), np.float32)
    data = stored.vectors(db, made.encoder, hashes)
    rows = np.array([row for row, key in enumerate(hashes) if key in data], np.int64)
    if not len(rows):
        return nothing
    vectors = np.stack([np.frombuffer(data[hashes[row]], "<f4") for row in rows])
    if made.means:
        try:
            means = neutral.read(library / made.means, made.dimension)
        except IndexDamaged:
            return nothing
        vectors = means.passages(vectors, [passages[row].language for row in rows])
    return rows, model.encode(vectors)
