"""Another encoder for a library: its index is made anew beside the present one, which answers until the switch.

What was encoded is kept by encoder and text, so a job that was stopped or killed goes on where it was, and what is
read meanwhile by the old encoder is not lost. The old generation stays, for the way back.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import Cancelled
from core.base.events import Changed, Control, Listener, Progress, Throttle
from core.base.types import Generation
from core.base.wire import to_plain
from core.encode.encoder import Encoder, input_text
from core.encode.load import open_encoder
from core.index import generation
from core.index.writer import rebuild
from core.ingest.guards import DiskGuard
from core.ingest.indexing import Indexer, index_stored
from core.models import adapted
from core.store import database, documents, jobs, passages
from core.worker.ingesting import fit_concepts, recorded

KIND = "reencode"
_COPIES = 3  # vectors in the database, in segments, and while these are merged


@dataclass(frozen=True, slots=True)
class Reencoded:
    """`encoded` texts went through the encoder this time. `before` is the generation to go back to (0: none)."""

    generation: int
    encoder: str
    passages: int
    encoded: int
    seconds: float
    before: int


def reencode(
    library: Path, model: str | None = None, *, control: Control, listener: Listener, encoder: Encoder | None = None,
    fusion: Mapping[str, float] | None = None,
) -> Reencoded:  # fmt: skip
    """Make the index of `library` with the encoder `model` (by default the active one) and switch to it; `fusion` are
    the channels' weights then, where they are known.

    Raises:
        NotALibrary, LibraryLocked, ModelMissing, ModelDamaged, DiskFull
        Cancelled: the old generation stays in use; what was encoded is kept. Once the new one serves, token vectors and
            concepts that are not done are left to the next reading in, and nothing is raised.
    """
    database.require(library)
    begun = time.monotonic()
    encoder = encoder or open_encoder(model, also=adapted.folder(library))
    with _writing(library) as db:
        job = jobs.start(db, KIND, {"model": encoder.id})
        with recorded(db, job) as outcome:
            made = _reencode(library, db, encoder, control, listener, begun, fusion)
            outcome.update(to_plain(made))
        return made


@contextmanager
def _writing(library: Path) -> Iterator[Database]:
    with database.lock(library, KIND):
        db = database.open_writer(library)
        try:
            with database.known_errors(library):
                yield db
        finally:
            db.conn.close()


def _reencode(
    library: Path, db: Database, encoder: Encoder, control: Control, listener: Listener, begun: float,
    fusion: Mapping[str, float] | None,
) -> Reencoded:  # fmt: skip
    before = generation.current(library)
    encoded, anew = 0, before is None or before.encoder != encoder.id
    if anew:
        encoded = _encode(library, db, encoder, control, listener)
        made = rebuild(library, db, encoder, input_text, fusion=fusion, control=control, listener=listener)
        listener(Changed(made.number, documents.count(db), passages.count(db)))
    index_stored(library, db)  # of what was removed meanwhile copies may have taken over passages
    indexer = Indexer(library, db, encoder, control, listener)
    made = _rest(library, db, indexer, control, listener)
    if anew:
        _drop_steps(library, before, made)
    indexer.writer.collect_garbage()
    back = max((g.number for g in generation.history(library) if g.encoder != encoder.id), default=0)
    seconds = round(time.monotonic() - begun, 2)
    return Reencoded(made.number, encoder.id, passages.count(db), encoded, seconds, back)


def _rest(library: Path, db: Database, indexer: Indexer, control: Control, listener: Listener) -> Generation:
    """Token vectors and concepts: as far as there is time. The new encoder serves already."""
    with contextlib.suppress(Cancelled):
        indexer.complete_tokens()
        return fit_concepts(library, db, indexer, control, listener)
    current = generation.current(library)
    assert current is not None
    return current


def _drop_steps(library: Path, before: Generation | None, made: Generation) -> None:
    """The generations on the way are none to go back to: the one before is that of the other encoder."""
    for step in generation.history(library):
        if (before.number if before else 0) < step.number < made.number:
            generation.forget(library, step.number)


def _encode(library: Path, db: Database, encoder: Encoder, control: Control, listener: Listener) -> int:
    """Encode what has no vector of this encoder yet. Returns how many texts that were."""
    missing, total = passages.unencoded(db, encoder.id), passages.count(db)
    DiskGuard(library).need(_COPIES * total * encoder.dimension * 4)
    indexer = Indexer(library, db, encoder, control, listener)
    begun, throttle = time.monotonic(), Throttle()
    while indexer.waiting:
        indexer.encode_ahead()
        if throttle.ready() or not indexer.waiting:
            spent, done = time.monotonic() - begun, indexer.encoded
            left = spent / done * max(0, missing - done) if done else None
            counts = {"encoded": done}
            listener(Progress("encoding", total - indexer.waiting, total, encoder.id, counts, left))
    return indexer.encoded
