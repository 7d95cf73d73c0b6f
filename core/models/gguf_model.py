"""What a GGUF file is as a language model: whether it can answer here, and what it takes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.errors import KnownError, ModelDamaged
from core.models.gguf import Header, header

SERVED_CONTEXT = 4096  # tokens at most; a longer one costs memory and seconds that a desktop answer does not need
_DEFAULT_CONTEXT = 2048
_WORK = 150_000_000  # bytes besides weights and cache: buffers of one batch, the vocabulary
_CACHE_BYTES = 2  # of one number of the cache of keys and values
_MOST = 1 << 24  # of any size that a header tells
# architectures of llama.cpp that turn text into vectors or pictures into tokens, and write nothing
_WRITES_NOTHING = re.compile(r".*bert.*|t5encoder|clip|.*-embedding|wavtokenizer.*|whisper.*")
_PARTS = {"adapter": "an adapter to a model", "mmproj": "a reader of pictures", "imatrix": "a table for quantising"}
_OTHER = "Choose the file of a whole language model."


@dataclass(frozen=True, slots=True)
class ModelFile:
    """`size` in bytes, `parameters` in weights, `cache` in bytes a token of the context."""

    architecture: str
    name: str
    licence: str
    context: int
    quantisation: str
    parameters: int
    layers: int
    size: int
    cache: int
    has_template: bool

    @property
    def memory(self) -> int:
        """Bytes while it serves, about."""
        return self.size + self.cache * min(self.context, SERVED_CONTEXT) + _WORK

    @property
    def config(self) -> dict[str, Any]:
        """What a bundle keeps of it."""
        return {
            "context": self.context, "licence": self.licence, "architecture": self.architecture, "layers": self.layers,
            "quantisation": self.quantisation, "parameters": self.parameters, "memory": self.memory,
        }  # fmt: skip


def inspect(path: Path) -> ModelFile:
    """Read the header and check that it is that of a language model.

    Raises:
        KnownError: no GGUF file, or not one that writes text.
        ModelDamaged: the file is cut short, or its header cannot be.
    """
    found = header(path)
    fields = found.fields
    architecture = _text(fields, "general.architecture")
    _check_kind(path.name, architecture, fields)
    if not found.tensors or not architecture:
        raise ModelDamaged(f"{path.name} is damaged: it holds no weights.", "Fetch it again.")
    if not _text(fields, "tokenizer.ggml.model") or not found.lengths.get("tokenizer.ggml.tokens"):
        raise KnownError(f"{path.name} holds no vocabulary.", _OTHER)
    return _model(path, architecture, found)


def _model(path: Path, architecture: str, found: Header) -> ModelFile:
    own = {key.removeprefix(f"{architecture}."): value for key, value in found.fields.items()}
    try:
        context, layers = _size(own, "context_length", _DEFAULT_CONTEXT), _size(own, "block_count", 0)
        cache = _cache(own, layers)
    except ValueError as error:
        raise ModelDamaged(f"{path.name} is damaged: {error}.", "Fetch it again.") from error
    return ModelFile(
        architecture, _text(found.fields, "general.name")[:200] or path.stem,
        _text(found.fields, "general.license")[:100], context, _quantisation(found),
        sum(tensor.items for tensor in found.tensors), layers, found.size, cache,
        bool(_text(found.fields, "tokenizer.chat_template")),
    )  # fmt: skip


def _check_kind(name: str, architecture: str, fields: Mapping[str, Any]) -> None:
    part = _PARTS.get(_text(fields, "general.type"))
    if part:
        raise KnownError(f"{name} is {part}, no model that writes.", _OTHER)
    if _WRITES_NOTHING.fullmatch(architecture):
        raise KnownError(f"{name} is a {architecture} model: it writes no text.", _OTHER)
    pieces = fields.get("split.count", 0)
    if isinstance(pieces, int) and pieces > 1:
        raise KnownError(f"{name} is one of {pieces} parts of a model.", "Choose a model that is one file.")


def _quantisation(found: Header) -> str:
    """The number format of most of the weights."""
    weights = Counter[str]()
    for tensor in found.tensors:
        weights[tensor.type.name] += tensor.items
    return weights.most_common(1)[0][0]


def _cache(own: Mapping[str, Any], layers: int) -> int:
    """Bytes that keys and values of one token take in all layers; 0 where the architecture keeps none."""
    heads = _size(own, "attention.head_count", 0)
    width = _size(own, "embedding_length", 0) // heads if heads else 0
    key, value = _size(own, "attention.key_length", width), _size(own, "attention.value_length", width)
    groups = own.get("attention.head_count_kv", heads)
    if isinstance(groups, tuple):  # one for each layer
        if not all(type(n) is int and 0 <= n <= _MOST for n in groups):
            raise ValueError("its attention.head_count_kv cannot be")
        total = sum(groups)
    else:
        total = layers * _size(own, "attention.head_count_kv", heads)
    return total * (key + value) * _CACHE_BYTES


def _size(own: Mapping[str, Any], key: str, default: int) -> int:
    value = own.get(key, default)
    value = max(value, default=0) if isinstance(value, tuple) else value
    if type(value) is not int or not 0 <= value <= _MOST:
        raise ValueError(f"its {key} cannot be")
    return int(value)


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key, "")
    return value if isinstance(value, str) else ""
