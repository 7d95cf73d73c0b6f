"""A cross-encoder's weights to ONNX files that the runtime serves, exact and in 8 bits, and which of them is served.

The score is read from the first state alone, so of the last layer nothing else is computed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from safetensors.numpy import load_file

from core.base.files import read_json, sha256_file
from core.encode.calibrate import peaks
from core.encode.cross_encoder import PASSAGE_TYPES, SCORES, TOKEN_IDS, CrossEncoder
from core.encode.export import MODEL_CONFIG, TOKENIZER, WEIGHTS, reading, save, telling
from core.encode.graph import Array, Graph, Products, Weights, checked, embed, layer, model, weight_and_bias
from core.encode.int8 import Int8Products
from core.encode.onnx import DATA, FP32, INT8
from core.encode.pairs import Pairs
from core.encode.sample import CALIBRATION, JUDGED, QUESTIONS
from core.models.bundles import RERANKER, Bundle
from core.models.graphs import GRAPH

LEAST_AGREEMENT = 0.99
_FIRST = "first"  # the states that are asked with in the last layer
_HEADS = (("pooler.dense", "classifier"), ("classifier.dense", "classifier.out_proj"))  # of BERT, of RoBERTa
_ROUNDS = 3
_MOST_TOKENS, _MOST_QUESTION_TOKENS = 128, 48
_QUESTIONS = QUESTIONS[:8]


def build(weights: Weights, config: Mapping[str, Any], products: Products | None = None) -> onnx.ModelProto:
    """The graph: ids (and segments, where the model knows them; both int64 [B, T], no padding) to scores [B].

    Raises:
        KnownError: the architecture is not of the BERT family.
        KeyError, ValueError: weights are missing.
    """
    plain = checked(weights, config)
    graph, products = Graph(), products or Products()
    segments = knows_segments(config)
    states = embed(graph, products, plain, config, PASSAGE_TYPES if segments else "")
    last = int(config["num_hidden_layers"]) - 1
    for number in range(last):
        states = layer(graph, products, plain, config, states, number)
    graph.constant("one_shape", np.array([-1, 1, int(config["hidden_size"])]))
    whole = graph.node("Reshape", [states, "shape"], "whole")
    first = graph.node("Gather", [whole, graph.constant("first_place", np.array([0]))], "first_rows", axis=1)
    first = graph.node("Reshape", [first, "flat"], _FIRST)
    _head(graph, plain, layer(graph, products, plain, config, states, last, first))
    return model(graph, (TOKEN_IDS, PASSAGE_TYPES) if segments else (TOKEN_IDS,), SCORES, ("batch",))


def knows_segments(config: Mapping[str, Any]) -> bool:
    return int(config.get("type_vocab_size", 1)) > 1


def _head(graph: Graph, weights: Weights, first: str) -> None:
    """tanh(first W + b) w + b, exactly: it is a hundredth of the work."""
    hidden, out = next(names for names in _HEADS if f"{names[1]}.weight" in weights)
    exact = Products()
    inner = graph.node("Tanh", [exact.dense(graph, "hidden", first, *weight_and_bias(weights, hidden))], "tanh")
    scores = exact.dense(graph, "score_column", inner, *weight_and_bias(weights, out))
    graph.node("Reshape", [scores, graph.constant("column", np.array([-1]))], SCORES)


def export_cross(folder: Path, serving: str = "") -> dict[str, Any]:
    """Write both graphs beside the weights in `folder`; return the bundle's config fields.

    Without `serving` both are compared on this machine: `int8` tells how they agree (the mean correlation of their
    scores over the questions of the sample) and how much faster 8 bits are.

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
        found = _peaks(folder, config, exact)
        save(build(weights, config, Int8Products(found)), folder / INT8)
        if serving:
            return {"serving": serving, "graph": GRAPH}
        agreement, speed = _compared(*(_opened(folder, file) for file in (FP32, INT8)))
    figures = {"agreement": round(agreement, 4), "speed": round(speed, 2)}
    passed = agreement >= LEAST_AGREEMENT and speed > 1
    return {"serving": INT8 if passed else FP32, "graph": GRAPH, "int8": figures}


def _peaks(folder: Path, config: Mapping[str, Any], exact: onnx.ModelProto) -> dict[str, Array]:
    found = peaks(folder / FP32, _texts(folder, config))
    before = next(node.input[0] for node in exact.graph.node if node.output[0] == "whole")
    return {**found, _FIRST: found[before]}  # some of its rows


def _texts(folder: Path, config: Mapping[str, Any]) -> Iterator[dict[str, list[int]]]:
    """Every text of the sample with another one as its question."""
    family, room = str(config["model_type"]), int(config["max_position_embeddings"]) - 2
    longest = min(_MOST_TOKENS, room)
    pairs = Pairs(folder / TOKENIZER, family, longest=longest, question_tokens=min(_MOST_QUESTION_TOKENS, longest // 2))
    questions = pairs.questions([*QUESTIONS])
    for number, passage in enumerate(pairs.passages(CALIBRATION)):
        pair = pairs.joined(questions[number % len(questions)], passage)
        yield {TOKEN_IDS: pair.ids, **({PASSAGE_TYPES: pair.types} if knows_segments(config) else {})}


def _opened(folder: Path, file: str) -> CrossEncoder:
    names = [name for name in (file, file + DATA, TOKENIZER, MODEL_CONFIG) if (folder / name).exists()]
    config = {
        "pair_tokens": _MOST_TOKENS, "question_tokens": _MOST_QUESTION_TOKENS,
        "files": {name: sha256_file(folder / name) for name in names},
    }  # fmt: skip
    return CrossEncoder(Bundle(folder.name, RERANKER, folder, config), file=file, threads=1)


def _compared(exact: CrossEncoder, rounded: CrossEncoder) -> tuple[float, float]:
    """Agreement, and the processor time of the exact one over that of the other; both work by turns."""
    seconds: list[list[float]] = [[], []]
    scores: list[Array] = [np.empty(0)] * 2
    for _ in range(_ROUNDS):
        for at, one in enumerate((exact, rounded)):
            begun = time.process_time()
            scores[at] = np.stack([one.score(question, JUDGED) for question in _QUESTIONS])
            seconds[at].append(time.process_time() - begun)
    speed = float(np.median(seconds[0])) / max(float(np.median(seconds[1])), 1e-9)
    return correlation(*scores), speed


def correlation(left: Array, right: Array) -> float:
    """Mean over the rows [Q, N] of Pearson's correlation; rows without any spread are left out (0 when all are)."""
    first, second = (rows.astype(np.float64) - rows.mean(axis=1, keepdims=True) for rows in (left, right))
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    alive = norms > 0
    return float(((first * second).sum(axis=1)[alive] / norms[alive]).mean()) if alive.any() else 0.0
