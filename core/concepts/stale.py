"""When the concepts of a library no longer fit it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from core.base.errors import IndexDamaged
from core.base.files import read_json
from core.base.types import Generation
from core.concepts.folder import FOLDER
from core.index import neutral
from core.index.concept_model import CONFIG

LEAST_PASSAGES = 24  # with fewer there is nothing to generalise
_GROWN, _SHRUNK = 1.25, 0.6


def needs_fit(generation: Generation | None, passages: int, library: Path) -> bool:
    """Whether to fit anew: no concepts yet, a quarter more passages than at the fit, far fewer, or other languages.

    How many there were stands in the config of the model; one that is lost, damaged or of another encoder is to be
    fitted anew, too.
    """
    if generation is None or passages < LEAST_PASSAGES:
        return False
    if not generation.concepts:
        return True
    try:
        config = read_json(library / FOLDER / generation.concepts / CONFIG)
        fitted = int(config["passages"]) if config["encoder"] == generation.encoder else 0
        if tuple(config.get("languages", ())) != _languages(generation, library):
            return True
    except (OSError, ValueError, KeyError, TypeError):
        fitted = 0
    return not fitted or passages > _GROWN * fitted or passages < _SHRUNK * fitted


def _languages(generation: Generation, library: Path) -> tuple[str, ...]:
    """The languages that were taken out of the vectors; none when they cannot be read: the index is made anew first."""
    if not generation.means:
        return ()
    with contextlib.suppress(IndexDamaged):
        return neutral.read(library / generation.means, generation.dimension).languages
    return ()
