"""Which of several trained autoencoders a library gets, and why.

Equal reconstruction does not mean equally good latents, so error alone does not choose. A candidate must keep the
ranking; among those that do, the one whose latents a judge understands best is taken, and of two alike the sparser one,
since fewer concepts a passage are easier to read and cheaper to search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Figures = Mapping[str, float]

ENOUGH = {"ndcg_kept": 0.93, "recall_kept": 0.98}  # of finding a sentence's own passage with the true vectors
MOST_DEAD = 0.05  # share of the latents
ALIKE = 0.03  # difference of two intruder scores that chance makes


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen candidate's place in the list, and the reason in one sentence."""

    index: int
    reason: str


def choose(candidates: Sequence[Figures]) -> Choice:
    """Choose by `ndcg_kept`, `recall_kept`, `dead`, `intruder` and `k`; a figure that was not measured counts as met.

    Raises:
        ValueError: there are no candidates.
    """
    if not candidates:
        raise ValueError("no candidates")
    sound = [n for n, figures in enumerate(candidates) if figures.get("dead", 0.0) <= MOST_DEAD]
    pool = sound or list(range(len(candidates)))
    keeping = [n for n in pool if all(candidates[n].get(name, 1.0) >= least for name, least in ENOUGH.items())]
    if not keeping:
        best = max(pool, key=lambda n: (_ranking(candidates[n]), -candidates[n]["k"]))
        return Choice(
            best, f"None keeps the ranking well enough; this one keeps most ({_ranking(candidates[best]):.3f})."
        )
    clearest = max(_intruder(candidates[n]) for n in keeping)
    alike = [n for n in keeping if _intruder(candidates[n]) >= clearest - ALIKE]
    best = min(alike, key=lambda n: (candidates[n]["k"], -_intruder(candidates[n])))
    return Choice(best, _reason(candidates[best], len(keeping), len(candidates)))


def _ranking(figures: Figures) -> float:
    return figures.get("ndcg_kept", 0.0)


def _intruder(figures: Figures) -> float:
    return figures.get("intruder", 0.0)


def _reason(figures: Figures, keeping: int, total: int) -> str:
    if total == 1:
        return f"The only candidate: k = {figures['k']:.0f}."
    return (
        f"{keeping} of {total} candidates keep the ranking; of these k = {figures['k']:.0f} is the sparsest among "
        f"those that a judge understands best ({_intruder(figures):.2f})."
    )
