"""Condenser's head: the masked words must be guessed through the one vector that stands for the text.

The head sees the tokens as an early layer left them, and the text's vector as the last layer made it. What the late
layers found out can only reach the head through that vector, so it learns to hold the text. The head is thrown away
after pre-training. Source: Gao & Callan 2021, "Condenser"; 2022 for coCondenser.

Shapes: B texts, T tokens, D dimensions, M hidden tokens, V tokens of the vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from core.train.backbone import Backbone
from core.train.masking import IGNORED

HEAD_LAYERS = 2


class MlmLayer(nn.Module):
    """States to scores of all tokens: a transform, then the input embeddings again and a bias of their own.

    The transform begins as the identity, so that the layer says something sensible from the start.
    """

    def __init__(self, dimension: int, vocabulary: int) -> None:
        super().__init__()
        self.transform = nn.Linear(dimension, dimension)
        self.norm = nn.LayerNorm(dimension)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        nn.init.eye_(self.transform.weight)
        nn.init.zeros_(self.transform.bias)

    def expect(self, counts_V: Tensor) -> None:
        """Begin with how often each token stands in the library, which takes long to learn and nothing to count."""
        with torch.no_grad():
            self.bias.copy_(((counts_V.float() + 1) / (counts_V.sum() + len(counts_V))).log())

    def forward(self, states_MD: Tensor, embeddings_VD: Tensor) -> Tensor:
        """Scores [M, V]."""
        return functional.linear(self.shaped(states_MD), embeddings_VD, self.bias)

    def shaped(self, states_MD: Tensor) -> Tensor:
        """The states [M, D] whose products with the embeddings are the scores, but for the bias."""
        shaped_MD: Tensor = self.norm(functional.gelu(self.transform(states_MD)))
        return shaped_MD

    def loss(self, states_BTD: Tensor, labels_BT: Tensor, embeddings_VD: Tensor) -> Tensor:
        """Mean cross entropy of the hidden tokens; only they are scored. 0 where nothing is hidden."""
        hidden_BT = labels_BT != IGNORED
        if not bool(hidden_BT.any()):
            return states_BTD.sum() * 0
        scores_MV = self(states_BTD[hidden_BT], embeddings_VD)
        return functional.cross_entropy(scores_MV.float(), labels_BT[hidden_BT])


class CondenserHead(nn.Module):
    """Some fresh transformer layers over early token states behind the text's late vector."""

    def __init__(self, dimension: int, heads: int, wide: int, layers: int = HEAD_LAYERS, dropout: float = 0.1) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(dimension, heads, wide, dropout, functional.gelu, batch_first=True)
            for _ in range(layers)
        )

    def forward(self, vector_BD: Tensor, early_BTD: Tensor, mask_BT: Tensor) -> Tensor:
        """States [B, T, D]: place 0 holds the late vector in place of the early state that was there."""
        states_BTD = torch.cat([vector_BD.unsqueeze(1), early_BTD[:, 1:]], dim=1)
        for layer in self.layers:
            states_BTD = layer(states_BTD, src_key_padding_mask=mask_BT == 0)
        return states_BTD


class Condenser(nn.Module):
    """An encoder with the head and the output layer of its masked language model.

    The vector in place 0 is the one that the encoder serves: its CLS, or the mean of its states for encoders pooled so;
    a vector that nobody reads would be trained otherwise.
    """

    def __init__(self, backbone: Backbone, *, early: int | None = None, head_layers: int = HEAD_LAYERS) -> None:
        """`early` is the layer whose token states the head sees, by default the middle one (6 of 12, 3 of 6)."""
        super().__init__()
        config: Any = backbone.model.config
        self.backbone = backbone
        self.early = config.num_hidden_layers // 2 if early is None else early
        width = int(config.hidden_size)
        self.head = CondenserHead(width, int(config.num_attention_heads), int(config.intermediate_size), head_layers)
        self.mlm = MlmLayer(width, len(self.embeddings_VD))
        self.to(backbone.device)

    @property
    def embeddings_VD(self) -> Tensor:
        model: Any = self.backbone.model
        weights: Tensor = model.get_input_embeddings().weight
        return weights

    def states(self, ids_BT: Tensor, mask_BT: Tensor) -> tuple[Tensor, Tensor]:
        """Early and late states, both [B, T, D]."""
        every = self.backbone.hidden(ids_BT, mask_BT)
        return every[self.early], every[-1]

    def losses(self, early_BTD: Tensor, late_BTD: Tensor, mask_BT: Tensor, labels_BT: Tensor) -> tuple[Tensor, Tensor]:
        """The head's and the late layers' masked language model loss (Condenser, equation 7).

        The second keeps the late layers from damage by a head that knows nothing yet.
        """
        vector_BD = self.backbone.pooled(late_BTD, mask_BT).to(late_BTD.dtype)
        through_BTD = self.head(vector_BD, early_BTD, mask_BT)
        embeddings_VD = self.embeddings_VD
        return (
            self.mlm.loss(through_BTD, labels_BT, embeddings_VD),
            self.mlm.loss(late_BTD, labels_BT, embeddings_VD),
        )
