"""Looking at the generations of a library, and going back to an earlier one."""

from __future__ import annotations

from pathlib import Path

from core.base.errors import NotFound
from core.base.types import Concept
from core.index import generation
from core.index.concept_model import ConceptModel
from core.index.writer import IndexWriter
from core.library import Library
from core.store import database


def roll_back(library: Path, to: int | None = None) -> int:
    """Make an earlier generation current; by default the newest one before the present.

    Raises:
        NotALibrary, LibraryTooNew, LibraryLocked
        NotFound: there is no such generation.
    """
    database.open_reader(library).conn.close()
    with database.lock(library, "rollback"):
        current = generation.current(library)
        kept = [g.number for g in generation.history(library)]
        earlier = [n for n in kept if current is not None and n < current.number]
        number = to if to is not None else max(earlier, default=None)
        if number is None or number not in kept:
            known = ", ".join(map(str, sorted(kept))) or "none"
            raise NotFound("There is no such generation to go back to.", f"Kept generations: {known}.")
        generation.switch(library, number)
        return number


def keep_codes(library: Path, codes: str) -> int:
    """Let so many latents stand for a passage in the index (`core.index.concept_coding.KEPT`): efficient or max.

    Returns the generation in use.

    Raises:
        NotALibrary, LibraryTooNew, LibraryLocked, DiskFull
        NotFound: there is no index yet. IndexDamaged: its manifest cannot be read.
    """
    database.require(library)
    with database.lock(library, "concepts"):
        current = generation.current(library)
        if current is None:
            raise NotFound("The library has no index yet.", "Add a folder to it first.")
        db = database.open_writer(library)
        try:
            return IndexWriter(library, db, current.encoder, current.dimension).commit(codes=codes).number
        finally:
            db.conn.close()


def concept_overview(library: Path) -> tuple[list[Concept], dict[str, float]]:
    """The named concepts of the current generation, and the fidelity figures of their model."""
    reader = Library.open(library)
    try:
        current = generation.current(library)
        if current is None or not current.concepts:
            return [], {}
        rows = reader.concepts(current.concepts)
    finally:
        reader.close()
    return rows, ConceptModel.load(library / "models" / current.concepts).fidelity
