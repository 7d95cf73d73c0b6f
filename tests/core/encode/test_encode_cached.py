"""Remembered queries: asked once, bounded, the same as without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from core.encode.batched import BatchedEncoder
from core.encode.cached import CachedEncoder
from core.encode.encoder import PASSAGE, QUERY, Encoder


class Counting:
    """Passes on to a real encoder and counts how often each text is asked for."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        work = getattr(self._encoder, name)

        def counted(texts: Sequence[str] | str, *args: Any, **options: Any) -> Any:
            self.asked.update([texts] if isinstance(texts, str) else texts)
            return work(texts, *args, **options)

        return counted if name in ("encode", "encode_heads", "token_states") else work


@pytest.fixture
def counting(tiny_encoder: BatchedEncoder) -> Counting:
    return Counting(tiny_encoder)


def test_a_query_is_encoded_once_and_is_the_same(counting: Counting, tiny_encoder: Encoder) -> None:
    cached = CachedEncoder(counting)  # type: ignore[arg-type]
    for _ in range(3):
        found = cached.encode(["the hive"], kind=QUERY)
        np.testing.assert_array_equal(found, tiny_encoder.encode(["the hive"], kind=QUERY))
        found[:] = 0  # a caller's own copy
        dense = cached.encode_heads(["a ship"], {"dense"}, kind=QUERY).dense
        np.testing.assert_array_equal(dense, tiny_encoder.encode(["a ship"], kind=QUERY))
        np.testing.assert_array_equal(
            cached.token_states("storm", QUERY).vectors, tiny_encoder.token_states("storm", QUERY).vectors
        )
    assert counting.asked == {"the hive": 1, "a ship": 1, "storm": 1}
    assert (cached.id, cached.dimension) == (tiny_encoder.id, tiny_encoder.dimension)


def test_passages_and_other_heads_are_not_mixed_up(counting: Counting) -> None:
    cached = CachedEncoder(counting)  # type: ignore[arg-type]
    cached.encode(["the hive"], kind=QUERY)
    cached.encode(["the hive"], kind=PASSAGE)
    assert cached.encode_heads(["the hive"], {"dense"}, kind=QUERY).multi is None
    assert cached.encode_heads(["the hive"], {"dense", "multi"}, kind=QUERY).multi is not None
    assert counting.asked["the hive"] == 4


def test_the_oldest_is_forgotten(counting: Counting) -> None:
    cached = CachedEncoder(counting, size=2)  # type: ignore[arg-type]
    for text in ("one", "two", "one", "three", "one", "two"):
        cached.encode([text], kind=QUERY)
    assert counting.asked == {"one": 1, "two": 2, "three": 1}
