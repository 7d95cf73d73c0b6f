"""An encoder's torch weights behind the same protocol: for training, for parity and where a GPU is."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from core.base.errors import ModelDamaged
from core.encode.batched import BatchedEncoder
from core.encode.encoder import FloatArray
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
            return np.asarray(self._forward(ids, mask)[0].cpu().numpy(), np.float32)

    def _pool(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> FloatArray:
        """Pooled on the device, so that only [B, D] leaves it."""
        with torch.inference_mode():
            states_BTD, mask_BT = self._forward(ids, mask)
            if self._pooling == "cls":
                pooled_BD = states_BTD[:, 0]
            else:
                weights = mask_BT.unsqueeze(-1).to(states_BTD.dtype)
                pooled_BD = (states_BTD * weights).sum(1) / weights.sum(1)
            return np.asarray(pooled_BD.cpu().numpy(), np.float32)

    def _forward(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        ids_BT = torch.from_numpy(ids).to(self.device)
        mask_BT = torch.from_numpy(mask).to(self.device)
        return self.model(input_ids=ids_BT, attention_mask=mask_BT).last_hidden_state, mask_BT


def best_device() -> str:
    """The fastest device of this machine, by torch's name."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
