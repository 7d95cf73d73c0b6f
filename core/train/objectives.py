"""Pre-training by the name of its objective, so that a recipe chooses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.base.events import Control, Listener, ignore
from core.train.backbone import Backbone
from core.train.loop import Callback, Settings
from core.train.plans import CONDENSER, OBJECTIVES, named
from core.train.pretrain import PretrainSettings, pretrain
from core.train.record import Record
from core.train.simlm import BottleneckSettings, pretrain_behind
from core.train.spans import Spans
from core.train.types import Piece

__all__ = ["OBJECTIVES", "pretrain_by"]


def pretrain_by(
    objective: str, backbone: Backbone, made_spans: Spans, pieces: Sequence[Piece], settings: PretrainSettings,
    training: Settings, folder: Path, *, bottleneck: BottleneckSettings | None = None,
    control: Control | None = None, listener: Listener = ignore, callbacks: Sequence[Callback] = (),
) -> Record:  # fmt: skip
    """Train `backbone` in place. Contrastive objectives take the spans, all others the passages themselves.

    Of `settings` the sizes of batches, the anchor and the warm-up hold for all; `bottleneck` for passages alone.

    Raises:
        KnownError: there is no such objective.
        ValueError: there is too little text, or the vocabulary has no mask.
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    plan = named(objective).plan
    if plan is not None:
        return pretrain_behind(
            plan, backbone, pieces, settings, training, folder, own=bottleneck, control=control, listener=listener,
            callbacks=callbacks,
        )  # fmt: skip
    if objective == CONDENSER:
        settings = replace(settings, contrast=0.0)
    return pretrain(
        backbone, made_spans, settings, training, folder, control=control, listener=listener, callbacks=callbacks
    )
