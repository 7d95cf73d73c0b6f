"""The forward pass of a BERT-family encoder as an ONNX graph, made from its weights.

Covers BERT, RoBERTa and XLM-R (they differ in the offset of the position table). The graph is written with
ONNX Runtime's fused transformer operators, so it needs no optimiser pass and no tracing, and the same weights
always give the same file. Output: last-layer token states; pooling is the encoder's.

It has no attention mask: texts run one by one, or together when they are equally long. So nothing is padded, and
attention need not write down its T x T scores. States are [B*T, D] between attentions, so that a product adds its
bias itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from core.base.errors import KnownError

Array = NDArray[Any]
Weights = Mapping[str, Array]
MICROSOFT = "com.microsoft"
_OPSET = 17
# RoBERTa counts positions from padding_idx + 1
_FIRST_POSITION = {"bert": 0, "roberta": 2, "xlm-roberta": 2, "camembert": 2}


class Graph:
    """Nodes and constants in the making; every method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.known: set[str] = set()

    def constant(self, name: str, value: Array) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        """A node whose output exists already (by name) is not made again."""
        if output not in self.known:
            self.known.add(output)
            self.nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output


class Products:
    """How the graph looks words up and multiplies by weights: here exactly, in float32."""

    def words(self, graph: Graph, table: Array) -> str:
        """Rows [B, T, D] of the word table [V, D]."""
        return graph.node("Gather", [graph.constant("words", table), "input_ids"], "word_rows")

    def dense(self, graph: Graph, name: str, states: str, weight: Array, bias: Array) -> str:
        """states [N, K] times weight [K, M] plus bias [M]."""
        inputs = [states, graph.constant(f"{name}.w", weight), graph.constant(f"{name}.b", bias)]
        return graph.node("Gemm", inputs, name)

    def feed_forward(self, graph: Graph, name: str, states: str, inner: Array, bias: Array, outer: Array,
                     outer_bias: Array) -> str:  # fmt: skip
        """gelu(states [N, K] times inner [K, F] plus bias) times outer [F, K] plus outer_bias."""
        hidden = self.dense(graph, f"{name}.inner", states, inner, bias)
        hidden = graph.node("Gelu", [hidden], f"{name}.gelu", MICROSOFT)
        return self.dense(graph, f"{name}.outer", hidden, outer, outer_bias)


def build(weights: Weights, config: Mapping[str, Any], products: Products | None = None) -> onnx.ModelProto:
    """The graph: `input_ids` (int64 [B, T], no padding) to `states` (float32 [B, T, D]).

    `config` is the model's `config.json`. Token types are all 0 (one text per input).

    Raises:
        KnownError: the architecture is not of the BERT family.
        KeyError, ValueError: weights are missing, or fewer than the config tells.
    """
    family = str(config.get("model_type", ""))
    if family not in _FIRST_POSITION or config.get("hidden_act") != "gelu":
        raise KnownError(f"An encoder of the kind {family!r} cannot be exported.", "Choose a BERT or XLM-R encoder.")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise KnownError("An encoder with relative positions cannot be exported.", "Choose another encoder.")
    plain = {_without_prefix(name): value.astype(np.float32) for name, value in weights.items()}
    graph, products = Graph(), products or Products()
    states = _embed(graph, products, plain, config, _FIRST_POSITION[family])
    for layer in range(int(config["num_hidden_layers"])):
        states = _layer(graph, products, plain, config, states, layer)
    graph.node("Reshape", [states, "shape"], "states")
    return _model(graph, int(config["hidden_size"]))


def _without_prefix(name: str) -> str:
    for prefix in ("bert.", "roberta."):
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def _embed(graph: Graph, products: Products, weights: Weights, config: Mapping[str, Any], first_position: int) -> str:
    size = int(config["hidden_size"])
    graph.node("Concat", [graph.node("Shape", ["input_ids"], "rows"), graph.constant("size", np.array([size]))],
               "shape", axis=0)  # fmt: skip
    graph.constant("flat", np.array([-1, size]))
    # every token has type 0, so its type vector can be added to the position vectors beforehand
    table = weights["embeddings.position_embeddings.weight"]
    if len(table) < int(config.get("max_position_embeddings", 512)):
        raise ValueError(f"there are {len(table)} positions, and the config tells of more")
    table = table[first_position:]
    positions = graph.constant("positions", table + weights["embeddings.token_type_embeddings.weight"][0])
    graph.constant("zero", np.array([0]))
    length = graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    rows = graph.node("Slice", [positions, "zero", length], "position_rows")
    words = products.words(graph, weights["embeddings.word_embeddings.weight"])
    added = graph.node("Reshape", [graph.node("Add", [words, rows], "embedded"), "flat"], "embedded_flat")
    return _norm(graph, weights, config, "embeddings", added)


def _layer(
    graph: Graph, products: Products, weights: Weights, config: Mapping[str, Any], states: str, layer: int
) -> str:
    source = f"encoder.layer.{layer}"
    attended = _attention(graph, products, weights, f"{source}.attention", states, int(config["num_attention_heads"]))
    added = graph.node("Add", [attended, states], f"{source}.attention.added")
    states = _norm(graph, weights, config, f"{source}.attention.output", added)
    inner = _weight_and_bias(weights, f"{source}.intermediate.dense")
    outer = _weight_and_bias(weights, f"{source}.output.dense")
    new = products.feed_forward(graph, source, states, *inner, *outer)
    return _norm(graph, weights, config, f"{source}.output", graph.node("Add", [new, states], f"{source}.added"))


def _attention(graph: Graph, products: Products, weights: Weights, source: str, states: str, heads: int) -> str:
    parts = []
    for part in ("query", "key", "value"):
        made = products.dense(graph, f"{source}.{part}", states, *_weight_and_bias(weights, f"{source}.self.{part}"))
        parts.append(graph.node("Reshape", [made, "shape"], f"{source}.{part}_rows"))
    attended = graph.node("MultiHeadAttention", parts, f"{source}.attended", MICROSOFT, num_heads=heads)
    attended = graph.node("Reshape", [attended, "flat"], f"{source}.attended_flat")
    return products.dense(graph, f"{source}.out", attended, *_weight_and_bias(weights, f"{source}.output.dense"))


def _weight_and_bias(weights: Weights, source: str) -> tuple[Array, Array]:
    return weights[f"{source}.weight"].T, weights[f"{source}.bias"]


def _norm(graph: Graph, weights: Weights, config: Mapping[str, Any], source: str, states: str) -> str:
    scale = graph.constant(f"{source}.scale", weights[f"{source}.LayerNorm.weight"])
    shift = graph.constant(f"{source}.shift", weights[f"{source}.LayerNorm.bias"])
    epsilon = float(config["layer_norm_eps"])
    return graph.node("LayerNormalization", [states, scale, shift], f"{source}.normed", epsilon=epsilon, axis=-1)


def _model(graph: Graph, dimension: int) -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])]
    output = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "tokens", dimension])
    body = helper.make_graph(graph.nodes, "encoder", inputs, [output], graph.constants)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=8, producer_name="whymatch")
