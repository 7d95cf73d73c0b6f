"""A slow, independent encoder in float64: BERT and XLM-R text by text, heads token by token."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

Array = NDArray[np.float64]


class SlowEncoder:
    """Reads what transformers would read; knows nothing of bundles. `weights` are the model's, in its own names."""

    def __init__(self, folder: Path, weights: Mapping[str, Array], prefix: str = "", window: int = 10**6) -> None:
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = {name: np.asarray(value, np.float64) for name, value in weights.items()}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(window)
        self.prefix = prefix

    def tokens(self, text: str) -> tuple[list[int], list[int]]:
        """Ids, and the positions of the text's own tokens: after special ones and the prefix, no mere spaces."""
        whole = self.prefix + text
        encoded = self.tokenizer.encode(whole)
        own = []
        for i, (start, end) in enumerate(encoded.offsets):
            characters = [place for place in range(start, end) if not whole[place].isspace()]
            if encoded.special_tokens_mask[i] == 0 and characters and characters[0] >= len(self.prefix):
                own.append(i)
        return encoded.ids, own

    def states(self, ids: list[int], types: list[int] | None = None) -> Array:
        """Last-layer states [T, D] of one text without padding, whose tokens are of these segments."""
        first = 0 if self.config["model_type"] == "bert" else 2
        rows = []
        for i, id in enumerate(ids):
            row = self.weights["embeddings.word_embeddings.weight"][id]
            row = row + self.weights["embeddings.position_embeddings.weight"][first + i]
            segment = types[i] if types else 0
            rows.append(row + self.weights["embeddings.token_type_embeddings.weight"][segment])
        states = self._norm(np.array(rows), "embeddings.LayerNorm")
        for layer in range(self.config["num_hidden_layers"]):
            states = self._layer(states, f"encoder.layer.{layer}")
        return states

    def _layer(self, states: Array, name: str) -> Array:
        count = self.config["num_attention_heads"]
        query, key, value = (
            self._linear(states, f"{name}.attention.self.{part}") for part in ("query", "key", "value")
        )
        width = query.shape[1] // count
        mixed = np.zeros_like(query)
        for head in range(count):
            columns = slice(head * width, (head + 1) * width)
            for i in range(len(states)):
                scores = np.array([query[i, columns] @ key[j, columns] for j in range(len(states))]) / math.sqrt(width)
                shares = np.exp(scores - scores.max())
                mixed[i, columns] = (shares / shares.sum()) @ value[:, columns]
        attended = self._linear(mixed, f"{name}.attention.output.dense")
        states = self._norm(states + attended, f"{name}.attention.output.LayerNorm")
        inner = self._linear(states, f"{name}.intermediate.dense")
        inner = inner * np.vectorize(lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2))))(inner)
        return self._norm(states + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, rows: Array, name: str) -> Array:
        return rows @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _norm(self, rows: Array, name: str) -> Array:
        centred = rows - rows.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + self.config["layer_norm_eps"])
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def pooled(self, text: str, pooling: str) -> Array:
        states = self.states(self.tokens(text)[0])
        return states[0] if pooling == "cls" else states.sum(axis=0) / len(states)

    def lexical(self, text: str, weight: Array, bias: Array, nameless: set[str]) -> dict[str, float]:
        """Largest ReLU(w h + b) of each term; a leading space belongs to no term."""
        ids, own = self.tokens(text)
        states = self.states(ids)
        terms: dict[str, float] = {}
        for i in own:
            token = self.tokenizer.id_to_token(ids[i])
            strength = float(weight[0] @ states[i] + bias[0])
            name = token.lstrip("▁")
            if strength > 0 and name and token not in nameless:
                terms[name] = max(strength, terms.get(name, 0.0))
        return terms

    def multi(self, text: str, weight: Array | None = None, bias: Array | None = None) -> list[Array]:
        ids, own = self.tokens(text)
        states = self.states(ids)
        rows = [states[i] if weight is None else weight @ states[i] + bias for i in own]
        return [row / math.sqrt(float(row @ row)) for row in rows]


def unit(row: Array) -> Array:
    return row / math.sqrt(float(row @ row))
