"""The cross-encoder in training: one transformer over question and passage together, a score out of its first state.

Weights have transformers' names for sequence classification, so that what is trained here opens there, and the other
way round. Shapes: N pairs, T tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSequenceClassification

from core.base.errors import ModelDamaged
from core.base.events import Control
from core.encode.encoder import FloatArray
from core.encode.export import MODEL_CONFIG, TOKENIZER
from core.encode.heads import POOLING
from core.encode.padding import batches, pad
from core.encode.pairs import Pair, Pairs
from core.encode.torch_encoder import best_device
from core.models.bundles import Bundle
from core.train.backbone import ATTENTION_DROPOUT, HEAD, quietly

PAIR_TOKENS, QUESTION_TOKENS = 128, 48  # 50 pairs in 300 ms on two cores, by three layers of 384
_BATCH_TOKENS = {"cpu": 2048}
_MANY_TOKENS = 65536  # on a GPU


class CrossModel(nn.Module):
    """A cross-encoder of the BERT family with its tokenizer. A new one is in evaluation mode (no dropout)."""

    def __init__(self, model: nn.Module, bundle: Bundle, device: str, pair_tokens: int, question_tokens: int) -> None:
        super().__init__()
        self.model: Any = model
        self.bundle = bundle
        config: Any = self.model.config
        self.pair_tokens, self.question_tokens = pair_tokens, question_tokens
        self.pairs = Pairs(
            bundle.path(TOKENIZER), str(config.model_type), longest=pair_tokens, question_tokens=question_tokens
        )
        self._segments = int(config.type_vocab_size) > 1
        self.device = torch.device(device or best_device())
        self.to(self.device)
        self.eval()

    @classmethod
    def open(cls, bundle: Bundle, device: str = "") -> CrossModel:
        """A reranker's bundle.

        Raises:
            ModelDamaged: its weights cannot be loaded.
        """
        told = bundle.config
        model = _loaded(bundle, _config(bundle))
        return cls(model, bundle, device, int(told["pair_tokens"]), int(told["question_tokens"]))

    @classmethod
    def from_encoder(
        cls, bundle: Bundle, *, weights: Mapping[str, Tensor] | None = None, layers: int = 0, seed: int = 0,
        pair_tokens: int = PAIR_TOKENS, question_tokens: int = QUESTION_TOKENS, device: str = "",
    ) -> CrossModel:  # fmt: skip
        """One that begins with an encoder's weights: those of its bundle, or the `weights()` of a `Backbone`.

        Of its layers the first ones are taken, all of them with `layers` 0: fewer read faster, and the lower ones are
        what a new task needs most (Sajjad et al. 2023). The layers of the score are new, by `seed`.

        Raises:
            ModelDamaged: the bundle's weights cannot be loaded.
            ValueError: `weights` are those of another model.
        """
        config = _config(bundle)
        config.num_hidden_layers = min(layers or config.num_hidden_layers, config.num_hidden_layers)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = _loaded(bundle, config)
        if weights is not None:
            _take_over(model, weights)
        longest = min(pair_tokens, int(bundle.config["max_tokens"]))
        return cls(model, bundle, device, longest, min(question_tokens, longest // 2))

    @property
    def config(self) -> dict[str, Any]:
        """Its shape as transformers' `config.json` has it."""
        plain: dict[str, Any] = self.model.config.to_dict()
        return plain

    def joined(self, texts: Sequence[tuple[str, str]]) -> list[Pair]:
        """Pairs of question and passage made ready; a question that follows itself is tokenised once."""
        known = dict.fromkeys(question for question, _ in texts)
        ids = dict(zip(known, self.pairs.questions(list(known)), strict=True))
        passages = self.pairs.passages([passage for _, passage in texts])
        return [self.pairs.joined(ids[question], own) for (question, _), own in zip(texts, passages, strict=True)]

    def forward(self, pairs: Sequence[Pair]) -> Tensor:
        """Scores [N] in float32 (logits: larger is better), with a graph behind them."""
        ids_NT, mask_NT = pad([pair.ids for pair in pairs], self.pairs.pad)
        inputs = {"input_ids": ids_NT, "attention_mask": mask_NT}
        if self._segments:
            inputs["token_type_ids"] = pad([pair.types for pair in pairs], 0)[0]
        on_device = {name: torch.from_numpy(rows).to(self.device) for name, rows in inputs.items()}
        scores_N: Tensor = self.model(**on_device).logits[:, 0]
        return scores_N.float()

    def scores(self, pairs: Sequence[Pair], control: Control | None = None) -> FloatArray:
        """Scores [N] in evaluation mode and without a graph; the mode is put back afterwards.

        Raises:
            Cancelled: through `control`.
        """
        found = np.empty(len(pairs), np.float32)
        modes = {module: module.training for module in self.modules()}
        self.eval()
        try:
            for rows in batches([len(pair.ids) for pair in pairs], _BATCH_TOKENS.get(self.device.type, _MANY_TOKENS)):
                if control is not None:
                    control.check()
                with torch.no_grad():
                    found[rows] = self([pairs[row] for row in rows]).cpu().numpy()
        finally:
            for module, mode in modes.items():
                module.training = mode
        return found

    def weights(self) -> dict[str, Tensor]:
        """A copy of all weights on the CPU, by transformers' names."""
        return {name: tensor.detach().cpu().clone() for name, tensor in self.model.state_dict().items()}

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Take over what `weights()` of one of the same shape gave.

        Raises:
            ValueError: the names or shapes are others.
        """
        try:
            self.model.load_state_dict(dict(weights))
        except RuntimeError as error:
            raise ValueError(f"weights of another model: {error}") from error


def _config(bundle: Bundle) -> Any:
    """The model's shape with one score, without dropout of attention weights (see `core.train.backbone`)."""
    config = AutoConfig.from_pretrained(bundle.path(MODEL_CONFIG), local_files_only=True)
    config.num_labels = 1
    for name in ATTENTION_DROPOUT:
        if hasattr(config, name):
            setattr(config, name, 0.0)
    return config


def _loaded(bundle: Bundle, config: Any) -> nn.Module:
    try:
        with quietly():
            model: nn.Module = AutoModelForSequenceClassification.from_pretrained(
                bundle.folder, config=config, local_files_only=True, dtype=torch.float32
            )
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        what = f"The weights of {bundle.id} cannot be loaded: {error}."
        raise ModelDamaged(what, f"Install it again: whymatch models add {bundle.id}") from error
    return model


def _take_over(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """An encoder's weights, without its heads and without the layers that are not taken."""
    base: Any = getattr(model, str(getattr(model, "base_model_prefix", "")))
    own = {name: t for name, t in weights.items() if name != POOLING and not name.startswith(HEAD)}
    wanted = {name for name in base.state_dict() if not name.startswith("pooler.")}
    if lacking := wanted - own.keys():
        raise ValueError(f"weights of another model: {min(lacking)} is missing")
    try:
        base.load_state_dict({name: own[name] for name in wanted}, strict=False)
    except RuntimeError as error:
        raise ValueError(f"weights of another model: {error}") from error
