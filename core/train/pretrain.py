"""Corpus-aware pre-training (coCondenser): the encoder learns what the documents are about, without a question.

Each document gives two spans. Each span must be guessed where words are hidden, through its vector, and its vector
must be nearer to that of its partner than to any other span of the batch. Batches are large by GradCache. What holds
the encoder near the one it was is an anchor: the vector of a span with hidden words shall be near the one that the
encoder had for the whole span. Source: Gao & Callan 2022.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from core.base.events import Control, Listener, ignore
from core.train.backbone import Backbone
from core.train.condenser import Condenser
from core.train.gradcache import Side, cached_step
from core.train.loop import Callback, Settings, train
from core.train.losses import anchor, span_contrast
from core.train.masking import IGNORED, Masked, WholeWordMask
from core.train.precision import FP32, Precision, autocast
from core.train.record import Record
from core.train.spans import Spans

PRETRAINING = "pretraining"
LEAST_DOCUMENTS = 32
_WARM, _MAIN = "warm-up", "main"


@dataclass(frozen=True, slots=True)
class PretrainSettings:
    """`documents` a batch give twice as many spans, encoded `chunk` at a time. `temperature` is of the span loss of
    encoders whose vectors are compared by their cosine; those pooled at CLS take plain products as the paper does.
    `warmup_steps` train the output layer and head alone."""

    documents: int = 128
    chunk: int = 32
    span_tokens: int = 96
    masked: float = 0.15
    temperature: float = 0.05
    contrast: float = 1.0
    mlm: float = 1.0
    anchor: float = 1.0
    warmup_steps: int = 100
    warmup_rate: float = 1e-3


class CoCondenser:
    """A `Task`: MLM of head and late layers, span contrast, anchor. Only the backbone is worth keeping."""

    def __init__(
        self, condenser: Condenser, spans: Spans, settings: PretrainSettings, precision: Precision = FP32,
        frozen_SD: npt.NDArray[np.float32] | None = None,
    ) -> None:  # fmt: skip
        """`frozen_SD` are the vectors of the spans by the encoder that training begins with, for the anchor."""
        backbone = condenser.backbone
        self.condenser, self.backbone, self.spans, self.settings = condenser, backbone, spans, settings
        self._ids = backbone.ids(spans.texts, max_tokens=settings.span_tokens)
        self._mask = WholeWordMask(backbone.tokens, settings.masked)
        self._frozen = None if frozen_SD is None else torch.from_numpy(frozen_SD).to(backbone.device)
        self._precision = precision
        self._chosen: list[tuple[int, int]] = []  # of each document, for this epoch

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        return {"condenser": self.condenser}

    def batches(self, epoch: int, rng: np.random.Generator) -> Sequence[Sequence[int]]:
        """Documents by chance, each with two of its spans; a batch of one document would have no negatives."""
        documents = self.spans.documents
        self._chosen = [tuple(rng.choice(spans, 2, replace=False).tolist()) for spans in documents]
        order, size = rng.permutation(len(documents)).tolist(), self.settings.documents
        made = [order[start : start + size] for start in range(0, len(order), size)]
        return made[:-1] if len(made) > 1 and len(made[-1]) < size // 2 else made

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        chosen = [span for document in batch for span in self._chosen[document]]
        random = np.random.default_rng(int(torch.randint(2**62, ()).item()))
        items = [_Span(span, self._mask(self._ids[span], random)) for span in chosen]
        step = _Step(self)
        mask_SS = torch.from_numpy(self.spans.mask(chosen)).to(self.backbone.device)
        partners_S = torch.arange(len(chosen), device=self.backbone.device) ^ 1
        contrast, extra = cached_step(
            [Side(items, step.encode, step.extra, lambda item: len(item.masked.ids))],
            lambda spans_SD: self.settings.contrast * span_contrast(spans_SD, partners_S, mask_SS),
            chunk=self.settings.chunk, autocast=lambda: autocast(self.backbone.device, self._precision),
        )  # fmt: skip
        return {"loss": float(contrast + extra), "contrast": float(contrast), **step.told(len(items))}

    def state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        pass

    def comparable(self, late_BTD: Tensor, mask_BT: Tensor) -> Tensor:
        """Vectors [B, D] whose plain products the span loss takes: see `PretrainSettings.temperature`."""
        if self.backbone.pooling == "cls":
            return self.backbone.pooled(late_BTD, mask_BT)
        return self.backbone.unit(late_BTD, mask_BT) / self.settings.temperature**0.5


@dataclass(frozen=True, slots=True)
class _Span:
    number: int
    masked: Masked


class _Step:
    """One batch's passes over the model; the second one finds the states that its representations came from."""

    def __init__(self, task: CoCondenser) -> None:
        self._task = task
        self._states: tuple[Tensor, Tensor, Tensor] | None = None
        self._sums: dict[str, float] = {}

    def encode(self, items: Sequence[_Span]) -> Tensor:
        ids_BT, mask_BT = self._task.backbone.padded([item.masked.ids for item in items])
        early_BTD, late_BTD = self._task.condenser.states(ids_BT, mask_BT)
        self._states = early_BTD, late_BTD, mask_BT
        return self._task.comparable(late_BTD, mask_BT)

    def extra(self, items: Sequence[_Span], reps: Tensor) -> Tensor:
        """The chunk's masked language model losses and its anchor."""
        assert self._states is not None
        early_BTD, late_BTD, mask_BT = self._states
        labels_BT = _padded([item.masked.labels for item in items], late_BTD)
        head, late = self._task.condenser.losses(early_BTD, late_BTD, mask_BT, labels_BT)
        self._add(len(items), head=head, late=late)
        total = self._task.settings.mlm * (head + late)
        if (frozen := self._task._frozen) is not None:
            apart = anchor(self._task.backbone.unit(late_BTD, mask_BT), frozen[[item.number for item in items]])
            self._add(len(items), anchor=apart)
            total = total + self._task.settings.anchor * apart
        return total

    def told(self, count: int) -> dict[str, float]:
        """Mean of each further loss over the batch of `count` spans."""
        return {name: total / count for name, total in self._sums.items()}

    def _add(self, count: int, **losses: Tensor) -> None:
        for name, loss in losses.items():
            self._sums[name] = self._sums.get(name, 0.0) + count * float(loss.detach())


class _WarmUp(CoCondenser):
    """The same with the encoder held: only the head and the output layer learn, so that they do no damage later."""

    def step(self, batch: Sequence[int]) -> dict[str, float]:
        chosen = [span for document in batch for span in self._chosen[document]][: self.settings.chunk]
        random = np.random.default_rng(int(torch.randint(2**62, ()).item()))
        masked = [self._mask(self._ids[span], random) for span in chosen]
        ids_BT, mask_BT = self.backbone.padded([one.ids for one in masked])
        with torch.no_grad():
            early_BTD, late_BTD = self.condenser.states(ids_BT, mask_BT)
        labels_BT = _padded([one.labels for one in masked], late_BTD)
        head, late = self.condenser.losses(early_BTD, late_BTD, mask_BT, labels_BT)
        (head + late).backward()
        return {"loss": float((head + late).detach()), "head": float(head.detach()), "late": float(late.detach())}


def pretrain(
    backbone: Backbone, spans: Spans, settings: PretrainSettings, training: Settings, folder: Path, *,
    control: Control | None = None, listener: Listener = ignore, callbacks: Sequence[Callback] = (),
) -> Record:  # fmt: skip
    """Train `backbone` in place on the spans of a library; head and output layer are thrown away.

    Raises:
        ValueError: there are too few documents of two spans, or the vocabulary has no mask.
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    if len(spans.documents) < LEAST_DOCUMENTS:
        raise ValueError(f"only {len(spans.documents)} documents of two spans")
    torch.manual_seed(training.seed)  # the fresh layers are the same in every run of these settings
    condenser = Condenser(backbone)
    condenser.mlm.expect(_counts(backbone.ids(spans.texts), len(condenser.mlm.bias)))
    key = _data_hash(spans, settings)
    if settings.warmup_steps:
        warm = Settings(settings.warmup_steps, settings.warmup_rate, seed=training.seed)
        with held(backbone):
            task = _WarmUp(condenser, spans, settings)
            train(task, warm, folder / _WARM, control, listener, data_hash=key, stage=PRETRAINING)
    frozen = backbone.vectors_of(backbone.ids(spans.texts, max_tokens=settings.span_tokens), control)
    main = CoCondenser(condenser, spans, settings, training.precision, frozen if settings.anchor else None)
    return train(main, training, folder / _MAIN, control, listener, callbacks, data_hash=key, stage=PRETRAINING)


@contextmanager
def held(backbone: Backbone) -> Iterator[None]:
    """Without gradients for the encoder."""
    backbone.requires_grad_(False)
    try:
        yield
    finally:
        backbone.requires_grad_(True)


def _counts(ids: Sequence[Sequence[int]], vocabulary: int) -> Tensor:
    """How often each token stands in the texts [V]."""
    return torch.bincount(torch.tensor([id for own in ids for id in own]), minlength=vocabulary)


def _padded(labels: Sequence[Sequence[int]], like_BTD: Tensor) -> Tensor:
    """Labels [B, T], `IGNORED` where texts are shorter."""
    rows = torch.full(like_BTD.shape[:2], IGNORED, dtype=torch.long)
    for row, own in zip(rows, labels, strict=True):
        row[: len(own)] = torch.tensor(own)
    return rows.to(like_BTD.device)


def _data_hash(spans: Spans, settings: PretrainSettings) -> str:
    told = hashlib.sha256(repr(sorted(asdict(settings).items())).encode())
    for text in spans.texts:
        told.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return told.hexdigest()[:16]
