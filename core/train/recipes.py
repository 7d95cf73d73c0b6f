"""The recipes of adapting, by how long they may take: what is trained, on how many questions, how far."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.base.errors import KnownError
from core.train.m3_recipe import HeadsStage
from core.train.plans import COCONDENSER

QUICK, STANDARD, THOROUGH = "quick", "standard", "thorough"


@dataclass(frozen=True, slots=True)
class QueryStage:
    """The query side alone: `epochs` over the questions at `rate`, then part of the way by interpolation.

    Then `moments` epochs against what is found with the weights of the moment (ADORE), kept where that finds better.
    """

    epochs: int = 4
    rate: float = 5e-4
    layers: int = 1
    moments: int = 0


@dataclass(frozen=True, slots=True)
class ReaderStage:
    """A cross-encoder out of the first `layers` of the encoder, `epochs` over the questions at `rate`, each against
    `mined` passages. It teaches the encoder for `distilling` epochs, and reads the best hits where that finds more."""

    layers: int = 3
    epochs: int = 2
    rate: float = 1e-4
    mined: int = 24
    distilling: int = 2


@dataclass(frozen=True, slots=True)
class FullStage:
    """All weights: pre-training on the library by `objective` (see `core.train.plans`) for `pretraining` steps after
    `warmup` steps of its fresh layers alone, then two rounds of fine-tuning, `epochs` each; with a `reader` SimLM's
    four stages in their place.

    No more than `questions` are trained on, of all kinds: each costs five passages in both directions. With `refresh`
    the negatives of the second round are found anew by the encoder of the moment (ANCE).
    """

    pretraining: int = 60
    warmup: int = 100
    pretraining_rate: float = 2e-5
    questions: int = 1_500
    epochs: int = 1
    rate: float = 1e-5
    refresh: bool = True
    objective: str = COCONDENSER
    reader: ReaderStage | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """`questions` are trained on at most; `minutes` is what a stage may take on a slow machine before it is cut.

    A local language model, where one is installed, may take `writing` minutes to write questions of its own. With
    `heads` the encoder gets token heads in the end, if search finds more with them.
    """

    name: str
    questions: int
    minutes: float
    query: QueryStage = field(default_factory=QueryStage)
    full: FullStage | None = None
    writing: float = 0.0
    heads: HeadsStage | None = None


RECIPES = {
    QUICK: Recipe(QUICK, 2_000, 6.0),
    STANDARD: Recipe(STANDARD, 4_000, 45.0, QueryStage(epochs=6, rate=1e-3), FullStage(), writing=5.0),
    THOROUGH: Recipe(
        THOROUGH,
        20_000,
        480.0,
        QueryStage(epochs=8, rate=1e-3, layers=2, moments=1),
        FullStage(400, questions=10_000, epochs=3, reader=ReaderStage()),
        writing=60.0,
        heads=HeadsStage(),
    ),
}


def named(name: str) -> Recipe:
    """
    Raises:
        KnownError: there is no such recipe.
    """
    if name not in RECIPES:
        raise KnownError(f"There is no recipe {name!r}.", f"Choose among {', '.join(RECIPES)}.")
    return RECIPES[name]
