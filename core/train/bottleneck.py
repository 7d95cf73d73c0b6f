"""Small decoders that must restore a text from its vector: what they cannot see otherwise, the vector must hold.

They are thrown away after pre-training. Sources: SimLM (Wang et al. 2023), section 3.1: some layers that read the
vector and the text's token embeddings; RetroMAE (Xiao et al. 2022), section 3.3: one layer in which each place reads
a part of the text of its own.

Shapes: B texts, T tokens, D dimensions, H attention heads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from core.train.backbone import Backbone
from core.train.condenser import HEAD_LAYERS, CondenserHead

SEEN = 0.5  # share of the text that each place of the enhanced decoder reads
_NAMES = {
    "self_attn.out_proj": "attention.output.dense", "linear1": "intermediate.dense", "linear2": "output.dense",
    "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm",
}  # fmt: skip


class PlainDecoder(CondenserHead):
    """Layers that read in both directions; they begin as copies of the encoder's last ones, where these are like
    BERT's."""

    def __init__(self, backbone: Backbone, layers: int = HEAD_LAYERS) -> None:
        config: Any = backbone.model.config
        super().__init__(config.hidden_size, config.num_attention_heads, config.intermediate_size, layers)
        weights = backbone.model.state_dict()
        first = config.num_hidden_layers - layers
        for place, layer in enumerate(self.layers):
            begin_as(layer, weights, f"encoder.layer.{first + place}.", getattr(config, "layer_norm_eps", 1e-12))


def begin_as(layer: nn.Module, weights: Mapping[str, Tensor], prefix: str, epsilon: float) -> bool:
    """Make a fresh `nn.TransformerEncoderLayer` the layer of BERT's kind whose weights begin with `prefix`.

    Returns False, with the layer as it was, where there are none of these names.
    """
    attention = [f"{prefix}attention.self.{name}." for name in ("query", "key", "value")]
    named = {f"{own}.{kind}": f"{prefix}{name}.{kind}" for own, name in _NAMES.items() for kind in ("weight", "bias")}
    if not all(name in weights for name in (*named.values(), *(name + "weight" for name in attention))):
        return False
    found = {own: weights[name] for own, name in named.items()}
    for kind in ("weight", "bias"):
        found[f"self_attn.in_proj_{kind}"] = torch.cat([weights[name + kind] for name in attention])
    layer.load_state_dict(found)
    for norm in (layer.norm1, layer.norm2):
        assert isinstance(norm, nn.LayerNorm)
        norm.eps = epsilon
    return True


class EnhancedDecoder(nn.Module):
    """Each place asks with the vector and its position, and reads the vector and half of the other places."""

    def __init__(self, backbone: Backbone, seen: float = SEEN) -> None:
        super().__init__()
        config: Any = backbone.model.config
        width, self._heads, self._seen = int(config.hidden_size), int(config.num_attention_heads), seen
        self.positions = nn.Parameter(_positions(backbone, width))
        self.attention = nn.MultiheadAttention(width, self._heads, batch_first=True)
        self.wide = nn.Linear(width, int(config.intermediate_size))
        self.narrow = nn.Linear(int(config.intermediate_size), width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.dropout = nn.Dropout(0.1)

    def forward(self, vector_BD: Tensor, tokens_BTD: Tensor, mask_BT: Tensor) -> Tensor:
        """States [B, T, D] (RetroMAE, equations 4 to 8). What each place reads is drawn by torch's own generator."""
        asking_BTD = vector_BD.unsqueeze(1) + self.positions[: mask_BT.shape[1]]
        read_BTD = torch.cat([vector_BD.unsqueeze(1), tokens_BTD[:, 1:]], dim=1)
        hidden_BTT = unread(mask_BT, self._seen).repeat_interleave(self._heads, 0)
        told_BTD, _ = self.attention(asking_BTD, read_BTD, read_BTD, attn_mask=hidden_BTT, need_weights=False)
        states_BTD = self.norms[0](asking_BTD + self.dropout(told_BTD))
        deeper_BTD = self.narrow(functional.gelu(self.wide(states_BTD)))
        done_BTD: Tensor = self.norms[1](states_BTD + self.dropout(deeper_BTD))
        return done_BTD


def unread(mask_BT: Tensor, seen: float) -> Tensor:
    """[B, T, T]: where a place (row) may not read another: a share of 1 - `seen` drawn for each place, padding, and
    itself. The vector in place 0 is read by all."""
    count = mask_BT.shape[1]
    chance_BTT = torch.rand(*mask_BT.shape, count, device=mask_BT.device)
    hidden_BTT = (chance_BTT >= seen) | (mask_BT == 0).unsqueeze(1)
    hidden_BTT = hidden_BTT | torch.eye(count, dtype=torch.bool, device=mask_BT.device)
    hidden_BTT[:, :, 0] = False
    return hidden_BTT


def _positions(backbone: Backbone, width: int) -> Tensor:
    """The encoder's own positions [longest, D] in the order of tokens, or fresh ones where it has none of BERT's kind.

    XLM-R counts positions from behind that of its padding.
    """
    model: Any = backbone.model
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if not isinstance(table, nn.Embedding):
        return torch.randn(backbone.max_tokens, width) * 0.02
    first = 0 if table.padding_idx is None else table.padding_idx + 1
    return table.weight.detach()[first:].clone()
