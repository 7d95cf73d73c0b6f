"""Torch weights to ONNX files that the runtime serves, exact and in 8 bits, and which of them is served."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
from safetensors import SafetensorError
from safetensors.numpy import load_file

from core.base.errors import ModelDamaged
from core.base.files import read_json, sha256_file
from core.encode.calibrate import peaks
from core.encode.choice import compare
from core.encode.graph import build
from core.encode.int8 import Int8Products
from core.encode.onnx import DATA, FP32, INT8, OnnxEncoder
from core.encode.sample import CALIBRATION
from core.encode.tokens import Tokens
from core.models.bundles import ENCODER, Bundle

WEIGHTS, MODEL_CONFIG, TOKENIZER = "model.safetensors", "config.json", "tokenizer.json"
GRAPH = 2  # of the graphs written here: bundles with older ones are exported again
_LARGEST_FILE = 1_900_000_000  # bytes; a file of ONNX may not reach 2 GiB
_MOST_TOKENS = 128  # more than any text of the sample has


def export(folder: Path, serving: str = "") -> Mapping[str, Any]:
    """Write `model.onnx` and `model-int8.onnx` beside the weights in `folder`; return the bundle's config fields.

    Without `serving` both are compared on this machine: `int8` tells how they agree and how much faster 8 bits are.

    Raises:
        KnownError: the architecture is not of the BERT family.
        ModelDamaged: a weight is missing or the files cannot be read.
    """
    try:
        config = read_json(folder / MODEL_CONFIG)
        weights = load_file(folder / WEIGHTS)
        exact = build(weights, config)
        ids = Tokens(folder / TOKENIZER, _MOST_TOKENS).ids(CALIBRATION)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ModelDamaged(
            f"The weights in {folder.name} cannot be read: {error}.", "Fetch the model again."
        ) from error
    _save(exact, folder / FP32)
    _save(build(weights, config, Int8Products(peaks(folder / FP32, ids))), folder / INT8)
    if serving:
        return {"serving": serving, "graph": GRAPH}
    result = compare(*(_opened(folder, file, int(config["hidden_size"])) for file in (FP32, INT8)))
    figures = {"agreement": round(result.agreement, 4), "speed": round(result.speed, 2)}
    return {"serving": INT8 if result.passed else FP32, "graph": GRAPH, "int8": figures}


def _save(model: onnx.ModelProto, path: Path) -> None:
    """As one file, or with its weights in a second one."""
    large = sum(len(tensor.raw_data) for tensor in model.graph.initializer) > _LARGEST_FILE
    onnx.save(model, path, save_as_external_data=large, location=path.name + DATA)


def _opened(folder: Path, file: str, dimension: int) -> OnnxEncoder:
    """The graph alone: mean pooling, no prefixes, no heads, whatever the bundle will have."""
    names = [name for name in (file, file + DATA, TOKENIZER) if (folder / name).exists()]
    config = {
        "dimension": dimension, "max_tokens": _MOST_TOKENS, "pooling": "mean", "prefixes": {},
        "files": {name: sha256_file(folder / name) for name in names},
    }  # fmt: skip
    return OnnxEncoder(Bundle(folder.name, ENCODER, folder, config), file=file, threads=1)
