"""The forward pass of a BERT-family encoder as an ONNX graph, made from its weights.

Covers BERT, RoBERTa and XLM-R (they differ in the offset of the position table). The graph is written with
ONNX Runtime's fused transformer operators, so it needs no optimiser pass and no tracing, and the same weights
always give the same file. Output: last-layer token states; pooling is the encoder's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from core.base.errors import KnownError

Weights = Mapping[str, NDArray[Any]]
_OPSET, _MICROSOFT = 17, "com.microsoft"
# RoBERTa counts positions from padding_idx + 1
_FIRST_POSITION = {"bert": 0, "roberta": 2, "xlm-roberta": 2, "camembert": 2}


class _Graph:
    """Nodes and constants in the making; every method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output


def build(weights: Weights, config: Mapping[str, Any]) -> onnx.ModelProto:
    """The graph: `input_ids`, `attention_mask` (int64 [B, T]) to `states` (float32 [B, T, D]).

    `config` is the model's `config.json`. Token types are all 0 (one text per input).

    Raises:
        KnownError: the architecture is not of the BERT family.
    """
    family = str(config.get("model_type", ""))
    if family not in _FIRST_POSITION or config.get("hidden_act") != "gelu":
        raise KnownError(f"An encoder of the kind {family!r} cannot be exported.", "Choose a BERT or XLM-R encoder.")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise KnownError("An encoder with relative positions cannot be exported.", "Choose another encoder.")
    graph = _Graph()
    plain = {_without_prefix(name): value.astype(np.float32) for name, value in weights.items()}
    states = _embed(graph, plain, config, _FIRST_POSITION[family])
    for layer in range(int(config["num_hidden_layers"])):
        states = _layer(graph, plain, config, states, layer)
    graph.nodes[-1].output[0] = "states"
    return _model(graph, int(config["hidden_size"]))


def _without_prefix(name: str) -> str:
    for prefix in ("bert.", "roberta."):
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def _embed(graph: _Graph, weights: Weights, config: Mapping[str, Any], first_position: int) -> str:
    words = graph.constant("words", weights["embeddings.word_embeddings.weight"])
    # every token has type 0, so its type vector can be added to the position vectors beforehand
    table = weights["embeddings.position_embeddings.weight"][first_position:]
    positions = graph.constant("positions", table + weights["embeddings.token_type_embeddings.weight"][0])
    graph.constant("zero", np.array([0], np.int64))
    length = graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    rows = graph.node("Slice", [positions, "zero", length], "position_rows")
    embedded = graph.node("Gather", [words, "input_ids"], "word_rows")
    added = graph.node("Add", [embedded, rows], "embedded")
    graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    scale, shift = _norm(graph, weights, "embeddings.LayerNorm")
    epsilon = float(config["layer_norm_eps"])
    return graph.node("LayerNormalization", [added, scale, shift], "states_0", epsilon=epsilon, axis=-1)


def _layer(graph: _Graph, weights: Weights, config: Mapping[str, Any], states: str, layer: int) -> str:
    source, name = f"encoder.layer.{layer}", f"layer_{layer}"
    heads = int(config["num_attention_heads"])
    attended = _attention(graph, weights, f"{source}.attention.self", f"{name}_attention", states, heads)
    projected = _matmul(graph, weights, f"{source}.attention.output.dense", attended)
    states = _add_norm(graph, weights, config, f"{source}.attention.output", projected, states)
    inner = _matmul(graph, weights, f"{source}.intermediate.dense", states)
    bias = graph.constant(f"{name}_inner_bias", weights[f"{source}.intermediate.dense.bias"])
    inner = graph.node("BiasGelu", [inner, bias], f"{name}_gelu", _MICROSOFT)
    outer = _matmul(graph, weights, f"{source}.output.dense", inner)
    return _add_norm(graph, weights, config, f"{source}.output", outer, states)


def _attention(graph: _Graph, weights: Weights, source: str, name: str, states: str, heads: int) -> str:
    parts = ("query", "key", "value")
    matrix = np.concatenate([weights[f"{source}.{part}.weight"].T for part in parts], axis=1)
    bias = np.concatenate([weights[f"{source}.{part}.bias"] for part in parts])
    inputs = [states, graph.constant(f"{name}_w", matrix), graph.constant(f"{name}_b", bias), "mask"]
    return graph.node("Attention", inputs, name, _MICROSOFT, num_heads=heads)


def _matmul(graph: _Graph, weights: Weights, source: str, states: str) -> str:
    matrix = graph.constant(f"{source}.w", weights[f"{source}.weight"].T)
    return graph.node("MatMul", [states, matrix], f"{source}.out")


def _add_norm(graph: _Graph, weights: Weights, config: Mapping[str, Any], source: str, new: str, skip: str) -> str:
    """LayerNorm(new + dense bias + skip)."""
    scale, shift = _norm(graph, weights, f"{source}.LayerNorm")
    bias = graph.constant(f"{source}.bias", weights[f"{source}.dense.bias"])
    inputs = [new, skip, scale, shift, bias]
    epsilon = float(config["layer_norm_eps"])
    return graph.node("SkipLayerNormalization", inputs, f"{source}.normed", _MICROSOFT, epsilon=epsilon)


def _norm(graph: _Graph, weights: Weights, source: str) -> tuple[str, str]:
    scale = graph.constant(f"{source}.scale", weights[f"{source}.weight"])
    return scale, graph.constant(f"{source}.shift", weights[f"{source}.bias"])


def _model(graph: _Graph, dimension: int) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "tokens", dimension])
    body = helper.make_graph(graph.nodes, "encoder", inputs, [output], graph.constants)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=8, producer_name="whymatch")
