"""Torch weights to ONNX files that the runtime serves: exact fp32 and int8 with dynamic activations."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
from safetensors import SafetensorError
from safetensors.numpy import load_file

from core.base.errors import ModelDamaged
from core.base.files import read_json
from core.encode.graph import build

WEIGHTS, MODEL_CONFIG = "model.safetensors", "config.json"
FP32, INT8 = "model.onnx", "model-int8.onnx"


def export(folder: Path, serving: str = FP32) -> Mapping[str, Any]:
    """Write `model.onnx` and `model-int8.onnx` beside the weights in `folder`; return the bundle's config fields.

    Raises:
        KnownError: the architecture is not of the BERT family.
        ModelDamaged: a weight is missing or the files cannot be read.
    """
    try:
        config = read_json(folder / MODEL_CONFIG)
        model = build(load_file(folder / WEIGHTS), config)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ModelDamaged(
            f"The weights in {folder.name} cannot be read: {error}.", "Fetch the model again."
        ) from error
    onnx.save(model, folder / FP32)
    quantise(folder / FP32, folder / INT8)
    return {"serving": serving}


def quantise(source: Path, target: Path) -> None:
    """Matrix products in 8 bits: weights per output channel, activations measured at run time.

    Weights keep 7 bits: on processors without VNNI the 8-bit products of two neighbours overflow 16 bits, and
    this was measured to be the faster kind there too.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logger = logging.getLogger()
    level = logger.level
    logger.setLevel(logging.ERROR)  # the quantiser logs an advert for its pre-processing to the root logger
    try:
        quantize_dynamic(
            source, target, op_types_to_quantize=["MatMul", "Attention"], per_channel=True, reduce_range=True,
            weight_type=QuantType.QInt8, extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        )  # fmt: skip
    finally:
        logger.setLevel(level)
