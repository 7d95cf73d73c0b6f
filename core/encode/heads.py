"""The heads of an encoder: what they make of its states, and the file of the bundle that holds them.

M3-Embedding (Chen et al. 2024), section 3.1: a lexical head `ReLU(w h + b)`, a multi-vector head `norm(W h + b)` that
may lower the dimension. A lexical head may be an expansion instead, as SPLADE has it (Formal et al. 2021): then a text
has weights for terms that it does not say, too. A dense head is the Dense module of sentence-transformers: it follows
the pooling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from core.base.errors import ModelDamaged
from core.base.files import write_bytes
from core.base.types import DENSE, LEXICAL, MULTI
from core.encode.encoder import FloatArray
from core.models.bundles import Bundle, verify

HEADS_FILE = "heads.safetensors"
POOLING = "pooling.weight"
_EXPANSION = "expansion."  # before the names of its tensors
MOST_TERMS = 256  # of a text that is expanded: the largest weights
_TINY = 1e-12
_GELU = math.sqrt(2.0 / math.pi)
_NORM = 1e-5  # added to the variance, as torch's layer norm does
ACTIVATIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "identity": lambda rows: rows,
    "tanh": np.tanh,
    "relu": lambda rows: np.maximum(rows, 0),
}


@dataclass(frozen=True, slots=True)
class Linear:
    """`rows @ weight.T + bias` with `weight` [out, in] and `bias` [out]."""

    weight: FloatArray
    bias: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        return np.asarray(rows @ self.weight.T + self.bias, np.float32)


@dataclass(frozen=True, slots=True)
class Expansion:
    """Weights of V terms from token states: log(1 + ReLU(table norm(gelu(transform h)) + bias)), the largest over the
    text. `ids` [V] are the terms' tokens, `table` [V, D] their vectors; `scale` and `shift` [D] are those of the norm.
    """

    ids: NDArray[np.int64]
    table: FloatArray
    bias: FloatArray
    transform: Linear
    scale: FloatArray
    shift: FloatArray

    def __call__(self, states_TD: FloatArray) -> FloatArray:
        """Weights [V], none below 0, at most `MOST_TERMS` above."""
        if len(states_TD) == 0:
            return np.zeros(len(self.ids), np.float32)
        shaped_TD = _gelu(self.transform(states_TD))
        apart_TD = shaped_TD - shaped_TD.mean(-1, keepdims=True)
        shaped_TD = apart_TD / np.sqrt((apart_TD**2).mean(-1, keepdims=True) + _NORM) * self.scale + self.shift
        best_V = (shaped_TD @ self.table.T).max(0) + self.bias
        weights_V = np.log1p(np.maximum(best_V, 0))
        if len(weights_V) > MOST_TERMS:
            weights_V[np.argpartition(-weights_V, MOST_TERMS)[MOST_TERMS:]] = 0
        return np.asarray(weights_V, np.float32)


@dataclass(frozen=True, slots=True)
class Heads:
    """The trained heads of an encoder; `activation` names that of the dense one. It has `lexical` or `expansion`.

    `pooling` [V] weighs each token of the vocabulary in the mean of an encoder that is pooled so; without it all count
    alike.
    """

    dense: Linear | None = None
    lexical: Linear | None = None
    multi: Linear | None = None
    activation: str = "identity"
    pooling: FloatArray | None = None
    expansion: Expansion | None = None

    @property
    def names(self) -> frozenset[str]:
        """The channels that an encoder with these heads can make: dense and multi need no head of their own."""
        return frozenset((DENSE, MULTI)) | ({LEXICAL} if self.lexical or self.expansion else set())

    def dense_vectors(self, pooled_ND: FloatArray) -> FloatArray:
        """Unit vectors of pooled states."""
        if self.dense is not None:
            pooled_ND = ACTIVATIONS[self.activation](self.dense(pooled_ND))
        return unit(pooled_ND)

    def shares(self, ids_BT: NDArray[np.int64], mask_BT: NDArray[np.int64]) -> FloatArray:
        """How much each token counts in the mean [B, T]: 0 where the mask is."""
        shares_BT = mask_BT.astype(np.float32)
        return shares_BT if self.pooling is None else shares_BT * self.pooling[ids_BT]

    def token_weights(self, states_TD: FloatArray) -> FloatArray:
        """Lexical weights [T] of token states, none below 0.

        Raises:
            ValueError: there is no lexical head.
        """
        if self.lexical is None:
            raise ValueError("no lexical head")
        return np.maximum(self.lexical(states_TD)[:, 0], 0)

    def token_vectors(self, states_TD: FloatArray) -> FloatArray:
        """Unit vectors [T, M] of token states; without a head the states themselves."""
        return unit(states_TD if self.multi is None else self.multi(states_TD))


def read_heads(bundle: Bundle) -> Heads:
    """The heads of a bundle; one without the file has none.

    Raises:
        ModelDamaged: the file differs from what was installed, or does not fit the encoder.
    """
    if HEADS_FILE not in bundle.config["files"]:
        return Heads()
    verify(bundle, (HEADS_FILE,))
    try:
        tensors = load_file(bundle.path(HEADS_FILE))
        return Heads(
            dense=_linear(tensors, DENSE),
            lexical=_linear(tensors, LEXICAL),
            multi=_linear(tensors, MULTI),
            activation=str(bundle.config.get("dense_activation", "identity")),
            pooling=_pooling(tensors),
            expansion=_expansion(tensors),
        )
    except (OSError, SafetensorError, ValueError) as error:
        raise ModelDamaged(
            f"The heads of {bundle.id} cannot be read: {error}.", f"Install it again: whymatch models add {bundle.id}"
        ) from error


def write_heads(path: Path, heads: Heads) -> None:
    """Write the file for a bundle's folder (the activation stands in the bundle's config).

    Raises:
        KnownError: the disk is full, or there is no permission.
    """
    write_bytes(path, save(tensors_of(heads)))


def tensors_of(heads: Heads) -> dict[str, NDArray[Any]]:
    """What the file holds, by name."""
    named = {DENSE: heads.dense, LEXICAL: heads.lexical, MULTI: heads.multi}
    tensors = _told(heads.expansion)
    for name, head in named.items():
        if head is not None:
            tensors[f"{name}.weight"] = np.ascontiguousarray(head.weight, np.float32)
            tensors[f"{name}.bias"] = np.ascontiguousarray(head.bias, np.float32)
    if heads.pooling is not None:
        tensors[POOLING] = np.ascontiguousarray(heads.pooling, np.float32)
    return tensors


def unit(vectors: FloatArray) -> FloatArray:
    """Rows of length 1 (a zero row stays zero)."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, _TINY), np.float32)


def _linear(tensors: Mapping[str, NDArray[np.float32]], name: str) -> Linear | None:
    weight = tensors.get(f"{name}.weight")
    if weight is None:
        return None
    bias = tensors.get(f"{name}.bias", np.zeros(len(weight), np.float32))
    if weight.ndim != 2 or bias.shape != weight.shape[:1] or (name == LEXICAL and len(weight) != 1):
        raise ValueError(f"{name} has the shape {weight.shape}")
    return Linear(weight.astype(np.float32), bias.astype(np.float32))


def _told(expansion: Expansion | None) -> dict[str, NDArray[Any]]:
    if expansion is None:
        return {}
    transform = expansion.transform
    parts = {
        "table": expansion.table, "bias": expansion.bias, "scale": expansion.scale, "shift": expansion.shift,
        "transform.weight": transform.weight, "transform.bias": transform.bias,
    }  # fmt: skip
    kept = {f"{_EXPANSION}{name}": np.ascontiguousarray(part, np.float32) for name, part in parts.items()}
    return {**kept, f"{_EXPANSION}ids": np.ascontiguousarray(expansion.ids, np.int64)}


def _expansion(tensors: Mapping[str, NDArray[Any]]) -> Expansion | None:
    own = {name.removeprefix(_EXPANSION): t for name, t in tensors.items() if name.startswith(_EXPANSION)}
    if not own:
        return None
    try:
        made = Expansion(
            own["ids"], own["table"], own["bias"], Linear(own["transform.weight"], own["transform.bias"]),
            own["scale"], own["shift"],
        )  # fmt: skip
    except KeyError as error:
        raise ValueError(f"the expansion has no {error}") from error
    terms, width = made.table.shape
    if made.ids.shape != (terms,) or made.bias.shape != (terms,) or made.transform.weight.shape != (width, width):
        raise ValueError(f"the expansion has the shape {made.table.shape}")
    return made


def _gelu(rows: FloatArray) -> FloatArray:
    """The approximation by tanh (Hendrycks & Gimpel 2016, section 2), in which the head was trained, too."""
    return np.asarray(0.5 * rows * (1.0 + np.tanh(_GELU * (rows + 0.044715 * rows**3))), np.float32)


def _pooling(tensors: Mapping[str, NDArray[np.float32]]) -> FloatArray | None:
    weights = tensors.get(POOLING)
    if weights is None:
        return None
    if weights.ndim != 1 or not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError("weights of tokens must be positive numbers")
    return weights.astype(np.float32)
