"""A reranker for the library: the one that the four stages trained, or one that is installed, and its own verdict.

It is compared with the search that it would read for, whether the encoder of that search was just accepted or not.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from core.base.errors import ModelDamaged, ModelMissing
from core.base.events import Control, Listener
from core.encode.encoder import Encoder
from core.encode.load import open_reranker
from core.evaluate.kept_vectors import KeptVectors
from core.models.bundles import RERANKER, Bundle, active, find
from core.search.fuse import Fusing
from core.train import rerank_stage
from core.train.cross_bundle import save_reranker
from core.train.cross_model import CrossModel
from core.train.outcome import Read, StageReport, renamed
from core.train.pool import Pool
from core.train.recipes import ReaderStage
from core.train.reranked import Reranker


def kept(trained: Reranker, base: Bundle, stage: ReaderStage, own: Path) -> Bundle:
    """What the four stages trained out of the encoder `base`, as a bundle of the library's `models/`.

    Raises: as `save_reranker`.
    """
    model = CrossModel.from_encoder(base, layers=stage.layers, device="cpu")
    model.load_weights(dict(trained.weights))
    return save_reranker(model, own, {"recipe": rerank_stage.NAME})


def there(current: str, own: Path) -> Bundle | None:
    """The reranker that the person has chosen, else the library's `current` one; None without either."""
    with contextlib.suppress(ModelMissing, ModelDamaged):
        return active(RERANKER) or (find(current, own) if current else None)
    return None


def read(
    bundle: Bundle, own: Path, tune: Pool, final: Pool, serving: Encoder, vectors: KeptVectors, *,
    fusing: Fusing | None = None, folder: Path | None = None, control: Control | None = None, listener: Listener,
) -> tuple[Read, StageReport]:  # fmt: skip
    """Its weight by the questions that choose, its verdict by those that judge, in the search of `serving`.

    Raises:
        ModelMissing, ModelDamaged, Cancelled, DiskFull
    """
    reranker, listener = open_reranker(bundle.id, also=own), renamed(listener, "reading")
    report = StageReport(rerank_stage.NAME, 0, 0.0)
    candidate = rerank_stage.chosen(
        bundle,
        report,
        reranker,
        tune,
        serving,
        vectors,
        fusing=fusing,
        folder=folder,
        control=control,
        listener=listener,
    )
    verdict = rerank_stage.judged(
        candidate,
        reranker,
        final,
        serving,
        vectors,
        fusing=fusing,
        folder=folder,
        control=control,
        listener=listener,
    )
    found = Read(bundle.id if verdict.accepted else "", candidate.weight, verdict, bundle.id)
    return found, StageReport("reading", 0, 0.0, candidate.report.metrics)
