"""Torch weights to ONNX files that the runtime serves, exact and in 8 bits, and which of them is served."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnx
from safetensors import SafetensorError
from safetensors.numpy import load_file

from core.base.errors import ModelDamaged, WhymatchError
from core.base.files import read_json, sha256_file
from core.encode.calibrate import peaks
from core.encode.choice import compare
from core.encode.graph import build
from core.encode.int8 import Int8Products
from core.encode.onnx import DATA, FP32, INT8, OnnxEncoder
from core.encode.sample import CALIBRATION
from core.encode.tokens import Tokens
from core.models.bundles import ENCODER, Bundle
from core.models.graphs import GRAPH

AGAIN = "Fetch the model again, or choose another one."
WEIGHTS, MODEL_CONFIG, TOKENIZER = "model.safetensors", "config.json", "tokenizer.json"
_LARGEST_FILE = 1_900_000_000  # bytes; a file of ONNX may not reach 2 GiB
_MOST_TOKENS = 128  # more than any text of the sample has


def export(folder: Path, serving: str = "") -> Mapping[str, Any]:
    """Write `model.onnx` and `model-int8.onnx` beside the weights in `folder`; return the bundle's config fields.

    Without `serving` both are compared on this machine: `int8` tells how they agree and how much faster 8 bits are.

    Raises:
        KnownError: the architecture is not of the BERT family.
        ModelDamaged: a weight is missing or the files cannot be read.
    """
    with reading():
        config = read_json(folder / MODEL_CONFIG)
        weights = load_file(folder / WEIGHTS)
        exact = build(weights, config)
    save(exact, folder / FP32)
    with telling("in this folder"):
        texts = [{"input_ids": row} for row in Tokens(folder / TOKENIZER, _MOST_TOKENS).ids(CALIBRATION)]
        save(build(weights, config, Int8Products(peaks(folder / FP32, texts))), folder / INT8)
        if serving:
            return {"serving": serving, "graph": GRAPH}
        result = compare(*(_opened(folder, file, int(config["hidden_size"])) for file in (FP32, INT8)))
    figures = {"agreement": round(result.agreement, 4), "speed": round(result.speed, 2)}
    return {"serving": INT8 if result.passed else FP32, "graph": GRAPH, "int8": figures}


@contextmanager
def reading() -> Iterator[None]:
    """What goes wrong in a block that reads weights into a graph is the files' fault. Raises ModelDamaged."""
    try:
        yield
    except KeyError as error:
        raise ModelDamaged(f"The model's files do not fit together: {error} is missing.", AGAIN) from error
    except (OSError, ValueError, TypeError, IndexError, AttributeError, RecursionError, SafetensorError) as error:
        raise ModelDamaged(f"The model's files cannot be read: {error}.", AGAIN) from error


@contextmanager
def telling(name: str) -> Iterator[None]:
    """What goes wrong in a block that runs the model `name` is the model's fault. Raises ModelDamaged.

    A full disk and what is known already stay what they are.
    """
    try:
        yield
    except (WhymatchError, OSError, MemoryError):
        raise
    except Exception as error:  # the errors of runtime and tokenizer have no common public type
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelDamaged(f"The model {name} does not work: {lines[0]}.", AGAIN) from error


def save(model: onnx.ModelProto, path: Path) -> None:
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
