"""The state of all random generators that training draws from: torch's on each device, and the task's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

_CPU: Final = "random.cpu"
_CUDA: Final = "random.cuda."
_MPS: Final = "random.mps"

RandomState = tuple[dict[str, Tensor], dict[str, Any]]  # torch's by name; numpy's, which is plain JSON


def keep(rng: np.random.Generator) -> RandomState:
    """Copies of the states as they are now."""
    tensors = {_CPU: torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors |= {f"{_CUDA}{place}": state for place, state in enumerate(torch.cuda.get_rng_state_all())}
    if torch.backends.mps.is_available():
        tensors[_MPS] = torch.mps.get_rng_state()
    return tensors, dict(rng.bit_generator.state)


def restore(state: tuple[Mapping[str, Tensor], Mapping[str, Any]], rng: np.random.Generator) -> None:
    """Put back what `keep` gave; the state of a device that this machine lacks is passed over."""
    tensors, numpy_state = state
    torch.set_rng_state(tensors[_CPU])
    for place in range(torch.cuda.device_count()):
        if (own := tensors.get(f"{_CUDA}{place}")) is not None:
            torch.cuda.set_rng_state(own, place)
    if torch.backends.mps.is_available() and _MPS in tensors:
        torch.mps.set_rng_state(tensors[_MPS])
    rng.bit_generator.state = dict(numpy_state)
