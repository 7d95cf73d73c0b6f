"""The heads of M3-Embedding in training: weights of terms and vectors of tokens, made of an encoder's token states.

Shapes: B texts, T tokens, K tokens of many texts, D width of the states, M dimensions of a token vector, V terms that
texts are expanded by.
Source: Chen et al. 2024, section 3.1; the expansion is SPLADE's (Formal et al. 2021), equations 1 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from core.encode.heads import Expansion, Heads, Linear
from core.train.condenser import MlmLayer


@dataclass(frozen=True, slots=True)
class HeadSettings:
    """`dimension` of token vectors, 0 for as many as the states have (ColBERT takes 128). A term's weight begins at
    `bias`, so that no token is silent at first and the lexical score counts the terms in common. With `expansion` a
    text also has weights for terms that it does not say."""

    dimension: int = 128
    bias: float = 0.1
    expansion: bool = False


class Expander(nn.Module):
    """States to weights of terms: what a masked language model would write there, the largest over the text."""

    def __init__(self, embeddings_VD: Tensor, ids_V: Tensor) -> None:
        """`ids_V` are the terms that texts may be expanded by, `embeddings_VD` their rows of the word table."""
        super().__init__()
        self.layer = MlmLayer(embeddings_VD.shape[1], len(ids_V))
        self.ids_V: Tensor
        self.table_VD: Tensor
        self.register_buffer("ids_V", ids_V)
        # raw rows have a direction in common, and those of frequent terms are shorter
        self.register_buffer("table_VD", functional.normalize(embeddings_VD - embeddings_VD.mean(0), dim=-1))

    def scores(self, states_KD: Tensor) -> Tensor:
        """How well each term would stand there [K, V]."""
        shaped_KD = self.layer.norm(functional.gelu(self.layer.transform(states_KD), approximate="tanh"))
        return functional.linear(shaped_KD, self.table_VD, self.layer.bias)

    def forward(self, states_BTD: Tensor, own_BT: Tensor) -> Tensor:
        """Weights [B, V]: log(1 + ReLU(score)), the largest over a text's own tokens."""
        scores_BTV = self.scores(states_BTD).masked_fill(~own_BT.unsqueeze(-1), 0.0)
        return scores_BTV.amax(1).relu().log1p()

    def settle(self, states_KD: Tensor, active: float) -> None:
        """Shift all scores so that a token raises `active` terms in the mean: which ones is not changed."""
        with torch.no_grad():
            scores_KV = self.scores(states_KD)
            most = max(1, round(active * len(scores_KV)))
            self.layer.bias.sub_(scores_KV.flatten().topk(min(most, scores_KV.numel())).values[-1])


class M3Heads(nn.Module):
    """A lexical head (a weight for each token, or an expansion) and a multi-vector head."""

    def __init__(self, width: int, settings: HeadSettings, expander: Expander | None = None) -> None:
        super().__init__()
        self.lexical = nn.Linear(width, 1) if expander is None else None
        self.expander = expander
        self.multi = nn.Linear(width, min(settings.dimension or width, width))
        nn.init.zeros_(self.multi.bias)
        if self.lexical is not None:
            nn.init.zeros_(self.lexical.weight)
            nn.init.constant_(self.lexical.bias, settings.bias)

    def begin(self, states_KD: Tensor) -> None:
        """Begin with the main directions of some tokens' states: what they say is kept as far as there is room."""
        rows = len(self.multi.weight)
        with torch.no_grad():
            if rows == states_KD.shape[1]:
                nn.init.eye_(self.multi.weight)
                return
            _, directions_DM = torch.linalg.eigh((states_KD.T @ states_KD).double())
            self.multi.weight.copy_(directions_DM[:, -rows:].T)

    def take_over(self, heads: Heads) -> None:
        """Begin with heads that an encoder has already, where they are of this shape."""
        for layer, head in ((self.lexical, heads.lexical), (self.multi, heads.multi)):
            if layer is not None and head is not None and head.weight.shape == tuple(layer.weight.shape):
                with torch.no_grad():
                    layer.weight.copy_(torch.from_numpy(head.weight))
                    layer.bias.copy_(torch.from_numpy(head.bias))

    def token_weights(self, states_BTD: Tensor) -> Tensor:
        """Weights [B, T] of tokens, none below 0; only without an expansion."""
        assert self.lexical is not None
        weights_BT: Tensor = self.lexical(states_BTD).squeeze(-1).relu()
        return weights_BT

    def token_vectors(self, states_BTD: Tensor) -> Tensor:
        """Unit vectors [B, T, M]."""
        return functional.normalize(self.multi(states_BTD), dim=-1)

    def served(self, base: Heads) -> Heads:
        """These heads as a bundle holds them, beside what else `base` has."""
        lexical = None if self.lexical is None else _linear(self.lexical)
        expansion = None if self.expander is None else _expansion(self.expander)
        return replace(base, lexical=lexical, multi=_linear(self.multi), expansion=expansion)


def _linear(layer: nn.Linear) -> Linear:
    return Linear(_array(layer.weight), _array(layer.bias))


def _expansion(expander: Expander) -> Expansion:
    layer = expander.layer
    return Expansion(
        ids=expander.ids_V.cpu().numpy().astype(np.int64), table=_array(expander.table_VD), bias=_array(layer.bias),
        transform=_linear(layer.transform), scale=_array(layer.norm.weight), shift=_array(layer.norm.bias),
    )  # fmt: skip


def _array(tensor: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.ascontiguousarray(tensor.detach().cpu().float().numpy())
