"""The encoder in training: a bundle's weights in torch, with a graph behind what they give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoConfig, AutoModel
from transformers.utils import logging

from core.base.errors import ModelDamaged
from core.base.events import Control
from core.encode.encoder import PASSAGE, FloatArray
from core.encode.heads import POOLING, Linear, read_heads
from core.encode.padding import batches, pad
from core.encode.tokens import Tokens
from core.encode.torch_encoder import best_device
from core.models.bundles import Bundle

HEAD = "head."  # before the names of the dense head's weights in `weights()`
ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")  # as the families of encoders call it
_ACTIVATIONS = {"identity": nn.Identity, "tanh": nn.Tanh, "relu": nn.ReLU}
_BATCH_TOKENS = {"cpu": 2048}
_MANY_TOKENS = 65536  # on a GPU


class Backbone(nn.Module):
    """An encoder of the BERT family with its tokenizer, prefixes, pooling and, where there is one, its dense head.

    A new one is in evaluation mode (no dropout); `train()` and `eval()` are those of any module. Its vectors are those
    of `core.encode` for the same weights.
    """

    def __init__(self, model: nn.Module, head: nn.Module | None, bundle: Bundle, device: str) -> None:
        super().__init__()
        config = bundle.config
        self.model, self.head = model, head
        self.bundle = bundle
        self.pooling = str(config["pooling"])
        self.token_weights: Tensor | None = None  # [V], see `Heads.pooling`
        self.dimension = int(config["dimension"])
        self.max_tokens = int(config["max_tokens"])
        self.prefixes: dict[str, str] = dict(config["prefixes"])
        self.tokens = Tokens(bundle.path("tokenizer.json"), self.max_tokens)
        self.device = torch.device(device)
        self.to(self.device)
        self.eval()

    @classmethod
    def open(cls, bundle: Bundle, device: str = "") -> Backbone:
        """The weights of a bundle in float32; `device` "" takes a GPU when there is one.

        Raises:
            ModelDamaged: the weights or heads cannot be loaded.
        """
        heads = read_heads(bundle)
        try:
            with quietly():
                # the pooler is of next-sentence prediction: no vector goes through it
                model: Any = AutoModel.from_pretrained(
                    bundle.folder, config=_config(bundle), local_files_only=True, dtype=torch.float32,
                    add_pooling_layer=False,
                )  # fmt: skip
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            what = f"The weights of {bundle.id} cannot be loaded: {error}."
            raise ModelDamaged(what, f"Install it again: whymatch models add {bundle.id}") from error
        head = None if heads.dense is None else _dense(heads.dense, heads.activation)
        backbone = cls(model, head, bundle, device or best_device())
        if heads.pooling is not None:
            backbone.weigh_tokens(torch.from_numpy(heads.pooling))
        return backbone

    def weigh_tokens(self, weights_V: Tensor | None) -> None:
        """How much each token of the vocabulary counts in the mean, from now on; None: all alike.

        Raises:
            ValueError: the encoder is pooled at CLS.
        """
        if weights_V is not None and self.pooling == "cls":
            raise ValueError("no mean is taken by an encoder that is pooled at CLS")
        self.token_weights = None if weights_V is None else weights_V.detach().float().to(self.device)

    def shares(self, ids_BT: Tensor, mask_BT: Tensor) -> Tensor:
        """How much each token counts in the mean [B, T]: 0 where the mask is."""
        shares_BT = mask_BT.float()
        return shares_BT if self.token_weights is None else shares_BT * self.token_weights[ids_BT]

    def ids(self, texts: Sequence[str], kind: str = PASSAGE, max_tokens: int | None = None) -> list[list[int]]:
        """Token ids of each text with its prefix and special tokens, cut at `max_tokens` (never above the window)."""
        prefix, most = self.prefixes.get(kind, ""), max_tokens or self.max_tokens
        rows = self.tokens.ids([prefix + text for text in texts])
        return [row if len(row) <= most else [*row[: most - 1], row[-1]] for row in rows]  # the closing token stays

    def padded(self, ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """`ids` as right-padded ids [B, T] and their mask [B, T] on the device."""
        ids_BT, mask_BT = pad(ids, self.tokens.pad)
        return torch.from_numpy(ids_BT).to(self.device), torch.from_numpy(mask_BT).to(self.device)

    def embed(self, ids: Sequence[Sequence[int]]) -> Tensor:
        """Unit vectors [B, D] of texts given as token ids, float32, with a graph behind them."""
        ids_BT, mask_BT = self.padded(ids)
        states_BTD = self.model(input_ids=ids_BT, attention_mask=mask_BT).last_hidden_state
        return self.unit(states_BTD, self.shares(ids_BT, mask_BT))

    def forward(self, ids: Sequence[Sequence[int]]) -> Tensor:
        """The same as `embed`."""
        return self.embed(ids)

    def hidden(self, ids_BT: Tensor, mask_BT: Tensor) -> tuple[Tensor, ...]:
        """States [B, T, D] of the embeddings and of every layer, with a graph behind them."""
        told = self.model(input_ids=ids_BT, attention_mask=mask_BT, output_hidden_states=True)
        states: tuple[Tensor, ...] = told.hidden_states
        return states

    def pooled(self, states_BTD: Tensor, mask_BT: Tensor) -> Tensor:
        """The pooled states [B, D] in float32, not normalised and before the dense head; the mask may hold shares."""
        if self.pooling == "cls":
            return states_BTD[:, 0].float()
        weights_BT1 = mask_BT.unsqueeze(-1).float()
        return (states_BTD.float() * weights_BT1).sum(1) / weights_BT1.sum(1)

    def unit(self, states_BTD: Tensor, mask_BT: Tensor) -> Tensor:
        """Unit vectors [B, D] of the last layer's states, float32."""
        pooled_BD = self.pooled(states_BTD, mask_BT)
        if self.head is not None:
            pooled_BD = self.head(pooled_BD).float()
        return functional.normalize(pooled_BD, dim=-1)

    def vectors(self, texts: Sequence[str], kind: str = PASSAGE, control: Control | None = None) -> FloatArray:
        """Unit vectors [N, D] in evaluation mode and without a graph; the mode is put back afterwards.

        Raises:
            Cancelled: through `control`.
        """
        return self.vectors_of(self.ids(texts, kind), control)

    def vectors_of(self, ids: Sequence[Sequence[int]], control: Control | None = None) -> FloatArray:
        """As `vectors`, of texts given as token ids."""
        found: NDArray[np.float32] = np.empty((len(ids), self.dimension), np.float32)
        modes = {module: module.training for module in self.modules()}
        self.eval()
        try:
            for rows in batches([len(row) for row in ids], _BATCH_TOKENS.get(self.device.type, _MANY_TOKENS)):
                if control is not None:
                    control.check()
                with torch.no_grad():
                    found[rows] = self.embed([ids[row] for row in rows]).cpu().numpy()
        finally:
            for module, mode in modes.items():
                module.training = mode
        return found

    def weights(self) -> dict[str, Tensor]:
        """A copy of all weights on the CPU, by transformers' names; those of the dense head begin with `HEAD`, those of
        tokens in the mean are called `POOLING`."""
        named = dict(self.model.state_dict())
        if self.head is not None:
            named |= {HEAD + name: tensor for name, tensor in self.head.state_dict().items()}
        if self.token_weights is not None:
            named[POOLING] = self.token_weights
        return {name: tensor.detach().cpu().clone() for name, tensor in named.items()}

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Take over what `weights()` of a backbone of the same shape gave.

        Raises:
            ValueError: the names or shapes are others.
        """
        try:
            own = {name: t for name, t in weights.items() if name != POOLING and not name.startswith(HEAD)}
            self.model.load_state_dict(own)
            self.weigh_tokens(weights.get(POOLING))
            if self.head is not None:
                self.head.load_state_dict(
                    {name.removeprefix(HEAD): t for name, t in weights.items() if name.startswith(HEAD)}
                )
        except RuntimeError as error:
            raise ValueError(f"weights of another model: {error}") from error


def _config(bundle: Bundle) -> Any:
    """The model's shape, without dropout of attention weights: the fused kernel has none, and without that kernel a
    step takes a sixth longer and holds two thirds more. Dropout of states stays as the model has it."""
    config = AutoConfig.from_pretrained(bundle.folder, local_files_only=True)
    for name in ATTENTION_DROPOUT:
        if hasattr(config, name):
            setattr(config, name, 0.0)
    return config


@contextmanager
def quietly() -> Iterator[None]:
    """Without the library's own bar and report (of the pooler that is left out) on standard error."""
    shown, told = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(told)
        if shown:
            logging.enable_progress_bar()


def _dense(linear: Linear, activation: str) -> nn.Module:
    layer = nn.Linear(linear.weight.shape[1], linear.weight.shape[0])
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(linear.weight))
        layer.bias.copy_(torch.from_numpy(linear.bias))
    return nn.Sequential(layer, _ACTIVATIONS[activation]())
