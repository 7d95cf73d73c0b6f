"""`evaluate --expand doc2query`: questions that the local model writes for the passages of a data set."""

from __future__ import annotations

from collections import defaultdict

from core.answer.backend import Backend
from core.base import paths
from core.base.errors import ModelMissing
from core.base.events import Control, Listener, Progress
from core.encode.encoder import Encoder, input_text
from core.evaluate.datasets import Dataset
from core.evaluate.variants import fitting
from core.text.language import detect
from core.train.types import Piece
from core.train.written import Writer
from core.worker.roles.answer import load_backend

WRITING = "writing"
_FOLDER = "written"


def written(
    data: Dataset, encoder: Encoder, minutes: float, *, control: Control, listener: Listener
) -> dict[str, tuple[str, ...]]:
    """Questions by document id, those that fit their passage least left out; written for `minutes` at most.

    What was written is kept in the app's cache folder and not written again.

    Raises:
        ModelMissing: no language model is installed.
        Cancelled, DiskFull
    """
    backend = _loaded()
    listener(Progress(WRITING, 0, 0))
    try:
        folder = paths.cache() / _FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        writer = Writer(
            backend, minutes=minutes, most=len(data.corpus), kept=folder / f"{data.name}.json", control=control
        )
        found = writer(pieces(data))
    finally:
        backend.close()
    by_document: dict[str, list[str]] = defaultdict(list)
    for question in found:
        by_document[data.corpus[question.positive].id].append(question.text)
    return fitting(data, by_document, encoder, control=control)


def require_writer() -> None:
    """Load the language model once, so that one that is lacking is told before anything is measured.

    Raises:
        ModelMissing
    """
    _loaded().close()


def _loaded() -> Backend:
    backend = load_backend()
    if backend is None:
        raise ModelMissing("No language model writes questions.", "Install one: whymatch models add SmolLM2-135M")
    return backend


def pieces(data: Dataset) -> list[Piece]:
    """The documents as passages, which are called by their place."""
    return [
        Piece(place, place, place, one.text, input_text((), one.text, one.title), one.title, (), detect(one.text))
        for place, one in enumerate(data.corpus)
        if one.text.strip()
    ]
