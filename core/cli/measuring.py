"""`evaluate`: search measured on judged queries, in a throw-away library or in a given one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.base.events import Control, Listener
from core.encode.load import open_encoder
from core.evaluate.datasets import load
from core.evaluate.run import Evaluation, evaluate, evaluate_encoder
from core.search.searcher import Searcher
from core.store.database import require
from core.worker.finding import encoder_for


def measure(
    dataset: Path, *, channels: Sequence[str], model: str | None, library: Path | None, control: Control,
    listener: Listener,
) -> Evaluation:  # fmt: skip
    """
    Raises:
        BadDataset, NotALibrary, ModelMissing, Cancelled
    """
    data = load(dataset)
    if library is None:
        return evaluate_encoder(data, open_encoder(model), channels, control=control, listener=listener)
    require(library)
    searcher = Searcher(library, open_encoder(model) if model else encoder_for(library))
    try:
        return evaluate(data, searcher, channels, control=control, listener=listener)
    finally:
        searcher.close()
