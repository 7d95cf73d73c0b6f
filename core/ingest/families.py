"""Versions of one another: documents whose words overlap so much that they are one family.

MinHash with bands (Broder 1997, "On the resemblance and containment of documents"; Indyk & Motwani 1998): the share of
equal minima of two documents' shingles under random orders estimates the share of shingles they have in common
(Jaccard). Documents that agree in a whole band of minima are compared; families are what is connected by a resemblance
of `LEAST` or more. Only new and changed documents are compared, and what the changed ones leave behind.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.base.events import Control
from core.store import documents, families
from core.store.database import transaction

LEAST = 0.8  # estimated Jaccard of two versions
LEAST_WORDS = 50  # below, too little is said to tell versions from documents of one form
SHINGLE = 5  # words that stand together
PERMUTATIONS, BANDS = 128, 16  # 8 minima a band: pairs of 0.8 are compared in 95 of 100 cases, of 0.5 in 6
_SEED = 1997
_AT_ONCE = 64  # documents a transaction
_CHUNK = 512  # shingles at a time: the table of their images fits the processor's cache
_BLOCK = 1 << 20  # characters at a time
_UNSPACED = ((0x0E01, 0x0E5B), (0x3041, 0x30FF), (0x3400, 0x9FFF), (0x20000, 0x3134F))  # Thai, Kana, Han
_LAST_LETTER = 0x40000  # no plane beyond holds letters
_BETWEEN, _WITHIN, _ALONE = 0, 1, 2
_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd
_INVERSE = np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))

Hashes = npt.NDArray[np.uint32]

_RNG = np.random.default_rng(_SEED)
_FACTORS = _RNG.integers(0, 1 << 31, PERMUTATIONS, np.uint32) * np.uint32(2) + np.uint32(1)  # odd: x -> ax + b is 1:1
_OFFSETS = _RNG.integers(0, 1 << 32, PERMUTATIONS, np.uint32)


def update(
    db: Database, control: Control | None = None, told: Callable[[int, int], None] = lambda done, total: None
) -> int:
    """Compare the documents that are new or changed, and group anew what they and the gone ones touch.

    Killed in between, the next call goes on. `told` hears how many documents of how many are done. Returns how many
    were compared.

    Raises:
        Cancelled: what was done stays.
    """
    control = control or Control()
    fresh = families.without_signature(db)
    for start in range(0, len(fresh), _AT_ONCE):
        control.check()
        if control.giving_way:  # other work is to go first: the next run compares the rest
            break
        _sign(db, fresh[start : start + _AT_ONCE])
        told(min(start + _AT_ONCE, len(fresh)), len(fresh))
    touched = set(fresh) | set(families.loose(db))
    if touched:
        with transaction(db):
            _group(db, touched)
    return len(fresh)


def _sign(db: Database, ids: Sequence[int]) -> None:
    """Give the documents signatures, marked loose until they are grouped: this may be the last thing done."""
    with transaction(db):
        for document_id in ids:
            text = documents.plain_text(db, document_id)
            if text is None:  # removed beside the run
                continue
            minima = signature(text)
            if minima is None:
                families.put(db, document_id, b"", ())
            else:
                families.put(db, document_id, minima.tobytes(), bands(minima))
                families.loosen(db, document_id)


def signature(text: str) -> Hashes | None:
    """The minima [PERMUTATIONS] of the text's shingles under as many random orders; None for a short text."""
    words = _word_hashes(text.casefold())
    if len(words) < LEAST_WORDS:
        return None
    shingles = np.unique(_shingles(words))
    minima = np.full(PERMUTATIONS, 0xFFFFFFFF, np.uint32)
    for start in range(0, len(shingles), _CHUNK):
        images_PS = _FACTORS[:, None] * shingles[start : start + _CHUNK] + _OFFSETS[:, None]
        np.minimum(minima, images_PS.min(1), out=minima)
    return minima


def _word_hashes(text: str) -> npt.NDArray[np.uint64]:
    """A hash of each word of the text, in order. A word that a block's border cuts counts as two."""
    parts = [_block_hashes(text[start : start + _BLOCK]) for start in range(0, len(text), _BLOCK)]
    return _mixed(np.concatenate([np.empty(0, np.uint64), *parts]))


def _block_hashes(text: str) -> npt.NDArray[np.uint64]:
    """For a word of the characters c from s to e: the sum of c_i B^(i-s), from the sums over the whole text.

    All modulo 2^64, where the odd B has an inverse.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds = _kinds()[codes]
    before = np.concatenate([[_BETWEEN], kinds[:-1]])
    after = np.concatenate([kinds[1:], [_BETWEEN]])
    starts = np.flatnonzero((kinds == _ALONE) | ((kinds == _WITHIN) & (before != _WITHIN)))
    ends = np.flatnonzero((kinds == _ALONE) | ((kinds == _WITHIN) & (after != _WITHIN))) + 1
    powers = np.cumprod(np.full(len(codes) + 1, _BASE, np.uint64))
    inverse = np.cumprod(np.full(len(codes) + 1, _INVERSE, np.uint64))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(codes * powers[:-1], dtype=np.uint64)])
    return (sums[ends] - sums[starts]) * inverse[starts]


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    """For each character whether it is part of a word, or a word by itself as in scripts without spaces."""
    kinds = np.zeros(sys.maxunicode + 1, np.uint8)
    kinds[:_LAST_LETTER] = [chr(code).isalnum() for code in range(_LAST_LETTER)]  # _WITHIN
    for first, last in _UNSPACED:
        kinds[first : last + 1] *= _ALONE
    return kinds


def _shingles(words: npt.NDArray[np.uint64]) -> Hashes:
    """A hash of every `SHINGLE` words that follow one another: a polynomial in the hashes of the words."""
    count = len(words) - SHINGLE + 1
    total = np.zeros(count, np.uint64)
    for place in range(SHINGLE):
        total = total * _BASE + words[place : place + count]
    return (_mixed(total) >> np.uint64(32)).astype(np.uint32)


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Every bit of the result depends on every bit of the value (the finaliser of SplitMix64, Steele et al. 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def bands(minima: Hashes) -> list[int]:
    """A key (signed 64 bit) for each band of the signature."""
    rows = minima.reshape(BANDS, -1)
    return [int.from_bytes(hashlib.blake2b(row.tobytes(), digest_size=8).digest(), "big", signed=True) for row in rows]


def resemblance(left: Hashes, right: Hashes) -> float:
    """Estimate of the share of shingles that two documents have in common; standard error below 0.045."""
    return float((left == right).mean())


def _group(db: Database, touched: set[int]) -> None:
    """Find the families of the touched documents. A family that nothing has left stays together as it is."""
    known = families.family_of(db)
    sets = _Sets({d: f for d, f in known.items() if d not in touched})
    for document_id in touched:
        sets.add(document_id)
    for left, right in _pairs(db, touched, sets):
        sets.join(left, right)
    for group in sets.of(touched):
        families.set_family(db, group)


def _pairs(db: Database, touched: set[int], sets: _Sets) -> Iterator[tuple[int, int]]:
    """Pairs that resemble each other, one of them touched, not yet in one set."""
    for bucket in families.buckets(db, touched):
        if len({sets.root(d) for d in bucket}) > 1:
            yield from _within(db, bucket, touched, sets)


def _within(db: Database, bucket: list[int], touched: set[int], sets: _Sets) -> Iterator[tuple[int, int]]:
    data = families.signatures(db, bucket)
    table = np.stack([np.frombuffer(data[d], np.uint32) for d in bucket])
    apart = len({sets.root(d) for d in bucket})
    for row, left in enumerate(bucket):
        for place in np.flatnonzero((table[row + 1 :] == table[row]).mean(1) >= LEAST):
            right = bucket[row + 1 + int(place)]
            if (left in touched or right in touched) and sets.root(left) != sets.root(right):
                yield left, right
                apart -= 1
        if apart == 1:
            return


class _Sets:
    """Disjoint sets of documents (union-find); those of a whole family start as one."""

    def __init__(self, family: dict[int, int]) -> None:
        self._parent: dict[int, int] = {}
        first: dict[int, int] = {}
        for document_id, number in family.items():
            self._parent[document_id] = first.setdefault(number, document_id)

    def add(self, document_id: int) -> None:
        self._parent.setdefault(document_id, document_id)

    def root(self, document_id: int) -> int:
        self.add(document_id)
        while self._parent[document_id] != document_id:
            self._parent[document_id] = self._parent[self._parent[document_id]]
            document_id = self._parent[document_id]
        return document_id

    def join(self, left: int, right: int) -> None:
        self._parent[self.root(right)] = self.root(left)

    def of(self, documents: set[int]) -> list[list[int]]:
        """The sets that hold any of `documents`, each sorted."""
        roots = {self.root(d) for d in documents}
        found: dict[int, list[int]] = {}
        for document_id in sorted(self._parent):
            root = self.root(document_id)
            if root in roots:
                found.setdefault(root, []).append(document_id)
        return list(found.values())
