"""The languages' means of a library, estimated from its stored vectors, and when to estimate them anew.

The passages looked at are those whose hashes come first, so many of each language: a sample by chance that depends on
what the library holds and on nothing else. A library that lived and a fresh one of the same documents have equal means
up to `EXACT_PASSAGES`; beyond, means stay until they have drifted, since every dense file is written anew with them.
"""

from __future__ import annotations

import numpy as np
from sqlite_utils import Database

from core.index.merge import stored_vectors
from core.index.neutral import Floats, Means, estimate
from core.store import passages

EXACT_PASSAGES = 20_000
SAMPLE = 4_096  # passages of a language: the error of their mean is a hundredth of their spread


def estimated(db: Database, encoder: str) -> Means | None:
    """The means of all stored passages that have a vector of `encoder`; None for a library of one language."""
    counts: dict[str, int] = {}
    chosen: list[tuple[str, str]] = []
    sql = (
        "SELECT p.language, p.hash FROM passage p JOIN vector v ON v.encoder = ? AND v.hash = p.hash "
        "ORDER BY p.hash, p.language"
    )
    for language, content in db.execute(sql, (encoder,)):
        counts[language] = counts.get(language, 0) + 1
        if counts[language] <= SAMPLE:
            chosen.append((language, content))
    if len([language for language in counts if language]) < 2:
        return None
    found = passages.vectors(db, encoder, dict.fromkeys(content for _, content in chosen))
    vectors = np.stack([np.frombuffer(found[content], "<f4") for _, content in chosen])
    return estimate(vectors, [language for language, _ in chosen], counts)


def outdated(now: Means | None, used: Means | None, total: int) -> bool:
    """Whether an index of `total` passages made with the means `used` is to be made with those of `now`."""
    if now is None or used is None:
        return now is not used
    return not now.same(used) if total <= EXACT_PASSAGES else now.differ(used)


def vectors_of(db: Database, encoder: str, dimension: int, ids: np.ndarray, means: Means | None) -> Floats:
    """The vectors [N, D] of these living passages as an index with `means` holds them, from the table `vector`.

    Raises:
        IndexDamaged: one is not there.
    """
    raw = stored_vectors(db, encoder, dimension, ids)
    return raw if means is None else means.passages(raw, _languages(db, ids))


def _languages(db: Database, ids: np.ndarray) -> list[str]:
    found = []
    for passage in ids.tolist():
        row = db.execute("SELECT language FROM passage WHERE id = ?", (passage,)).fetchone()
        found.append(row[0] if row else "")
    return found
