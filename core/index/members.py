"""Which passages a snapshot holds, where they stand in it, and which of them may still be found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.base.errors import NotFound
from core.index.dense import Mask, Ordinals

Ids = npt.NDArray[np.int64]


class Members:
    """Passage ids by ordinal. Ordinals count through all segments, `bounds` [S + 1] are where segments begin."""

    def __init__(self, segments: Sequence[Ids], in_order: Ids) -> None:
        """`in_order` are the ids of all passages that may be found, in the order in which ties are broken."""
        self.bounds: list[int] = np.cumsum([0, *(len(ids) for ids in segments)]).tolist()
        self.ids: Ids = np.concatenate([np.empty(0, np.int64), *segments])
        self._by_id = np.argsort(self.ids, kind="stable")
        ordinals, known = self._look_up(in_order)
        ranks = np.full(len(self.ids), np.iinfo(np.int64).max)
        ranks[ordinals[known]] = np.flatnonzero(known)
        self.ranks: Ids = ranks  # by ordinal; of no use for passages that are not alive
        self.alive: Mask = ranks < np.iinfo(np.int64).max
        self.living = int(self.alive.sum())
        self.in_order: Ids = in_order[known]

    def ordinals(self, ids: Ids) -> Ordinals:
        """Where these passages stand. Raises NotFound for one that is not there or deleted."""
        ids = np.asarray(ids, np.int64)
        ordinals, known = self._look_up(ids)
        known[known] = self.alive[ordinals[known]]
        if not known.all():
            lost = int(ids[~known][0])
            raise NotFound(f"There is no passage {lost} in the index.", "Search again: the library has changed.")
        return ordinals

    def mask(self, allowed: Ids | None) -> Mask:
        """Which ordinals may be found when only the passages `allowed` are asked for (None: all)."""
        if allowed is None:
            return self.alive
        ordinals, known = self._look_up(allowed)
        mask = np.zeros(len(self.ids), np.bool_)
        mask[ordinals[known]] = True
        return mask & self.alive

    def segments(self) -> list[tuple[int, int, int]]:
        """Number of the segment, its first ordinal, the end of its ordinals."""
        return [(n, self.bounds[n], self.bounds[n + 1]) for n in range(len(self.bounds) - 1)]

    def _look_up(self, ids: Ids) -> tuple[Ordinals, Mask]:
        if len(self.ids) == 0:
            return np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
        place = np.searchsorted(self.ids, ids, sorter=self._by_id).clip(max=len(self.ids) - 1)
        ordinals = self._by_id[place]
        return ordinals, self.ids[ordinals] == ids
