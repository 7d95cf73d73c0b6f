"""The weights of an encoder's graph in 8 bits.

What is lost comes from few places, so these are treated apart:

- a channel that is large in every text would leave few steps to the others: its size is moved from the activations
  into the weights before they are rounded (SmoothQuant, Xiao et al. 2023, section 4);
- neurons that grow very large stay in float32 (LLM.int8(), Dettmers et al. 2022, section 3.2), of which the
  feed-forward layer's neurons can be parted without a copy;
- the runtime adds two neighbours' products in 16 bits on processors without VNNI: a weight's scale is such that no
  two of them can overflow.

Which channels and neurons these are is read from the activations of a sample of texts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from core.encode.graph import MICROSOFT, Array, Graph, Products

_KEPT = 32  # neurons of a layer in float32: more did not help
_KEPT_SHARE = 8  # of a small layer, one in so many
_SMALL = 1e-3
_LARGEST, _LARGEST_PAIR = 127, 128  # 255 * 128 is the largest sum within 16 bits


class Int8Products(Products):
    """Weights with a scale for each output channel, activations measured at run time.

    `peaks` holds each product's largest absolute activation by channel [K], by the name of the tensor.
    """

    def __init__(self, peaks: Mapping[str, Array]) -> None:
        self._peaks = peaks

    def words(self, graph: Graph, table: Array) -> str:
        """Each word's vector has a scale of its own."""
        scales = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-12) / 127
        graph.constant("words", np.round(table / scales).astype(np.int8))
        graph.constant("word_scales", scales.astype(np.float32))
        rows = graph.node("Gather", ["words", "input_ids"], "word_steps")
        rows = graph.node("Cast", [rows], "word_floats", to=TensorProto.FLOAT)
        return graph.node("Mul", [rows, graph.node("Gather", ["word_scales", "input_ids"], "scale_rows")], "word_rows")

    def dense(self, graph: Graph, name: str, states: str, weight: Array, bias: Array) -> str:
        if states in self._peaks:
            factors = _smoothing(self._peaks[states])
            weight = weight * factors[:, None]
            states = self._smoothed(graph, states, factors)
        steps, scales = rounded(weight)
        inputs = [
            states, graph.constant(f"{name}.w", steps), graph.constant(f"{name}.scales", scales), "",
            graph.constant(f"{name}.b", bias),
        ]  # fmt: skip
        return graph.node("DynamicQuantizeMatMul", inputs, name, MICROSOFT)

    def _smoothed(self, graph: Graph, states: str, factors: Array) -> str:
        if f"{states}.smooth" not in graph.known:
            graph.constant(f"{states}.factors", (1 / factors).astype(np.float32))
        return graph.node("Mul", [states, f"{states}.factors"], f"{states}.smooth")

    def feed_forward(self, graph: Graph, name: str, states: str, inner: Array, bias: Array, outer: Array,
                     outer_bias: Array) -> str:  # fmt: skip
        order = np.argsort(-self._peaks[f"{name}.gelu"], kind="stable")
        kept = np.sort(order[: min(_KEPT, len(order) // _KEPT_SHARE)])
        rest = np.sort(order[len(kept) :])
        many = self.dense(graph, f"{name}.inner", states, inner[:, rest], bias[rest])
        many = graph.node("Gelu", [many], f"{name}.gelu_many", MICROSOFT)
        few = super().dense(graph, f"{name}.inner_kept", states, inner[:, kept], bias[kept])
        few = graph.node("Gelu", [few], f"{name}.gelu_kept", MICROSOFT)
        added = self.dense(graph, f"{name}.outer", many, outer[rest], outer_bias)
        return graph.node("Gemm", [few, graph.constant(f"{name}.outer_kept.w", outer[kept]), added], f"{name}.out")


def _smoothing(peaks: Array) -> NDArray[np.float32]:
    """Factor [K] by which each channel's activations are divided and its weights multiplied; 1 on the average."""
    roots = np.sqrt(np.maximum(peaks, _SMALL))
    return np.asarray(roots / np.exp(np.log(roots).mean()), np.float32)


def rounded(weight: Array) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Weight [K, M] as steps (int8) and the size [M] of a step.

    No two neighbours' steps of one sign (rows 2i and 2i+1) add up to more than 128.
    """
    even = np.concatenate([weight, np.zeros((len(weight) % 2, weight.shape[1]), weight.dtype)])
    pairs = np.abs(even[0::2] + even[1::2])  # of unlike signs the larger one counts, and that alone is bounded below
    steps = np.maximum(np.abs(weight).max(axis=0) / _LARGEST, pairs.max(axis=0) / (_LARGEST_PAIR - 1))
    steps = np.maximum(steps, 1e-12).astype(np.float32)
    return np.round(weight / steps).astype(np.int8), steps
