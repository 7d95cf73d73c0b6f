"""Weights in torch's own formats as float32 arrays."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load

from core.base.errors import ModelDamaged


def read_weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """Name -> tensor of a pickled state dict or of safetensors in any precision. Nothing in a pickle is run.

    Raises:
        ModelDamaged: the file is damaged, or holds more than weights.
    """
    try:
        if path.suffix == ".safetensors":
            state = load(path.read_bytes())  # not mapped: the file is written anew
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
        return {
            name: tensor.float().contiguous().numpy() for name, tensor in state.items() if tensor.is_floating_point()
        }
    except (OSError, EOFError, RuntimeError, ValueError, AttributeError, pickle.UnpicklingError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelDamaged(f"{path.name} cannot be read as weights: {first}", "Fetch the model again.") from error
