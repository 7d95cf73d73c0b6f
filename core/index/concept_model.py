"""A fitted sparse autoencoder as it is used: loaded from its folder, numpy only, no torch.

The folder holds `weights.safetensors` and `config.json` (format, encoder, data hash, sizes, fidelity), so it
can be judged without code. At inference every pre-activation above one threshold stays (JumpReLU); the
threshold is kept in float64, as rounding it would change which latents fire.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from core.base.errors import ModelDamaged, ModelMissing
from core.base.files import read_json, sha256_file, write_bytes, write_json

FORMAT = 1
WEIGHTS, CONFIG = "weights.safetensors", "config.json"


@dataclass(frozen=True, slots=True)
class ConceptModel:
    """`x ≈ W z + b`: `decoder` [M, D] holds the latents' directions as rows, `bias` [D] what all texts share."""

    encoder: np.ndarray  # float32 [M, D]
    encoder_bias: np.ndarray  # float32 [M]
    decoder: np.ndarray  # float32 [M, D]
    bias: np.ndarray  # float32 [D]
    threshold: float
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def latents(self) -> int:
        return len(self.decoder)

    @property
    def fidelity(self) -> dict[str, float]:
        """nmse, mrr_kept, recall_kept, spearman, k, latents, dead (and more), as measured at the fit."""
        return dict(self.config.get("fidelity", {}))

    def preactivations(self, vectors: np.ndarray) -> np.ndarray:
        """float32 [N, M] for vectors [N, D]."""
        return (np.asarray(vectors, np.float32) - self.bias) @ self.encoder.T + self.encoder_bias

    def encode(self, vectors: np.ndarray) -> np.ndarray:
        """Activations, float32 [N, M], zero up to the threshold."""
        pre_NM = self.preactivations(vectors)
        return np.where(pre_NM.astype(np.float64) > self.threshold, pre_NM, np.float32(0))

    def decode(self, activations: np.ndarray) -> np.ndarray:
        """Rebuilt vectors, float32 [N, D], for activations [N, M]."""
        return activations @ self.decoder + self.bias

    def save(self, folder: Path) -> None:
        """Write the model's files into an existing folder (make it whole elsewhere first, then rename it)."""
        write_bytes(
            folder / WEIGHTS,
            save({
                "encoder": self.encoder, "encoder_bias": self.encoder_bias, "decoder": self.decoder,
                "bias": self.bias, "threshold": np.array([self.threshold], np.float64),
            }),
        )  # fmt: skip
        config = {"format": FORMAT, **self.config, "weights_sha256": sha256_file(folder / WEIGHTS)}
        write_json(folder / CONFIG, config)

    @classmethod
    def load(cls, folder: Path, *, verify: bool = False) -> ConceptModel:
        """Read a model; `verify` also compares the weights' checksum.

        Raises:
            ModelMissing: the folder is not there. ModelDamaged: a file in it is missing, cut or of another format.
        """
        if not folder.is_dir():
            raise ModelMissing(f"The concepts of this library ({folder.name}) are missing.", _ADVICE)
        try:
            config = read_json(folder / CONFIG)
            if config["format"] != FORMAT or (verify and sha256_file(folder / WEIGHTS) != config["weights_sha256"]):
                raise ValueError("other format or checksum")
            tensors = load_file(folder / WEIGHTS)
            threshold = float(tensors.pop("threshold")[0])
            return cls(**tensors, threshold=threshold, config=config)
        except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
            raise ModelDamaged(f"The concepts of this library ({folder.name}) are damaged.", _ADVICE) from error


_ADVICE = "Fit them again: whymatch concepts --fit."
