"""What the trunk can train: batches in a fixed order, and a step that leaves gradients behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from torch import nn


class Task(Protocol):
    """One objective over one set of data. The trunk owns optimiser, clipping, schedule, checkpoints and the clock.

    Everything random in a task comes from the generator it is handed or from torch's own (both are kept in
    checkpoints), so that a run that was killed and resumed does what an undisturbed one does.
    """

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        """What is trained, by name: their parameters that require a gradient are optimised and kept in checkpoints."""
        ...

    def batches(self, epoch: int, rng: np.random.Generator) -> Sequence[Sequence[int]]:
        """The epoch's batches as places in the task's data; the same for the same epoch and generator."""
        ...

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        """Forward and backward over one batch: gradients are added, nothing is updated. Returns losses by name; the
        one called "loss" is what was minimised."""
        ...

    def state(self) -> dict[str, Any]:
        """What else must survive a kill (plain JSON), e.g. which file of negatives is in use."""
        ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...
