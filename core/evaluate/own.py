"""The library's own test set: questions that the person judged by hand."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import BadDataset
from core.evaluate.datasets import Dataset
from core.store import judgements

NAME = "own"


def load(library: Path, db: Database) -> Dataset:
    """A data set whose documents are the library's passages, called by their ids. It holds no corpus.

    Passages that say the same share a verdict. Questions that nothing was found for are left out.

    Raises:
        BadDataset: nothing was judged.
    """
    same: dict[str, list[int]] = defaultdict(list)
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    said = judgements.judgements(db, (judgements.JUDGED,))
    for one in said:
        if one.hash not in same:
            rows = db.execute("SELECT id FROM passage WHERE hash = ?", (one.hash,)).fetchall()
            same[one.hash] = [int(row[0]) for row in rows]
        for passage in same[one.hash]:
            qrels[one.question][str(passage)] = one.gain
    answered = [text for text, gains in qrels.items() if any(gains.values())]
    if not answered:
        raise BadDataset("No question of this library is judged.", "Judge some first, on the page Adapt.")
    numbered = {f"q{number}": text for number, text in enumerate(answered, 1)}
    return Dataset(NAME, library, (), numbered, {id: qrels[text] for id, text in numbered.items()})
