"""The forward pass of a BERT-family encoder as an ONNX graph, made from its weights.

Covers BERT, RoBERTa and XLM-R (they differ in the offset of the position table). The graph is written with
ONNX Runtime's fused transformer operators, so it needs no optimiser pass and no tracing, and the same weights
always give the same file. Output: last-layer token states; pooling is the encoder's.

It has no attention mask: texts run one by one, or together when they are equally long. So nothing is padded, and
attention need not write down its T x T scores. States are [B*T, D] between attentions, so that a product adds its
bias itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    plain = checked(weights, config)
    graph, products = Graph(), products or Products()
    states = embed(graph, products, plain, config)
    for number in range(int(config["num_hidden_layers"])):
        states = layer(graph, products, plain, config, states, number)
    graph.node("Reshape", [states, "shape"], "states")
    return model(graph, ("input_ids",), "states", ("batch", "tokens", int(config["hidden_size"])))


def checked(weights: Weights, config: Mapping[str, Any]) -> dict[str, Array]:
    """The weights in float32 by their names within the transformer.

    Raises:
        KnownError: the architecture is not of the BERT family.
    """
    family = str(config.get("model_type", ""))
    if family not in _FIRST_POSITION or config.get("hidden_act") != "gelu":
        raise KnownError(f"An encoder of the kind {family!r} cannot be exported.", "Choose a BERT or XLM-R encoder.")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise KnownError("An encoder with relative positions cannot be exported.", "Choose another encoder.")
    return {_without_prefix(name): value.astype(np.float32) for name, value in weights.items()}


def _without_prefix(name: str) -> str:
    for prefix in ("bert.", "roberta."):
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def embed(graph: Graph, products: Products, weights: Weights, config: Mapping[str, Any], types: str = "") -> str:
    """The embedded tokens [B*T, D]. `types` names an input [B, T] with the segment of each token; without it all are
    of the first one."""
    size = int(config["hidden_size"])
    graph.node("Concat", [graph.node("Shape", ["input_ids"], "rows"), graph.constant("size", np.array([size]))],
               "shape", axis=0)  # fmt: skip
    graph.constant("flat", np.array([-1, size]))
    segments = weights["embeddings.token_type_embeddings.weight"]
    # the vector of type 0 can be added to the position vectors beforehand; the others' distance to it comes on top
    table = weights["embeddings.position_embeddings.weight"]
    if len(table) < int(config.get("max_position_embeddings", 512)):
        raise ValueError(f"there are {len(table)} positions, and the config tells of more")
    table = table[_FIRST_POSITION[str(config["model_type"])] :]
    positions = graph.constant("positions", table + segments[0])
    graph.constant("zero", np.array([0]))
    length = graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    rows = graph.node("Slice", [positions, "zero", length], "position_rows")
    words = products.words(graph, weights["embeddings.word_embeddings.weight"])
    embedded = graph.node("Add", [words, rows], "embedded")
    if types:
        apart = graph.node("Gather", [graph.constant("segment_table", segments - segments[0]), types], "segment_rows")
        embedded = graph.node("Add", [embedded, apart], "embedded_apart")
    added = graph.node("Reshape", [embedded, "flat"], "embedded_flat")
    return norm(graph, weights, config, "embeddings", added)


def layer(
    graph: Graph, products: Products, weights: Weights, config: Mapping[str, Any], states: str, number: int,
    asking: str = "",
) -> str:  # fmt: skip
    """The states [B*T, D] after a layer. `asking` names other states [B, D], one a text: only they are carried on
    then, with all of the text's states before their eyes."""
    source, own = f"encoder.layer.{number}", asking or states
    heads = int(config["num_attention_heads"])
    attended = _attention(graph, products, weights, f"{source}.attention", states, heads, asking)
    added = graph.node("Add", [attended, own], f"{source}.attention.added")
    own = norm(graph, weights, config, f"{source}.attention.output", added)
    inner = weight_and_bias(weights, f"{source}.intermediate.dense")
    outer = weight_and_bias(weights, f"{source}.output.dense")
    new = products.feed_forward(graph, source, own, *inner, *outer)
    return norm(graph, weights, config, f"{source}.output", graph.node("Add", [new, own], f"{source}.added"))


def _attention(
    graph: Graph, products: Products, weights: Weights, source: str, states: str, heads: int, asking: str
) -> str:
    parts = []
    for part in ("query", "key", "value"):
        alone = part == "query" and asking
        rows, shape = (asking, "one_shape") if alone else (states, "shape")
        made = products.dense(graph, f"{source}.{part}", rows, *weight_and_bias(weights, f"{source}.self.{part}"))
        parts.append(graph.node("Reshape", [made, shape], f"{source}.{part}_rows"))
    attended = graph.node("MultiHeadAttention", parts, f"{source}.attended", MICROSOFT, num_heads=heads)
    attended = graph.node("Reshape", [attended, "flat"], f"{source}.attended_flat")
    return products.dense(graph, f"{source}.out", attended, *weight_and_bias(weights, f"{source}.output.dense"))


def weight_and_bias(weights: Weights, source: str) -> tuple[Array, Array]:
    return weights[f"{source}.weight"].T, weights[f"{source}.bias"]


def norm(graph: Graph, weights: Weights, config: Mapping[str, Any], source: str, states: str) -> str:
    scale = graph.constant(f"{source}.scale", weights[f"{source}.LayerNorm.weight"])
    shift = graph.constant(f"{source}.shift", weights[f"{source}.LayerNorm.bias"])
    epsilon = float(config["layer_norm_eps"])
    return graph.node("LayerNormalization", [states, scale, shift], f"{source}.normed", epsilon=epsilon, axis=-1)


def model(graph: Graph, inputs: Sequence[str], output: str, shape: Sequence[str | int]) -> onnx.ModelProto:
    """The finished graph: `inputs` are int64 [B, T], `output` is float32 of this shape."""
    taken = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs]
    given = helper.make_tensor_value_info(output, TensorProto.FLOAT, list(shape))
    body = helper.make_graph(graph.nodes, "encoder", taken, [given], graph.constants)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=8, producer_name="whymatch")
