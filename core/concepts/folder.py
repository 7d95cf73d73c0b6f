"""Model folders of a library: put in place whole, and removed when no generation needs them."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import from_os_error
from core.base.files import sync_folder
from core.index.concept_model import ConceptModel
from core.store.concepts import drop_others
from core.store.database import open_writer, transaction

FOLDER = "models"  # in the library's folder
PREFIX = "sae-"


def put(model: ConceptModel, folder: Path) -> None:
    """Write the folder beside its place, then rename it: there is a whole model or none.

    Raises:
        KnownError: the disk is full, or there is no permission.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for left in folder.parent.glob(f".{PREFIX}*"):  # of fits that were killed; one job writes at a time
            shutil.rmtree(left, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise from_os_error(error, folder) from error
    try:
        model.save(fresh)
        if folder.exists():  # damaged, else it would have been used
            shutil.rmtree(folder)
        fresh.replace(folder)
        sync_folder(folder.parent)
    except BaseException as error:
        shutil.rmtree(fresh, ignore_errors=True)
        if isinstance(error, OSError):
            raise from_os_error(error, folder) from error
        raise


def prune(library: Path, keep: set[str], db: Database | None = None) -> list[str]:
    """Remove the models that are not in `keep` with their concepts, and what killed fits left; returns their names.

    Rows go first: a folder without rows is harmless and goes with the next call.
    """
    writer = db or open_writer(library)
    try:
        with transaction(writer):
            drop_others(writer, sorted(keep))
    finally:
        if db is None:
            writer.conn.close()
    gone = []
    folder = library / FOLDER
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name.lstrip(".").startswith(PREFIX) and path.name not in keep:
            shutil.rmtree(path, ignore_errors=True)  # what another process holds open goes with the next call
            if not path.exists():
                gone.append(path.name)
    return gone
