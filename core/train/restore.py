"""An encoder with what restores texts from its states and its vector, and the losses of both.

Shapes: B texts, T tokens, D dimensions, M tokens that are asked for.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from core.train.backbone import Backbone
from core.train.bottleneck import EnhancedDecoder, PlainDecoder
from core.train.condenser import HEAD_LAYERS, MlmLayer
from core.train.known_tokens import KnownTokens
from core.train.plans import Plan
from core.train.token_loss import summed_cross_entropy


class Restorer(nn.Module):
    """Only the backbone is worth keeping. The vector is the one that the encoder serves, as in `Condenser`; encoder
    and decoder share the output layer, which is tied to the input embeddings."""

    def __init__(self, backbone: Backbone, plan: Plan, known: KnownTokens, *, layers: int = HEAD_LAYERS) -> None:
        """`layers` are those of a plain decoder."""
        super().__init__()
        self.backbone, self.plan, self.known = backbone, plan, known
        self.decoder: nn.Module | None = None
        if plan.reads == "plain":
            self.decoder = PlainDecoder(backbone, layers)
        elif plan.reads == "enhanced":
            self.decoder = EnhancedDecoder(backbone)
        width = int(self._encoder.config.hidden_size)
        self.output: nn.Module = MlmLayer(width, len(known)) if plan.asked == "tokens" else _swapped_layer(width)
        if isinstance(self.output, MlmLayer):
            self.output.expect(known.counts_K)
        self.to(backbone.device)

    @property
    def _encoder(self) -> Any:
        return self.backbone.model

    def encode(self, shown_BT: Tensor, mask_BT: Tensor) -> tuple[Tensor, Tensor]:
        """States [B, T, D] of the last layer, and the vectors [B, D] pooled of them, not normalised."""
        states_BTD = self._encoder(input_ids=shown_BT, attention_mask=mask_BT).last_hidden_state
        return states_BTD, self.backbone.pooled(states_BTD, self.backbone.shares(shown_BT, mask_BT))

    def decode(self, vector_BD: Tensor, shown_BT: Tensor, mask_BT: Tensor) -> Tensor:
        """The decoder's states [B, T, D]: it sees the vectors, and token embeddings of `shown_BT`, nothing else.

        Raises:
            ValueError: this plan has no decoder.
        """
        if self.decoder is None:
            raise ValueError("no decoder")
        tokens_BTD = self._encoder.embeddings(input_ids=shown_BT)
        states_BTD: Tensor = self.decoder(vector_BD.to(tokens_BTD.dtype), tokens_BTD, mask_BT)
        return states_BTD

    def loss(self, states_BTD: Tensor, ids_BT: Tensor, shown_BT: Tensor, asked_BT: Tensor) -> Tensor:
        """Sum over the asked places: cross entropy of the tokens that stood there, or of whether they were swapped."""
        states_MD = states_BTD[asked_BT]
        if not isinstance(self.output, MlmLayer):
            swapped_M = (ids_BT != shown_BT)[asked_BT].float()
            scores_M = self.output(states_MD).squeeze(-1).float()
            return functional.binary_cross_entropy_with_logits(scores_M, swapped_M, reduction="sum")
        embeddings_KD = self._encoder.get_input_embeddings().weight[self.known.ids_K]
        wanted_M = self.known.places(ids_BT[asked_BT])
        return summed_cross_entropy(self.output.shaped(states_MD), embeddings_KD, self.output.bias, wanted_M)


def _swapped_layer(width: int) -> nn.Module:
    """Of ELECTRA's discriminator."""
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))


def marked(places: list[list[int]], like_BT: Tensor) -> Tensor:
    """[B, T]: True in the places of each row."""
    found = torch.zeros(like_BT.shape, dtype=torch.bool)
    for row, own in zip(found, places, strict=True):
        row[own] = True
    return found.to(like_BT.device)
