"""Adapting as the `job` child tells it: what a recipe takes, how a run ended, what the gate measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.base.wire import from_plain

QUICK, STANDARD, THOROUGH = RECIPES = ("quick", "standard", "thorough")
RUNNING, STOPPED, ACCEPTED, REFUSED = "running", "stopped", "accepted", "refused"
UNDECIDED, TAKEN_BACK, FAILED = "undecided", "taken-back", "failed"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a recipe takes on this computer: seconds as (low, high), memory and disk in bytes.

    `reason` says why it cannot be begun (too few documents); then the figures mean nothing.
    """

    recipe: str
    seconds: tuple[float, float] = (0.0, 0.0)
    memory: int = 0
    disk: int = 0
    questions: int = 0
    passages: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RecipeSetting:
    """A field of a recipe. `kind` is yes-no, whole, number or choice; `stage` where it says whether a stage is done;
    `default` is what the recipe has by itself."""

    name: str
    kind: str
    value: Any
    default: Any
    text: str
    source: str
    low: float = 0.0
    high: float = 1.0
    choices: tuple[str, ...] = ()
    stage: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of the gate: `figure` was measured, `limit` is what it had to reach."""

    name: str
    passed: bool
    figure: float
    limit: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """A held-out question whose passage moved: its ranks before and after, None beyond the last that was looked at."""

    question: str
    before: int | None
    after: int | None
    document: int | None = None
    passage: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate found on `queries` held-out questions: means of nDCG@10 before and after, the difference of the
    dense channel with its 95 % interval, and questions whose passage moved `up` or `down`."""

    accepted: bool
    decided: bool
    reason: str
    before: float = 0.0
    after: float = 0.0
    delta: float = 0.0
    low: float = 0.0
    high: float = 0.0
    fused_before: float = 0.0
    fused_after: float = 0.0
    queries: int = 0
    kinds: dict[str, float] | None = None
    checks: tuple[Check, ...] = ()
    up: tuple[Moved, ...] = ()
    down: tuple[Moved, ...] = ()

    @property
    def failed(self) -> str:
        """Name of the first check that did not pass; empty when all did."""
        return next((check.name for check in self.checks if not check.passed), "")


@dataclass(frozen=True, slots=True)
class Read:
    """A reranker that was tried on the best hits: `reranker` names it where it is used; the fused figures of its
    verdict are those of the search without it and with it."""

    reranker: str
    weight: float
    gate: Verdict


@dataclass(frozen=True, slots=True)
class Headed:
    """Learned weights of words and token vectors: nDCG@10 of the whole search `without` them and `after`. `encoder` is
    empty where they are not used."""

    encoder: str
    without: float
    after: float
    low: float
    high: float
    queries: int


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the history. `previous` is the generation that served before it, 0 when there is no way back."""

    number: int
    recipe: str
    started: str
    state: str
    seconds: float = 0.0
    generation: int = 0
    previous: int = 0
    minutes: int | None = None
    reason: str = ""
    gate: Verdict | None = None
    read: Read | None = None
    headed: Headed | None = None
    changes: dict[str, Any] = field(default_factory=dict)  # settings of the recipe that the person made

    @property
    def reads(self) -> bool:
        """Whether the run gave search a reranker."""
        return self.read is not None and bool(self.read.reranker)

    @property
    def weighs(self) -> bool:
        """Whether the run gave search learned weights of words."""
        return self.headed is not None and bool(self.headed.encoder)


def estimate(data: Mapping[str, Any]) -> Estimate:
    """Raises TypeError on a misfit."""
    return from_plain(Estimate, data)


def recipe_settings(data: Mapping[str, Any]) -> tuple[RecipeSetting, ...]:
    """Raises TypeError, KeyError on a misfit."""
    return tuple(from_plain(RecipeSetting, one) for one in data["settings"])


def runs(data: Any) -> list[Run]:
    """The newest first. Raises TypeError, KeyError on a misfit."""
    rows = data["runs"] if isinstance(data, Mapping) else data
    return sorted((_run(row) for row in rows), key=lambda run: run.number, reverse=True)


def _run(row: Mapping[str, Any]) -> Run:
    """The examples may stand beside the gate, as in the result of a run."""
    beside = {key: row[key] for key in ("up", "down") if row.get(key)}
    gate = {**row["gate"], **beside} if row.get("gate") else None
    numbers = {key: row.get(key) or 0 for key in ("seconds", "generation", "previous")}
    return from_plain(Run, {**row, **numbers, "reason": row.get("reason") or "", "gate": gate})
