"""How large an exact graph's activations grow on a sample of texts: what rounding the weights needs to know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from core.base.files import TEMPORARY_SUFFIX
from core.encode.graph import Array


def peaks(file: Path, texts: Iterable[Mapping[str, Sequence[int]]]) -> dict[str, Array]:
    """The largest absolute value of each channel [K] of all normed states and gelu outputs of the graph
    in `file`, by tensor name.

    `texts` are what the graph takes of each one, by the name of its inputs.
    """
    model = onnx.load(file, load_external_data=False)  # what lies in a second file stays there
    names = [node.output[0] for node in model.graph.node if node.op_type in ("LayerNormalization", "Gelu")]
    model.graph.output.extend(helper.make_tensor_value_info(n, TensorProto.FLOAT, ["rows", "width"]) for n in names)
    watched = file.with_name(f".{file.name}{TEMPORARY_SUFFIX}")
    onnx.save(model, watched)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised: they need not be printed, too
    try:
        session = onnxruntime.InferenceSession(str(watched), options, providers=["CPUExecutionProvider"])
    finally:
        watched.unlink()
    found: dict[str, Array] = {}
    for text in texts:
        inputs = {name: np.array([row], np.int64) for name, row in text.items()}
        for name, values in zip(names, session.run(names, inputs), strict=True):
            largest = np.abs(values).max(axis=0)
            found[name] = np.maximum(found.get(name, largest), largest)
    return found
