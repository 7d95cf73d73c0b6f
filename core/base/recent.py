"""A dictionary that forgets what was not asked for longest."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Holds the `size` entries that were used last. Not for two threads at a time."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: OrderedDict[K, V] = OrderedDict()

    def __contains__(self, key: K) -> bool:
        return key in self._known

    def get(self, key: K) -> V | None:
        if key not in self._known:
            return None
        self._known.move_to_end(key)
        return self._known[key]

    def put(self, key: K, value: V) -> None:
        self._known[key] = value
        self._known.move_to_end(key)
        if len(self._known) > self._size:
            self._known.popitem(last=False)
