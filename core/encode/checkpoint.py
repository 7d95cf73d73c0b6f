"""A checkpoint in a bundle's folder, as it was published, made into what is served: safetensors and heads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from core.base.errors import ModelDamaged
from core.encode.heads import HEADS_FILE, Heads, Linear, write_heads
from core.models.layout import DENSE_PICKLE, DENSE_WEIGHTS, LEXICAL_PICKLE, MULTI_PICKLE, PICKLE, WEIGHTS

_NOT_IN_NUMPY = ("BF16", "F8_E4M3", "F8_E5M2")


def convert(folder: Path) -> dict[str, Any]:
    """Replace pickles in `folder` by safetensors, gather the heads; return the bundle's config fields.

    Raises:
        ModelDamaged: a file is damaged, or a head does not fit.
    """
    if (folder / PICKLE).is_file():
        save_file(_taken(folder / PICKLE), folder / WEIGHTS, {"format": "pt"})
    elif not _is_served(folder / WEIGHTS):
        save_file(_taken(folder / WEIGHTS), folder / WEIGHTS, {"format": "pt"})
    heads = Heads(
        dense=_head(folder, (DENSE_WEIGHTS, DENSE_PICKLE)),
        lexical=_head(folder, (LEXICAL_PICKLE,)),
        multi=_head(folder, (MULTI_PICKLE,)),
    )
    if heads != Heads():
        write_heads(folder / HEADS_FILE, heads)
    told = {"multi_dimension": len(heads.multi.bias)} if heads.multi else {}
    return {"heads": sorted(heads.names), **told}


def _is_served(path: Path) -> bool:
    try:
        with safe_open(path, framework="np") as file:
            return all(file.get_slice(name).get_dtype() not in _NOT_IN_NUMPY for name in file.keys())  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise ModelDamaged(f"{path.name} cannot be read: {error}.", "Fetch the model again.") from error


def _taken(path: Path) -> dict[str, NDArray[np.float32]]:
    """The tensors of a file that is no longer needed."""
    from core.encode.torch_weights import read_weights  # heavy: only for what numpy cannot read

    tensors = read_weights(path)
    path.unlink()
    return tensors


def _head(folder: Path, names: tuple[str, ...]) -> Linear | None:
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        return None
    tensors = {str(name).rpartition(".")[2]: tensor for name, tensor in _taken(path).items()}
    weight = tensors.get("weight")
    bias = tensors.get("bias", np.zeros(0 if weight is None else len(weight), np.float32))
    if weight is None or weight.ndim != 2 or not weight.size or bias.shape != weight.shape[:1]:
        raise ModelDamaged(f"{path.name} is no linear layer.", "Fetch the model again.")
    return Linear(weight, bias)
