"""A trained encoder as a bundle that is served: weights, exported graphs, card and hashes, under a name of its own."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.base.errors import ModelDamaged
from core.encode.export import WEIGHTS, export
from core.encode.heads import HEADS_FILE, POOLING, Heads, Linear, read_heads, tensors_of, write_heads
from core.models import adapted
from core.models.bundles import Bundle, find, installing, load, verify
from core.models.card import CARD
from core.train.backbone import HEAD, Backbone
from core.train.checkpoint import save_tensors

MADE = "library-made"
_NOT_COPIED = re.compile(rf"{WEIGHTS}|{HEADS_FILE}|{CARD}|.*\.onnx(\.data)?|.*\.bin")
_OF_THE_EXPORT = ("files", "sizes", "format", "graph", "serving", "int8")


def save(
    trained: Backbone | Mapping[str, Tensor], base: Bundle, folder: Path, told: Mapping[str, Any], serving: str = "",
    heads: Heads | None = None,
) -> Bundle:  # fmt: skip
    """Make the bundle of an encoder that came from `base`, in `folder` (a library's `models/`).

    Its id is that of the installed encoder it came from at first, "+" and 8 hex digits of its weights' hash; one that
    is there already and whole is given back. Its config says what `base`'s does, with `base`, `library-made` and what
    is `told` (`recipe`, figures). `serving` names the graph to serve: by default it is chosen on this machine as at
    installing. The lexical and multi heads are those of `base`, or of `heads`.

    Raises:
        ModelDamaged: `base` is damaged, or the weights are no model of its shape.
        DiskFull, KnownError: nothing is left behind.
    """
    weights = trained.weights() if isinstance(trained, Backbone) else dict(trained)
    id = adapted.name(base.id, weights_hash({**weights, **_named(heads)}))
    if (there := whole(folder, id)) is not None:
        return there
    kept = {key: value for key, value in base.config.items() if key not in _OF_THE_EXPORT}
    config = {**kept, **_of_heads(heads), **told, "id": id, "base": base.id, MADE: True}
    with installing(config, folder) as fresh:
        _copy_rest(base, fresh)
        _write(weights, heads or read_heads(base), fresh)
        config.update(export(fresh, serving))
    return find(id, folder)


def weights_hash(weights: Mapping[str, Tensor]) -> str:
    """64 hex digits of names, shapes and float32 values, whatever the order."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        values = _array(weights[name])
        digest.update(f"{name} {values.shape}\n".encode() + values.tobytes())
    return digest.hexdigest()


def _named(heads: Heads | None) -> dict[str, Tensor]:
    """The tensors of the token heads, by names that no weight of a model has."""
    return {} if heads is None else {f"heads.{name}": torch.from_numpy(t) for name, t in tensors_of(heads).items()}


def _of_heads(heads: Heads | None) -> dict[str, Any]:
    """What the config says of them, as after installing."""
    if heads is None:
        return {}
    return {"heads": sorted(heads.names), **({"multi_dimension": len(heads.multi.bias)} if heads.multi else {})}


def whole(folder: Path, id: str) -> Bundle | None:
    """The bundle of this id, where it lies in `folder` and nothing of it is damaged."""
    if not (folder / id).is_dir():
        return None
    try:
        bundle = load(folder / id)
        verify(bundle)
    except ModelDamaged:
        return None
    return bundle


def _copy_rest(base: Bundle, folder: Path) -> None:
    """Tokenizer and configuration, checked as they are read."""
    names = tuple(name for name in base.config["files"] if not _NOT_COPIED.fullmatch(name))
    verify(base, names)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(base.path(name), folder / name)


def _write(weights: Mapping[str, Tensor], heads: Heads, folder: Path) -> None:
    """Weights of the model, and the heads with the dense one as it was trained."""
    own = {name: t.float() for name, t in weights.items() if name != POOLING and not name.startswith(HEAD)}
    save_tensors(own, folder / WEIGHTS)
    pooling = None if POOLING not in weights else _array(weights[POOLING])
    if all(part is None for part in (heads.dense, heads.lexical, heads.multi, heads.expansion, pooling)):
        return
    dense = heads.dense
    if dense is not None:
        found = {name.rpartition(".")[2]: _array(t) for name, t in weights.items() if name.startswith(HEAD)}
        dense = Linear(found["weight"], found["bias"])
    write_heads(folder / HEADS_FILE, replace(heads, dense=dense, pooling=pooling))


def _array(tensor: Tensor) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.ascontiguousarray(tensor.detach().cpu().float().numpy())
