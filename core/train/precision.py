"""Number formats of training: float32, or bfloat16 products over float32 weights."""

from __future__ import annotations

import contextlib
from typing import Final, Literal

import torch

Precision = Literal["fp32", "bf16"]
FP32: Final = "fp32"
BF16: Final = "bf16"


def autocast(device: torch.device, precision: Precision) -> contextlib.AbstractContextManager[object]:
    """The context in which a step runs. Weights, gradients of weights and optimiser stay in float32.

    Rounded copies of the weights are not cached: a copy made where no gradients are kept, as in the first pass of
    GradCache, would be taken again in the second one, and the weights would get no gradient.
    """
    if precision == FP32:
        return contextlib.nullcontext()
    return torch.autocast(device.type, torch.bfloat16, cache_enabled=False)
