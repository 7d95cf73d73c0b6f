"""When the concepts of a library no longer fit it, and which models nobody needs."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import ModelDamaged, ModelMissing
from core.base.files import read_json
from core.base.types import Generation
from core.concepts.model import CONFIG
from core.store.concepts import drop_others
from core.store.database import open_writer, transaction

LEAST_PASSAGES = 24  # with fewer there is nothing to generalise
FOLDER = "models"
PREFIX = "sae-"
_GROWN, _SHRUNK = 1.25, 0.6
FITTED = "concept_passages"  # in `Generation.counts`: how many passages the concepts were fitted on


def needs_fit(generation: Generation | None, passages: int, library: Path | None = None) -> bool:
    """Whether to fit anew: no concepts yet, a quarter more passages than at the fit, or far fewer.

    How many there were stands in `generation.counts["concept_passages"]`, else, given `library`, in the model's
    config. With the library it is also seen when the model is lost, damaged or of another encoder.
    """
    if generation is None or passages < LEAST_PASSAGES:
        return False
    if not generation.concepts:
        return True
    fitted = generation.counts.get(FITTED, 0)
    if library is not None:
        try:
            config = read_json(library / FOLDER / generation.concepts / CONFIG)
            if config["encoder"] != generation.encoder:
                return True
            fitted = fitted or int(config["passages"])
        except (OSError, ValueError, KeyError, TypeError, ModelMissing, ModelDamaged):
            return True
    return not fitted or passages > _GROWN * fitted or passages < _SHRUNK * fitted


def prune(library: Path, keep: set[str], db: Database | None = None) -> list[str]:
    """Remove the models that are not in `keep` with their concepts, and what broken fits left; returns their names.

    Rows first: a folder without rows is harmless and goes with the next call, rows without a folder are not.
    """
    own = db is None
    db = open_writer(library) if db is None else db
    try:
        with transaction(db):
            drop_others(db, sorted(keep))
    finally:
        if own:
            db.conn.close()
    gone = []
    folder = library / FOLDER
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name.lstrip(".").startswith(PREFIX) and path.name not in keep:
            shutil.rmtree(path, ignore_errors=True)  # a file still open elsewhere goes with the next call
            with contextlib.suppress(FileNotFoundError):
                path.stat()
                continue
            gone.append(path.name)
    return gone
