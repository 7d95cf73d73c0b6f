"""A small masked language model of the library that puts likely words in the place of hidden ones.

It knows the library's own tokens only and is narrow, so that some minutes teach it. Source: SimLM, section 3.1, after
ELECTRA (Clark et al. 2020); that a weak one serves as well is SimLM's table of generators.

Shapes: B texts, T tokens, W width, M hidden tokens, K known tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from core.base.events import Control, Listener, ignore
from core.train.backbone import Backbone
from core.train.batches import length_grouped
from core.train.condenser import MlmLayer
from core.train.corrupt import Corruptor
from core.train.known_tokens import KnownTokens
from core.train.loop import Settings, train
from core.train.plans import Plan
from core.train.record import Record
from core.train.token_loss import ENTRIES, summed_cross_entropy

GENERATOR = "generator"
_SHARE_OF_TIME = 0.25


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """`steps` of `texts` each; with 0 steps it draws by how often each token stands in the library."""

    steps: int = 300
    texts: int = 64
    rate: float = 2e-3
    hidden: float = 0.4
    width: int = 128
    layers: int = 2
    heads: int = 4


class Generator(nn.Module):
    """Reads texts of at most `longest` known tokens."""

    def __init__(self, known: KnownTokens, longest: int, settings: GeneratorSettings) -> None:
        super().__init__()
        width = settings.width
        self.known = known
        self.tokens = nn.Embedding(len(known), width)
        self.places = nn.Embedding(longest, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, settings.heads, 4 * width, 0.1, nn.functional.gelu, batch_first=True)
            for _ in range(settings.layers)
        )
        self.output = MlmLayer(width, len(known))
        for table in (self.tokens, self.places):
            nn.init.normal_(table.weight, std=0.02)  # the output is tied to it: scores begin small (BERT)
        self.output.expect(known.counts_K)
        self.to(known.ids_K.device)

    def states(self, ids_BT: Tensor, mask_BT: Tensor) -> Tensor:
        """States [B, T, W] of texts in the encoder's ids."""
        places_T = torch.arange(ids_BT.shape[1], device=ids_BT.device)
        states_BTW = self.norm(self.tokens(self.known.places(ids_BT)) + self.places(places_T))
        for layer in self.layers:
            states_BTW = layer(states_BTW, src_key_padding_mask=mask_BT == 0)
        return states_BTW

    def loss(self, states_BTW: Tensor, ids_BT: Tensor, hidden_BT: Tensor) -> Tensor:
        """Mean cross entropy of the tokens `ids_BT` where they were hidden."""
        shaped_MW = self.output.shaped(states_BTW[hidden_BT])
        wanted_M = self.known.places(ids_BT[hidden_BT])
        total = summed_cross_entropy(shaped_MW, self.tokens.weight, self.output.bias, wanted_M)
        return total / max(1, len(wanted_M))

    @torch.no_grad()
    def fill(self, ids_BT: Tensor, mask_BT: Tensor, states_BTW: Tensor | None = None) -> Tensor:
        """The texts with each mask drawn from what may stand there, by torch's own generator; never a special token."""
        hidden_BT = ids_BT == self.known.mask
        states_BTW = self.states(ids_BT, mask_BT) if states_BTW is None else states_BTW
        drawn = [self._drawn(part) for part in states_BTW[hidden_BT].split(max(1, ENTRIES // len(self.known)))]
        filled_BT = ids_BT.clone()
        filled_BT[hidden_BT] = torch.cat(drawn) if drawn else filled_BT[hidden_BT]
        return filled_BT

    def _drawn(self, states_MW: Tensor) -> Tensor:
        scores_MK = self.output(states_MW, self.tokens.weight).float().masked_fill(self.known.special_K, float("-inf"))
        return self.known.ids_K[torch.multinomial(scores_MK.softmax(-1), 1).squeeze(1)]


class GeneratorTask:
    """A `Task`: guess hidden tokens of the library's texts."""

    def __init__(
        self, generator: Generator, backbone: Backbone, ids: Sequence[Sequence[int]], settings: GeneratorSettings
    ) -> None:
        self._generator, self._backbone, self._ids, self._settings = generator, backbone, ids, settings
        self._corrupt = Corruptor(backbone.tokens, Plan(settings.hidden, reads="none", everywhere=False))

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        return {GENERATOR: self._generator}

    def batches(self, epoch: int, rng: np.random.Generator) -> Sequence[Sequence[int]]:
        return length_grouped([len(ids) for ids in self._ids], self._settings.texts, rng)

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        random = np.random.default_rng(int(torch.randint(2**62, ()).item()))
        texts = [self._corrupt(self._ids[place], random) for place in batch]
        ids_BT, mask_BT = self._backbone.padded([text.ids for text in texts])
        shown_BT, _ = self._backbone.padded([text.encoder for text in texts])
        states_BTW = self._generator.states(shown_BT, mask_BT)
        loss = self._generator.loss(states_BTW, ids_BT, shown_BT != ids_BT)
        loss.backward()
        return {"loss": float(loss.detach())}

    def state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        pass


def train_generator(
    generator: Generator, backbone: Backbone, ids: Sequence[Sequence[int]], settings: GeneratorSettings,
    training: Settings, folder: Path, *, data_hash: str, stage: str, control: Control | None = None,
    listener: Listener = ignore,
) -> Record | None:  # fmt: skip
    """Train it for its own steps, with the seed and precision of `training` and a quarter of its time.

    It is left frozen, in evaluation mode. None where no step is wanted.

    Raises:
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    record = None
    if settings.steps:
        minutes = None if training.minutes is None else training.minutes * _SHARE_OF_TIME
        own = replace(training, steps=settings.steps, learning_rate=settings.rate, minutes=minutes)
        task = GeneratorTask(generator, backbone, ids, settings)
        record = train(task, own, folder, control, listener, data_hash=data_hash, stage=stage)
    generator.requires_grad_(False).eval()
    return record
