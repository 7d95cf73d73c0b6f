"""Vectors of a library's passages as the encoder that serves it made them: read where they are kept, made where not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.base.events import Control, Listener, Progress, ignore
from core.encode.encoder import Encoder, input_hash
from core.store.passages import vectors
from core.train.types import Piece

Vectors = npt.NDArray[np.float32]
_BLOCK = 1000  # passages


def of_library(
    db: Database, pieces: Sequence[Piece], encoder: Encoder, stage: str, *, control: Control | None = None,
    listener: Listener = ignore,
) -> Vectors:  # fmt: skip
    """Vectors [N, D] of the pieces, nothing taken out of them (the index may hold them without means of languages).

    Those that `encoder` (by its id) left in the library are read; the others it encodes, told of as `stage`.

    Raises:
        Cancelled
    """
    control = control or Control()
    found = np.empty((len(pieces), encoder.dimension), np.float32)
    missing = []
    for start in range(0, len(pieces), _BLOCK):
        control.check()
        keys = [input_hash(piece.input) for piece in pieces[start : start + _BLOCK]]
        known = vectors(db, encoder.id, keys)
        for place, key in enumerate(keys, start):
            data = known.get(key, b"")
            if len(data) == found.itemsize * encoder.dimension:
                found[place] = np.frombuffer(data, "<f4")
            else:
                missing.append(place)
    if missing:
        listener(Progress(stage, 0, len(missing)))
        found[missing] = encoder.encode(
            [pieces[place].input for place in missing], control=control,
            on_batch=lambda done: listener(Progress(stage, done, len(missing))),
        )  # fmt: skip
    return found
