"""How far to go from the present weights to the trained ones: what finds most, of what forgets nothing.

The gate refuses an encoder that has forgotten how general questions are answered. Often a shorter way keeps nearly all
of the gain and forgets less, so shares that the gate would refuse for that are left out where there are others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.train.gate import PROBE_MARGIN

MARGIN = 0.75 * PROBE_MARGIN  # room for what serving rounds


@dataclass(frozen=True, slots=True)
class Tried:
    """A share of the way, with nDCG@10 on the questions that choose and on the general ones."""

    share: float
    ndcg: float
    general: float

    @property
    def figures(self) -> dict[str, float]:
        at = f"{self.share:g}"
        return {f"ndcg at {at}": round(self.ndcg, 4), f"general at {at}": round(self.general, 4)}


def best(tried: Sequence[Tried], before: float) -> Tried:
    """The best on the questions that choose, of those within `MARGIN` of what general questions found `before`; the one
    that forgets least where none is. The shorter way wins a tie."""
    ordered = sorted(tried, key=lambda one: one.share)
    sound = [one for one in ordered if one.general >= before - MARGIN]
    return max(sound, key=lambda one: one.ndcg) if sound else max(ordered, key=lambda one: one.general)
