"""The learning rate over a run: warm-up, then decay to 0, by steps or by the clock, whichever is further."""

from __future__ import annotations

import math
from typing import Literal

Decay = Literal["linear", "cosine", "constant"]


def share(step: int, steps: int, seconds: float = 0.0, minutes: float | None = None) -> float:
    """How much of the run lies behind in the middle of `step` (from 0), in [0, 1].

    With a time budget the clock counts too, so that a run that will not come to its last step has decayed all the
    same when its time is up.
    """
    by_steps = (step + 0.5) / steps
    by_clock = seconds / (60 * minutes) if minutes else 0.0
    return min(1.0, max(by_steps, by_clock))


def factor(share: float, warmup: float, decay: Decay) -> float:
    """What the learning rate is multiplied by when `share` of the run lies behind; `warmup` is a share as well."""
    if share < warmup:
        return share / warmup
    left = (1 - share) / (1 - warmup) if warmup < 1 else 1.0
    if decay == "linear":
        return left
    if decay == "cosine":
        return 0.5 * (1 + math.cos(math.pi * (1 - left)))
    return 1.0
