"""Whether a trained encoder may take the place of the present one: on held-out questions, beyond doubt, or not at all.

Training loss says nothing of retrieval, and fine-tuning a strong encoder hurts as often as it helps (Tamber et al.
2025). So a candidate is compared with what serves now on questions that neither trained nor chose it, and every
check must pass. A refusal changes nothing and says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

LEAST_QUESTIONS = 50  # with fewer the interval is wider than any gain to be hoped for
LEAST_GROUPS = 6  # documents with held-out questions: drawing fewer of them again says nothing of chance
LEAST_OF_KIND = 20
SAMPLES = 4_000
_LEVEL = 0.95
_SEED = 20_26
RECALL_MARGIN = 0.005
KIND_MARGIN = 0.03  # what a kind of question may lose, when the others gain
PROBE_MARGIN = 0.02
FUSED_MARGIN = 0.005


@dataclass(frozen=True, slots=True)
class Measured:
    """One system on the held-out questions, all [Q]: nDCG@10 and recall@100 of its dense channel, nDCG@10 fused.

    `probe` [P] is nDCG@10 on general questions that have nothing to do with the library.
    """

    ndcg: Values
    recall: Values
    fused: Values
    probe: Values


@dataclass(frozen=True, slots=True)
class Health:
    """State of a set of vectors: whether all are numbers, the mean cosine of pairs, and their effective rank."""

    finite: bool
    mean_cosine: float
    rank: float


@dataclass(frozen=True, slots=True)
class Check:
    """One condition: `figure` was measured, `limit` is what it had to reach."""

    name: str
    passed: bool
    figure: float
    limit: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`before`, `after` and `delta` (with its 95 % interval) are means of dense nDCG@10 over `queries` questions;
    `fused_before` and `fused_after` those of the fused ranking. `decided` is False when there were too few questions
    to tell. `kinds` gives the difference for each kind of question that is frequent enough."""

    accepted: bool
    decided: bool
    reason: str
    before: float
    after: float
    delta: float
    low: float
    high: float
    fused_before: float
    fused_after: float
    queries: int
    checks: tuple[Check, ...] = ()
    kinds: Mapping[str, float] | None = None


def judge(
    present: Measured, candidate: Measured, kinds: Sequence[str], groups: Sequence[int], health: tuple[Health, Health]
) -> Verdict:
    """Compare on the same questions; `kinds` and `groups` are theirs [Q]. `health` is that of both, present first.

    The interval comes from a bootstrap over document groups, not over questions: those of one document are not
    independent.

    Source: Sakai 2006 (bootstrap of retrieval measures), with clusters as in Cameron, Gelbach & Miller 2008.
    """
    count = len(present.ndcg)
    change = candidate.ndcg - present.ndcg
    low, high = interval(change, groups)
    checks = (_health(*health), *_checks(present, candidate, low))
    changed = by_kind(change, kinds)
    checks += tuple(kind_check(kind, lost) for kind, lost in changed.items())
    decided = enough(groups)
    failed = next((check for check in checks if not check.passed), None)
    return Verdict(
        decided and failed is None, decided, reason(groups, failed), _mean(present.ndcg),
        _mean(candidate.ndcg), _mean(change), low, high, _mean(present.fused), _mean(candidate.fused), count, checks,
        changed,
    )  # fmt: skip


def interval(values: Values, groups: Sequence[int], samples: int = SAMPLES) -> tuple[float, float]:
    """Percentile bootstrap of the mean of `values` [Q], drawing whole groups with replacement (95 %)."""
    if len(values) == 0:
        return 0.0, 0.0
    _, places = np.unique(np.asarray(groups), return_inverse=True)
    sums, sizes = np.bincount(places, values), np.bincount(places)
    drawn = np.random.default_rng(_SEED).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=samples)
    means = (drawn @ sums) / (drawn @ sizes)
    low, high = np.quantile(means, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def _checks(present: Measured, candidate: Measured, low: float) -> tuple[Check, ...]:
    recall = _mean(candidate.recall) - _mean(present.recall)
    fused = _mean(candidate.fused) - _mean(present.fused)
    probe = _mean(candidate.probe) - _mean(present.probe)
    return (
        Check("gain", low > 0, low, 0.0, "it does not find more of the held-out questions' passages beyond doubt"),
        Check(
            "recall", recall >= -RECALL_MARGIN, recall, -RECALL_MARGIN, "some passages are no longer among the first"
        ),
        Check("fused", fused >= -FUSED_MARGIN, fused, -FUSED_MARGIN, "together with the words it finds less"),
        Check("probe", probe >= -PROBE_MARGIN, probe, -PROBE_MARGIN, "it has forgotten general knowledge of language"),
    )


def _health(present: Health, candidate: Health) -> Check:
    """Vectors that have fallen together tell nothing apart, whatever a few questions say."""
    narrow = max(present.mean_cosine + 0.2, 0.5)
    passed = candidate.finite and candidate.rank >= present.rank / 2 and candidate.mean_cosine <= narrow
    return Check("health", passed, candidate.rank, present.rank / 2, "its vectors have collapsed")


def by_kind(change: Values, kinds: Sequence[str]) -> dict[str, float]:
    """The mean change of each kind of question that is frequent enough."""
    named = np.asarray(kinds)
    found = {kind: named == kind for kind in sorted(set(kinds))}
    return {kind: float(change[own].mean()) for kind, own in found.items() if own.sum() >= LEAST_OF_KIND}


def kind_check(kind: str, change: float) -> Check:
    """Whether a kind of question may change by so much."""
    return Check(f"kind:{kind}", change >= -KIND_MARGIN, change, -KIND_MARGIN, f"questions of the kind {kind} lose")


def enough(groups: Sequence[int]) -> bool:
    """Whether held-out questions of these document groups [Q] are enough to tell anything."""
    return len(groups) >= LEAST_QUESTIONS and len(set(groups)) >= LEAST_GROUPS


def undecided(groups: Sequence[int]) -> str:
    """Why nothing can be told, in words; empty where it can."""
    if len(groups) < LEAST_QUESTIONS:
        return f"only {len(groups)} held-out questions, and {LEAST_QUESTIONS} are needed"
    if len(set(groups)) < LEAST_GROUPS:
        return f"the held-out questions come from too few documents ({len(set(groups))}; {LEAST_GROUPS} are needed)"
    return ""


def reason(groups: Sequence[int], failed: Check | None, better: str = "") -> str:
    """The verdict in a sentence; `better` is what is said of one that passed."""
    if why := undecided(groups):
        return f"Cannot tell: {why}. Nothing was changed."
    if failed is None:
        return better or "Better on questions that it was not trained on."
    return f"Refused: {failed.reason}. Nothing was changed."


def _mean(values: Values) -> float:
    return float(values.mean()) if len(values) else 0.0
