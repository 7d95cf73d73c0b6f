"""What is handed on when a library's concepts are fitted anew: names, the person's marks, lenses."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from core.base.errors import IndexDamaged, ModelDamaged, ModelMissing
from core.base.types import Concept, Generation, Passage
from core.concepts.folder import FOLDER
from core.concepts.match import carry, carry_by_use
from core.concepts.terms import content_words
from core.index import generation, neutral
from core.index.concept_model import ConceptModel
from core.store import lenses
from core.store import passages as stored
from core.store.concepts import BY_MODEL, carry_marks, marks, standing_in

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Heritage:
    """The concepts `name` that a new model comes after, and which of its latents mean the same (`pairs`: old to new).

    `marks` are those matches for what the person says, None where the new model's own marks are the newest. `lenses`
    are the matches for each model that lenses are made for.
    """

    name: str
    pairs: dict[int, int]
    marks: dict[int, int] | None
    lenses: dict[str, dict[int, int]]


def heritage(
    library: Path, db: Database, current: Generation, name: str, new: ConceptModel, passages: Sequence[Passage],
    hashes: Sequence[str], active_NM: Floats,
) -> Heritage | None:  # fmt: skip
    """Match the model `name` with the one in use before; None when there was none that can be read.

    `active_NM` are the new model's activations on `passages` [N] with `hashes`, 0 for latents that cannot be named, on
    which all that the person says would be lost. Models of one encoder are compared by their decoders; of two, by what
    they say of the same passages, as far as the old vectors are still stored.
    """
    found = _predecessor(library, current, name)
    if found is None:
        return None
    made, old = found
    alive = np.any(active_NM > 0, axis=0)
    if _one_space(old, new):
        pairs = carry(old, new, alive=alive)
    else:
        rows, former_NO = _former_activations(library, db, made, old, passages, hashes)
        pairs = carry_by_use(former_NO, active_NM[rows]) if len(rows) else {}
    # what the person put together is one for them: one match is enough
    together = standing_in(pairs, marks(db, made.concepts))
    looked = {made.concepts: pairs | together} | _of_lenses(library, db, {name, made.concepts}, new, alive)
    return Heritage(made.concepts, pairs, None if current.concepts == name else together, looked)


def hand_on(db: Database, left: Heritage, name: str) -> None:
    """Give the person's marks and lenses to the concepts `name`; call in the transaction that stores those."""
    if left.marks is not None:
        carry_marks(db, left.name, name, left.marks)
    for model, pairs in left.lenses.items():
        lenses.carry(db, model, name, pairs)


def _of_lenses(
    library: Path, db: Database, known: Collection[str], new: ConceptModel, alive: NDArray[np.bool_]
) -> dict[str, dict[int, int]]:
    """Matches of the models, other than `known`, that have lenses: a fit that was killed before its commit has taken
    them over, and so has one that was taken back."""
    found = {}
    for name in (one for one in lenses.models(db) if one not in known):
        model = _readable(library, name)
        if model is not None and _one_space(model, new):
            found[name] = carry(model, new, alive=alive)
    return found


def keep_labels(
    fresh: Sequence[Concept], former: Mapping[int, str], pairs: Mapping[int, int], texts: Mapping[int, str],
    written: Collection[int] = (),
) -> list[Concept]:  # fmt: skip
    """Matched concepts keep their `former` label (by old latent) where it still says something about them.

    All parts of the label must stand in `texts` of the concept's examples (so a name does not outlive the documents
    that it came from), one of them must still set its passages apart, and no other concept may have it. A label that a
    language model wrote (old latents `written`) is in words of its own order: they must stand there each by itself.
    """
    wanted = {new: (former[old], old in written) for old, new in pairs.items() if old in former}
    taken = {c.label.casefold() for c in fresh}
    kept = []
    for concept in fresh:
        label, by_model = wanted.get(concept.id, ("", False))
        strongest = "\n".join(texts.get(i, "") for i in concept.examples).casefold()
        parts = [t.text for t in content_words(label, "")] if by_model else label.casefold().split(", ")
        stands = bool(label and parts) and all(part in strongest for part in parts)
        stands = stands and (by_model or not {t.casefold() for t in concept.terms}.isdisjoint(parts))
        if stands and label.casefold() not in taken:
            taken.add(label.casefold())
            concept = replace(concept, label=label, named_by=BY_MODEL if by_model else concept.named_by)
        kept.append(concept)
    return kept


def _predecessor(library: Path, current: Generation, name: str) -> tuple[Generation, ConceptModel] | None:
    """The concepts in use, else the newest that can still be read."""
    for made in (current, *reversed(generation.history(library))):
        model = _readable(library, made.concepts) if made.concepts not in ("", name) else None
        if model is not None:
            return made, model
    return None


def _readable(library: Path, name: str) -> ConceptModel | None:
    try:
        return ConceptModel.load(library / FOLDER / name)
    except (ModelMissing, ModelDamaged):
        return None


def _one_space(old: ConceptModel, new: ConceptModel) -> bool:
    """Whether both were trained on vectors of one encoder."""
    return old.config.get("encoder") == new.config.get("encoder") and old.decoder.shape[1] == new.decoder.shape[1]


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
