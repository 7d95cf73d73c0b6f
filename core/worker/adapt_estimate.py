"""What a recipe takes on this machine, from a short trial of its steps on this library."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.base.errors import KnownError
from core.base.types import Query
from core.encode.encoder import Encoder
from core.encode.export import WEIGHTS
from core.models import adapted
from core.models.bundles import LLM, active, find
from core.search.searcher import Searcher
from core.store import database
from core.train import material
from core.train.ground import require_enough
from core.train.m3_recipe import MOST_BYTES
from core.train.recipe_fields import Value, changed
from core.train.recipes import FullStage, ReaderStage, Recipe, named
from core.train.types import Piece
from core.worker.finding import encoder_for

_TRIED = 16  # passages whose beginnings are searched as questions would be
_SPREAD = (0.7, 1.8)  # times the estimate: other work on the machine, and what a trial does not see
_A_PASSAGE = 2.0  # questions that a passage gives at most, as a rule
_STEP = 3.0  # a step of training costs as much as so many passes forward (Kaplan et al. 2020)
_POOL = 4_000
_LAYERS = 6  # of an encoder, about
_LESSONS = 20  # passages of a question that the reranker scores
_WRITTEN = 2.0  # seconds a question of the local model
_EXPORT_SECONDS = 30.0
_WORKING_MEMORY = 1_200_000_000  # torch with a small model at work
_ENCODINGS = 4  # of the whole library by encoders on the way
_TOKENS = 200  # of a passage
_FULL_MEMORY, _WEIGHTS_IN_MEMORY = 1_900_000_000, 10  # measured: 3.6 GB in all with 90 MB of weights, 7.9 with 470 MB
_COPIES = 12  # of the model: checkpoints with their moments, the candidate, its graphs


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds as (low, high); memory and disk in bytes. `reason` says why the recipe cannot be begun."""

    recipe: str
    seconds: tuple[float, float] = (0.0, 0.0)
    memory: int = 0
    disk: int = 0
    questions: int = 0
    passages: int = 0
    reason: str = ""


def estimate(library: Path, recipe: str, changes: Mapping[str, Value] | None = None) -> Estimate:
    """Try the steps of the recipe, with its fields as `changes` set them, for a moment on this library and machine.

    Raises:
        NotALibrary, ModelMissing
        KnownError: there is no such recipe, or it has no such field.
    """
    database.require(library)
    chosen = changed(named(recipe), changes or {})
    db = database.open_reader(library)
    try:
        pieces = material.read(db)
    finally:
        db.conn.close()
    try:
        require_enough(len(pieces))
    except KnownError as error:
        return Estimate(recipe, passages=len(pieces), reason=f"{error.message} {error.advice}")
    return _tried(library, chosen, pieces)


def _tried(library: Path, recipe: Recipe, pieces: Sequence[Piece]) -> Estimate:
    encoder = encoder_for(library)
    some = [piece for piece in pieces[:: max(1, len(pieces) // _TRIED)] if piece.text.strip()][:_TRIED]
    asked = [" ".join(piece.text.split()[:12]) for piece in some]
    searching = _searching(library, encoder, asked)
    query, passage = _encoding(encoder, asked, "query"), _encoding(encoder, [p.input for p in some], "passage")
    questions = int(min(recipe.questions, _A_PASSAGE * len(pieces)))
    pool = min(len(pieces), _POOL)
    seconds = 2.5 * questions * searching + 2 * pool * passage + _EXPORT_SECONDS
    seconds += recipe.query.epochs * questions * query * _STEP
    if recipe.writing and active(LLM) is not None:
        seconds += min(60 * recipe.writing, _WRITTEN * len(pieces))
    if recipe.full is not None:
        seconds += _full_seconds(recipe.full, questions, len(pieces), query, passage)
    if recipe.heads is not None:  # the states of all passages once, and the whole library read anew
        seconds += 2 * len(pieces) * passage
    low, high = _SPREAD
    sizes = find(encoder.id, adapted.folder(library)).config["sizes"]
    size = int(sizes.get(WEIGHTS, sum(sizes.values())))
    return Estimate(
        recipe.name, (low * seconds, high * seconds), _memory(recipe, size) + 4 * encoder.dimension * len(pieces),
        _COPIES * size + _kept(recipe, len(pieces), encoder.dimension), questions, len(pieces),
    )  # fmt: skip


def _memory(recipe: Recipe, size: int) -> int:
    """Bytes: the query side alone, or all weights with their gradients and moments, and whole batches of passages."""
    return _WORKING_MEMORY + (_FULL_MEMORY + _WEIGHTS_IN_MEMORY * size if recipe.full is not None else 0)


def _kept(recipe: Recipe, pieces: int, dimension: int) -> int:
    """Bytes of what is encoded and kept while it runs: the library's vectors by each encoder that is tried, and the
    token states that heads learn from."""
    vectors = _ENCODINGS * 4 * dimension * pieces if recipe.full is not None else 0
    states = min(MOST_BYTES, _TOKENS * 2 * dimension * pieces) if recipe.heads is not None else 0
    return vectors + states


def _full_seconds(stage: FullStage, questions: int, pieces: int, query: float, passage: float) -> float:
    """Pre-training of 64 spans a step in two passes, two rounds of five passages a question, three encodings of all."""
    asked = min(questions, stage.questions)
    pretraining = stage.pretraining * 64 * passage / 2 * (_STEP + 1)
    rounds = 2 * stage.epochs * asked * (5 * passage + query) * (_STEP + 1)
    reading = 0.0 if stage.reader is None else _reading_seconds(stage.reader, asked, passage)
    return pretraining + rounds + reading + 4 * pieces * passage


def _reading_seconds(stage: ReaderStage, asked: int, passage: float) -> float:
    """A reranker of fewer layers sees eight pairs a question, twice each (R-drop), scores its lessons, and teaches."""
    pair = passage * stage.layers / _LAYERS
    lessons, distilling = asked * _LESSONS * pair, stage.distilling * asked * 9 * passage * (_STEP + 1)
    return stage.epochs * asked * 16 * pair * _STEP + lessons + distilling


def _searching(library: Path, encoder: Encoder, texts: Sequence[str]) -> float:
    """Seconds a question, text to ranking."""
    searcher = Searcher(library, encoder)
    try:
        searcher.ranking(Query(texts[0], literal=True), 200)  # opens the files
        begun = time.perf_counter()
        for text in texts:
            searcher.ranking(Query(text, literal=True), 200)
        return (time.perf_counter() - begun) / len(texts)
    finally:
        searcher.close()


def _encoding(encoder: Encoder, texts: Sequence[str], kind: str) -> float:
    """Seconds a text."""
    begun = time.perf_counter()
    encoder.encode(texts, kind=kind)
    return (time.perf_counter() - begun) / len(texts)
