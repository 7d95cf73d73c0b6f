"""An encoder's torch weights behind the same protocol: for training, for parity and where a GPU is."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from core.base.errors import ModelDamaged
from core.base.types import DENSE, LEXICAL, MULTI
from core.encode.batched import Applied, BatchedEncoder
from core.encode.encoder import FloatArray
from core.encode.heads import Linear
from core.models.bundles import Bundle


class TorchEncoder(BatchedEncoder):
    """The model of a bundle's `model.safetensors`; `device` "" takes a GPU when there is one.

    Raises:
        ModelDamaged: the weights cannot be loaded.
    """

    def __init__(self, bundle: Bundle, *, device: str = "") -> None:
        super().__init__(bundle)
        self.device = torch.device(device or best_device())
        self.batch_tokens = 1024 if self.device.type == "cpu" else 65536
        try:
            model: Any = AutoModel.from_pretrained(bundle.folder, local_files_only=True, dtype=torch.float32)
        except (OSError, ValueError, RuntimeError) as error:
            what = f"The weights of {bundle.id} cannot be loaded: {error}."
            raise ModelDamaged(what, f"Install it again: whymatch models add {bundle.id}") from error
        self.model = model.to(self.device).eval()

    def _states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> FloatArray:
        with torch.inference_mode():
            return _array(self._forward(ids, mask)[0])

    def _pool(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> FloatArray:
        """Pooled on the device, so that only [B, D] leaves it."""
        with torch.inference_mode():
            return _array(self._pooled_states(self._forward(ids, mask)[0], self._shares(ids, mask)))

    def _apply(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], own: NDArray[np.bool_], wanted: Collection[str]
    ) -> Applied:
        """The token heads run on the device too, so that no states leave it."""
        with torch.inference_mode():
            states_BTD, _ = self._forward(ids, mask)
            states_KD = states_BTD[torch.from_numpy(own).to(self.device)]
            pooled = _array(self._pooled_states(states_BTD, self._shares(ids, mask))) if DENSE in wanted else None
            vectors = _array(self._token_vectors(states_KD)) if MULTI in wanted else None
            if LEXICAL in wanted and (expansion := self._heads.expansion) is not None:
                rows = zip(_array(states_BTD), own, strict=True)
                return Applied(pooled, None, vectors, np.stack([expansion(row[of]) for row, of in rows]))
            return Applied(pooled, _array(self._token_weights(states_KD)) if LEXICAL in wanted else None, vectors)

    def _shares(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> torch.Tensor:
        return torch.from_numpy(self._heads.shares(ids, mask)).to(self.device)

    def _pooled_states(self, states_BTD: torch.Tensor, shares_BT: torch.Tensor) -> torch.Tensor:
        if self._pooling == "cls":
            return states_BTD[:, 0]
        weights = shares_BT.unsqueeze(-1).to(states_BTD.dtype)
        return (states_BTD * weights).sum(1) / weights.sum(1)

    def _token_weights(self, states_KD: torch.Tensor) -> torch.Tensor:
        if self._heads.lexical is None:
            raise ValueError("no lexical head")
        return self._linear(self._heads.lexical, states_KD)[:, 0].relu()

    def _token_vectors(self, states_KD: torch.Tensor) -> torch.Tensor:
        multi = self._heads.multi
        return torch.nn.functional.normalize(states_KD if multi is None else self._linear(multi, states_KD), dim=-1)

    def _linear(self, head: Linear, rows: torch.Tensor) -> torch.Tensor:
        weight, bias = (torch.from_numpy(part).to(self.device) for part in (head.weight, head.bias))
        return torch.nn.functional.linear(rows, weight, bias)

    def _forward(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        ids_BT = torch.from_numpy(ids).to(self.device)
        mask_BT = torch.from_numpy(mask).to(self.device)
        return self.model(input_ids=ids_BT, attention_mask=mask_BT).last_hidden_state, mask_BT


def _array(tensor: torch.Tensor) -> FloatArray:
    return np.asarray(tensor.cpu().numpy(), np.float32)


def best_device() -> str:
    """The fastest device of this machine, by torch's name."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
