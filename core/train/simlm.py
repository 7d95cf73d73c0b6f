"""Corpus-aware pre-training behind a bottleneck (SimLM): a text must be restored from its vector and a poor copy.

Hidden tokens are filled by a small generator with likely ones, so that the encoder never sees a mask, which no text
that it will serve has. Encoder and decoder say for every place what stood there; the decoder sees a poorer copy and the
vector, so the vector must hold what is missing. An anchor holds the vector of the corrupted text near the one that the
encoder had for the whole. Other plans of `core.train.plans` are the same with another hiding, filling, question or
decoder. Source: Wang et al. 2023, section 3.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from core.base.events import Control, Listener, ignore
from core.train.backbone import Backbone
from core.train.batches import length_grouped
from core.train.corrupt import Corrupted, Corruptor
from core.train.generator import GENERATOR, Generator, GeneratorSettings, train_generator
from core.train.known_tokens import KnownTokens
from core.train.loop import Callback, Settings, train
from core.train.losses import anchor
from core.train.plans import Plan
from core.train.pretrain import LEAST_DOCUMENTS, PRETRAINING, PretrainSettings, held
from core.train.record import Record, data_hash
from core.train.restore import Restorer, marked
from core.train.types import Piece

OF_GENERATOR = 0.2  # weight of the generator's own loss where it is trained along (SimLM's code)
_WARM, _MAIN = "warm-up", "main"


@dataclass(frozen=True, slots=True)
class BottleneckSettings:
    """What `PretrainSettings` do not say: passages are cut at `tokens`; a plain decoder has `layers`. With `joint` the
    generator goes on learning beside the encoder."""

    tokens: int = 144
    layers: int = 2
    joint: bool = False
    generator: GeneratorSettings = field(default_factory=GeneratorSettings)


class Bottleneck:
    """A `Task` over texts given as token ids; `texts` of them make a batch, encoded `chunk` at a time."""

    def __init__(
        self, restorer: Restorer, ids: Sequence[Sequence[int]], *, texts: int, chunk: int,
        generator: Generator | None = None, joint: bool = False, anchor: float = 0.0,
        frozen_ND: npt.NDArray[np.float32] | None = None,
    ) -> None:  # fmt: skip
        """`frozen_ND` are the texts' vectors by the encoder that training begins with, for the anchor.

        Raises:
            ValueError: the plan needs a generator, or the anchor vectors, and there are none.
        """
        if generator is None and (joint or restorer.plan.filling == GENERATOR):
            raise ValueError("no generator")
        if anchor and frozen_ND is None:
            raise ValueError("no vectors for the anchor")
        self.restorer, self.backbone, self.generator = restorer, restorer.backbone, generator
        self._ids, self._texts, self._chunk, self._joint, self._anchor = ids, texts, chunk, joint, anchor
        self._corrupt = Corruptor(self.backbone.tokens, restorer.plan)
        self._frozen = None if frozen_ND is None else torch.from_numpy(frozen_ND).to(self.backbone.device)

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        own: dict[str, nn.Module] = {"restorer": self.restorer}
        return own | ({GENERATOR: self.generator} if self._joint and self.generator is not None else {})

    def batches(self, epoch: int, rng: np.random.Generator) -> Sequence[Sequence[int]]:
        """All texts, those of like length together."""
        return length_grouped([len(ids) for ids in self._ids], self._texts, rng)

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        """Means over the asked places of the whole batch, whatever the chunks."""
        random = np.random.default_rng(int(torch.randint(2**62, ()).item()))
        texts = [(place, self._corrupt(self._ids[place], random)) for place in batch]
        whole = _Whole.of([text for _, text in texts])
        told: dict[str, float] = {}
        for start in range(0, len(texts), self._chunk):
            places, part = zip(*texts[start : start + self._chunk], strict=True)
            losses = self._losses(places, part, whole)
            sum(losses.values(), start=torch.zeros((), device=self.backbone.device)).backward()
            for name, loss in losses.items():
                told[name] = told.get(name, 0.0) + float(loss.detach())
        return {"loss": sum(told.values()), **told}

    def state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        pass

    def _losses(self, places: Sequence[int], texts: Sequence[Corrupted], whole: _Whole) -> dict[str, Tensor]:
        """Each part of the loss of a chunk, weighed by its share of the batch."""
        restorer = self.restorer
        ids_BT, mask_BT = self.backbone.padded([text.ids for text in texts])
        first_BT, of_generator = self._shown([text.encoder for text in texts], ids_BT, mask_BT, whole)
        states_BTD, vector_BD = restorer.encode(first_BT, mask_BT)
        asked_BT = marked([text.asked_encoder for text in texts], ids_BT)
        losses = {"encoder": restorer.loss(states_BTD, ids_BT, first_BT, asked_BT) / whole.encoder, **of_generator}
        if restorer.decoder is not None:
            second_BT, _ = self._shown([text.decoder for text in texts], ids_BT, mask_BT, whole)
            deep_BTD = restorer.decode(vector_BD, second_BT, mask_BT)
            asked_BT = marked([text.asked_decoder for text in texts], ids_BT)
            losses["decoder"] = restorer.loss(deep_BTD, ids_BT, second_BT, asked_BT) / whole.decoder
        if self._frozen is not None and self._anchor:
            unit_BD = self.backbone.unit(states_BTD, self.backbone.shares(first_BT, mask_BT))
            apart = anchor(unit_BD, self._frozen[list(places)])
            losses["anchor"] = self._anchor * apart * (len(texts) / whole.texts)
        return losses

    def _shown(
        self, texts: Sequence[list[int]], ids_BT: Tensor, mask_BT: Tensor, whole: _Whole
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The texts with masks filled where the plan wants it; and the generator's own loss, where it learns along."""
        shown_BT, _ = self.backbone.padded(texts)
        if self.restorer.plan.filling != GENERATOR:
            return shown_BT, {}
        assert self.generator is not None
        with torch.set_grad_enabled(self._joint and torch.is_grad_enabled()):
            states_BTW = self.generator.states(shown_BT, mask_BT)
            own = self.generator.loss(states_BTW, ids_BT, shown_BT != ids_BT) if self._joint else None
        filled_BT = self.generator.fill(shown_BT, mask_BT, states_BTW.detach())
        return filled_BT, {} if own is None else {GENERATOR: OF_GENERATOR * own * (len(texts) / whole.texts)}


@dataclass(frozen=True, slots=True)
class _Whole:
    """Of a whole batch: texts, and places that encoder and decoder are asked about."""

    texts: int
    encoder: int
    decoder: int

    @classmethod
    def of(cls, texts: Sequence[Corrupted]) -> _Whole:
        encoder, decoder = (sum(len(places) for places in each) for each in zip(
            *((text.asked_encoder, text.asked_decoder) for text in texts), strict=True
        ))  # fmt: skip
        return cls(len(texts), max(1, encoder), max(1, decoder))


def pretrain_behind(
    plan: Plan, backbone: Backbone, pieces: Sequence[Piece], settings: PretrainSettings, training: Settings,
    folder: Path, *, own: BottleneckSettings | None = None, control: Control | None = None,
    listener: Listener = ignore, callbacks: Sequence[Callback] = (),
) -> Record:  # fmt: skip
    """Train `backbone` in place on the passages of a library: the generator first, then what is fresh alone, then all.

    A batch is twice `settings.documents` passages. Resumes by itself from what lies in `folder`.

    Raises:
        ValueError: there are too few passages, or the vocabulary has no mask.
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    if len(pieces) < LEAST_DOCUMENTS:
        raise ValueError(f"only {len(pieces)} passages")
    own = own or BottleneckSettings()
    ids = backbone.ids([piece.input for piece in pieces], max_tokens=own.tokens)
    key = data_hash([repr(plan), repr(asdict(settings)), repr(asdict(own)), *(piece.input for piece in pieces)])
    known = KnownTokens(ids, backbone.tokens, backbone.device)
    generator = _generator(plan, known, backbone, ids, own, training, folder, key, control, listener)
    torch.manual_seed(training.seed)  # the fresh layers are the same in every run of these settings
    restorer = Restorer(backbone, plan, known, layers=own.layers)

    def task(**more: Any) -> Bottleneck:
        return Bottleneck(restorer, ids, chunk=settings.chunk, generator=generator, **more)

    if settings.warmup_steps:
        warm = Settings(settings.warmup_steps, settings.warmup_rate, precision=training.precision, seed=training.seed)
        with held(backbone):
            train(task(texts=settings.chunk), warm, folder / _WARM, control, listener, data_hash=key, stage=PRETRAINING)
    frozen = backbone.vectors_of(ids, control) if settings.anchor else None
    joint = own.joint and generator is not None
    if generator is not None:
        generator.requires_grad_(joint)
    main = task(texts=2 * settings.documents, joint=joint, anchor=settings.anchor, frozen_ND=frozen)
    return train(main, training, folder / _MAIN, control, listener, callbacks, data_hash=key, stage=PRETRAINING)


def _generator(
    plan: Plan, known: KnownTokens, backbone: Backbone, ids: Sequence[Sequence[int]], own: BottleneckSettings,
    training: Settings, folder: Path, key: str, control: Control | None, listener: Listener,
) -> Generator | None:  # fmt: skip
    """The trained generator of a plan that wants one."""
    if plan.filling != GENERATOR:
        return None
    torch.manual_seed(training.seed)
    generator = Generator(known, max(map(len, ids)), own.generator)
    train_generator(
        generator, backbone, ids, own.generator, training, folder / GENERATOR, data_hash=key, stage=PRETRAINING,
        control=control, listener=listener,
    )  # fmt: skip
    return generator
