"""What questions are made from: passages by document, and, with a database, the blocks that readers found."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlite_utils import Database

from core.base.types import Block
from core.store import documents
from core.train.types import Piece, Question


@dataclass(frozen=True, slots=True)
class Layout:
    """A document's text and blocks; `starts` [P] says where its passages begin, in the order of `pieces`."""

    text: str
    blocks: tuple[Block, ...]
    starts: tuple[int, ...]
    pieces: tuple[Piece, ...]

    def at(self, position: int) -> Piece | None:
        """The passage that holds this place of the text."""
        place = bisect_right(self.starts, position) - 1
        return self.pieces[place] if place >= 0 else None


class Source:
    """`drawn` are at most `most` pieces in an order of chance: for kinds that any passage could give."""

    def __init__(
        self, pieces: Sequence[Piece], db: Database | None = None, *, seed: int = 0, most: int = 20_000
    ) -> None:
        self.pieces, self.db, self.seed = pieces, db, seed
        self.documents: dict[int, list[Piece]] = {}
        for piece in pieces:
            self.documents.setdefault(piece.document, []).append(piece)
        order = np.random.default_rng(seed).permutation(len(pieces))[:most]
        self.drawn = tuple(pieces[place] for place in order.tolist())

    def chance(self, piece: Piece) -> np.random.Generator:
        """The same for the same passage, whatever else the library holds."""
        return np.random.default_rng([self.seed, piece.id])

    def layouts(self) -> Iterator[Layout]:
        """Of all documents with pieces; none without a database."""
        for number in self.documents if self.db is not None else ():
            found = self.layout(number)
            if found is not None:
                yield found

    def layout(self, document: int) -> Layout | None:
        if self.db is None:
            return None
        read = documents.document_text(self.db, document)
        rows = self.db.execute("SELECT id, start FROM passage WHERE document_id = ? ORDER BY start", (document,))
        by_id = {piece.id: piece for piece in self.documents[document]}
        known = [(start, by_id[id]) for id, start in rows.fetchall() if id in by_id]
        if read is None or not known:
            return None
        return Layout(read[0], read[2], tuple(s for s, _ in known), tuple(p for _, p in known))


def asked(text: str, piece: Piece, kind: str) -> Question:
    """A question made from the documents: its language is that of its passage."""
    return Question(" ".join(text.split()), piece.id, kind, piece.group, piece.language)
