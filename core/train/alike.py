"""Texts that say nearly the same, by the runs of words that they share."""

from __future__ import annotations

import hashlib

SHINGLE = 5  # words
ALIKE = 0.5  # share of the shorter one's shingles


def shingles(text: str) -> frozenset[int]:
    """Hashes of all runs of five words; of the whole text where it is shorter."""
    words = text.casefold().split()
    runs = (" ".join(words[i : i + SHINGLE]) for i in range(max(len(words) - SHINGLE + 1, 1)))
    return frozenset(int.from_bytes(hashlib.blake2b(run.encode("utf-8", "surrogatepass"), digest_size=8).digest())
                     for run in runs)  # fmt: skip


def alike(left: frozenset[int], right: frozenset[int]) -> bool:
    """Whether the shorter one is at least half in the other."""
    return len(left & right) >= ALIKE * min(len(left), len(right))
