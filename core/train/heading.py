"""Token heads for the library's encoder, and whether search finds more with them than without.

They are trained on the encoder that serves once the run is over, which stays as it is: its dense vectors are the same.
"""

from __future__ import annotations

from pathlib import Path

from core.base.events import Control, Listener
from core.base.types import MULTI
from core.encode.encoder import Encoder
from core.encode.load import serve
from core.encode.towers import TwoTowers, queries_of
from core.models.bundles import Bundle, find
from core.search.searcher import Searcher
from core.train import hybrid
from core.train.backbone import Backbone
from core.train.bundle import save
from core.train.ground import Ground
from core.train.loop import Watching
from core.train.m3_recipe import NAME, HeadsStage
from core.train.m3_stage import train_heads
from core.train.outcome import Headed, StageReport, renamed
from core.train.pool import Pool


def head(
    serving: Encoder, ground: Ground, searcher: Searcher, final: Pool, stage: HeadsStage, folder: Path, own: Path, *,
    tokens: bool, minutes: float | None, control: Control | None, listener: Listener, watching: Watching,
) -> tuple[Headed, StageReport]:  # fmt: skip
    """Train heads on the encoder of passages that `serving` has, keep them in `own` as a bundle, and judge.

    Without `tokens` the library keeps no token vectors, and what they would add is not counted.

    Raises:
        ValueError: no question has negatives, or nothing can be held out.
        KnownError: the lexical head fell silent. Cancelled, DiskFull
    """
    base = find(serving.id, own)
    backbone = Backbone.open(base)
    made = train_heads(
        backbone, ground, searcher, serving, stage, folder, minutes=minutes, control=control, listener=listener,
        callbacks=watching(NAME), states=folder / "states",
    )  # fmt: skip
    bundle = save(backbone, base, own, {"recipe": NAME}, heads=made.heads)
    headed = with_heads(serving, bundle, own)
    found = hybrid.calibrated(
        final, headed, without=() if tokens else (MULTI,), folder=folder, control=control,
        listener=renamed(listener, NAME),
    )  # fmt: skip
    figures = {f"ndcg {channel}": round(value, 4) for channel, value in found.channels.items()}
    report = StageReport(NAME, made.report.steps, made.report.seconds, {**made.report.metrics, **figures})
    return Headed(
        bundle.id if found.pays else "", dict(found.weights), found.without, found.after, found.gain_low,
        found.gain_high, found.queries,
    ), report  # fmt: skip


def with_heads(serving: Encoder, bundle: Bundle, own: Path) -> Encoder:
    """The same vectors, and what the heads add; queries go on through their own encoder where they have one."""
    queries = queries_of(serving)
    return TwoTowers(serve(bundle), serve(find(queries, own))) if queries else serve(bundle)
