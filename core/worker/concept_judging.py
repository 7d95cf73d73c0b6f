"""The intruder test on a library, read by a person or by the local language model instead of by the words' space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.answer.backend import Backend
from core.base.errors import ModelMissing
from core.base.events import Control, Listener, Progress, ignore
from core.concepts.fit import DESCRIBED_PASSAGES
from core.concepts.intruder import Trials, draw
from core.concepts.judges import Choose, by_choice, by_model
from core.concepts.labels import shown
from core.concepts.material import even
from core.index.concept_model import ConceptModel
from core.index.snapshot import Snapshot
from core.library import Library
from core.worker.roles.answer import load_backend

STAGE = "judging"


@dataclass(frozen=True, slots=True)
class Judged:
    """`found` of `asked` intruders were found; one in ten is guessing. `by_words` is what the words' space finds, None
    where that was not measured."""

    asked: int
    found: float
    by_words: float | None


def judge_concepts(
    library: Path, puzzles: int, choose: Choose | None = None, *, control: Control | None = None,
    listener: Listener = ignore, load: Callable[[], Backend | None] = load_backend, seed: int = 0,
) -> Judged:  # fmt: skip
    """Put as many puzzles, each about another concept, to `choose`; without it to the local language model.

    Raises:
        ModelMissing: there is no language model, or there are no concepts. Cancelled: through `control`.
    """
    trials, texts, quality = _drawn(library, puzzles, seed)
    backend = load() if choose is None else None
    if choose is None:
        if backend is None:
            raise ModelMissing("There is no local language model that could judge.", "Add one: whymatch models add.")
        choose = by_model(backend, control)
    try:
        judge = by_choice(texts, choose)
        credits = []
        for number, one in enumerate(trials):
            listener(Progress(STAGE, number, len(trials)))
            credits.append(float(judge(one)[0]))
    finally:
        if backend is not None:
            backend.close()
    return Judged(len(trials), round(sum(credits), 3), round(float(np.mean(quality)), 3) if quality else None)


def _drawn(library: Path, puzzles: int, seed: int) -> tuple[list[Trials], list[str], list[float]]:
    """One puzzle for each of some concepts, the texts they are of, and the concepts' qualities."""
    with Snapshot.open(library) as snapshot:
        name = snapshot.generation.concepts
        if not name:
            raise ModelMissing("This library has no concepts yet.", "They come with enough passages: add documents.")
        ids = snapshot.ids()
        ids = ids[even(len(ids), DESCRIBED_PASSAGES)]
        found = snapshot.passages(ids.tolist())
        kept = [i for i in ids.tolist() if i in found]
        active_NM = ConceptModel.load(library / "models" / name).encode(snapshot.vectors(np.array(kept, np.int64)))
    texts = [shown(found[i]) for i in kept]
    groups = np.unique([text.language for text in texts], return_inverse=True)[1]
    luck = np.random.default_rng(seed)
    reader = Library.open(library)
    try:
        named = {c.id: c.quality for c in reader.concepts(name) if not c.hidden}
    finally:
        reader.close()
    trials: list[Trials] = []
    quality: list[float] = []
    for latent in luck.permutation(sorted(named)).tolist():
        if len(trials) == puzzles:
            break
        drawn = draw(active_NM[:, latent], latent, luck, 1, groups=groups, least=2)
        if drawn is not None:
            trials.append(drawn)
            quality.append(named[latent])
    return trials, [text.text for text in texts], [q for q in quality if q >= 0]
