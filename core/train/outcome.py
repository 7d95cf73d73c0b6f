"""What became of adapting: the stages, the verdict, and questions whose passages moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from core.base.events import Listener, Progress
from core.train.gate import Verdict

TEXTS = 6  # questions shown of those that moved up, and of those that moved down


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage that was done; `metrics` are its figures by name."""

    name: str
    steps: int
    seconds: float
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Moved:
    """A held-out question whose passage moved: its ranks by meaning before and after, from 1."""

    question: str
    before: int
    after: int
    passage: int
    document: int


@dataclass(frozen=True, slots=True)
class Read:
    """A reranker's verdict: `tried` names it, and `reranker` too where it was accepted, with its `weight`."""

    reranker: str
    weight: float
    gate: Verdict
    tried: str = ""


@dataclass(frozen=True, slots=True)
class Headed:
    """What token heads did: nDCG@10 of the whole search `without` and with them (`after`), and their difference with
    95 % confidence, on `queries` held-out questions. `encoder` names the bundle with them where they pay, and `weights`
    are those of the channels then."""

    encoder: str
    weights: Mapping[str, float]
    without: float
    after: float
    low: float
    high: float
    queries: int


def renamed(listener: Listener, stage: str) -> Listener:
    """Tells all progress as that of `stage`: what is read in to judge by is no new index for the library."""
    return lambda event: listener(replace(event, stage=stage) if isinstance(event, Progress) else event)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`queries` and `encoder` name the bundle that was accepted, for questions alone or for all texts; both are empty
    where the gate refused. `read` is there where a reranker was tried, `headed` where token heads were."""

    recipe: str
    stages: tuple[StageReport, ...]
    gate: Verdict
    up: tuple[Moved, ...] = ()
    down: tuple[Moved, ...] = ()
    queries: str = ""
    encoder: str = ""
    read: Read | None = None
    headed: Headed | None = None
