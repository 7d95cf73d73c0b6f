"""When the concepts of a library no longer fit it."""

from __future__ import annotations

from pathlib import Path

from core.base.files import read_json
from core.base.types import Generation
from core.concepts.folder import FOLDER
from core.concepts.model import CONFIG

LEAST_PASSAGES = 24  # with fewer there is nothing to generalise
FITTED = "concept_passages"  # in `Generation.counts`: how many passages the concepts were fitted on
_GROWN, _SHRUNK = 1.25, 0.6


def needs_fit(generation: Generation | None, passages: int, library: Path | None = None) -> bool:
    """Whether to fit anew: no concepts yet, a quarter more passages than at the fit, or far fewer.

    How many there were stands in the model's config, found through `library`, or else in
    `generation.counts["concept_passages"]`; not known at all means yes. With the library it is also seen when the
    model is lost, damaged or of another encoder.
    """
    if generation is None or passages < LEAST_PASSAGES:
        return False
    if not generation.concepts:
        return True
    fitted = generation.counts.get(FITTED, 0)
    if library is not None:
        try:
            config = read_json(library / FOLDER / generation.concepts / CONFIG)
            fitted = int(config["passages"]) if config["encoder"] == generation.encoder else 0
        except (OSError, ValueError, KeyError, TypeError):
            fitted = 0
    return not fitted or passages > _GROWN * fitted or passages < _SHRUNK * fitted
