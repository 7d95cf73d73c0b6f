"""Queries are encoded once: typing, paging and an explanation ask for the same text again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from core.base.events import Control
from core.base.recent import Recent
from core.encode.encoder import PASSAGE, QUERY, Encoded, Encoder, FloatArray, TokenStates
from core.encode.towers import queries_of

_SHORT = 64  # tokens of a text whose states are kept (0.1 MB at 384 dimensions)

T = TypeVar("T")
_Key = tuple[str, str, frozenset[str]]


class CachedEncoder:
    """An `Encoder` that remembers the last `size` single queries that it has encoded, and as many short texts of
    passages whose tokens were asked for: a hit is explained again when the question changes a little.

    Other passages and lists of texts go straight through. Not for two threads at a time.
    """

    def __init__(self, encoder: Encoder, size: int = 256) -> None:
        self._encoder = encoder
        self._size = size
        self._known: OrderedDict[_Key, Any] = OrderedDict()
        self._sentences: Recent[str, TokenStates] = Recent(size)

    @property
    def id(self) -> str:
        return self._encoder.id

    @property
    def queries(self) -> str:
        """See `core.encode.towers`."""
        return queries_of(self._encoder)

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    @property
    def max_tokens(self) -> int:
        return self._encoder.max_tokens

    @property
    def heads(self) -> frozenset[str]:
        return self._encoder.heads

    def encode(
        self,
        texts: Sequence[str],
        *,
        kind: str = PASSAGE,
        control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:
        """See `Encoder.encode`."""
        if kind != QUERY or len(texts) != 1:
            return self._encoder.encode(texts, kind=kind, control=control, on_batch=on_batch)
        # a copy: what one caller does with its vector must not change the next one's
        return self._once(
            ("encode", texts[0], frozenset()), lambda: self._encoder.encode(texts, kind=QUERY, control=control)
        ).copy()

    def encode_heads(
        self,
        texts: Sequence[str],
        heads: Collection[str],
        *,
        kind: str = PASSAGE,
        control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> Encoded:
        """See `Encoder.encode_heads`."""
        if kind != QUERY or len(texts) != 1:
            return self._encoder.encode_heads(texts, heads, kind=kind, control=control, on_batch=on_batch)
        return self._once(
            ("heads", texts[0], frozenset(heads)),
            lambda: self._encoder.encode_heads(texts, heads, kind=QUERY, control=control),
        )

    def encode_long(
        self,
        texts: Sequence[str],
        *,
        kind: str = PASSAGE,
        control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:
        """See `Encoder.encode_long`."""
        return self._encoder.encode_long(texts, kind=kind, control=control, on_batch=on_batch)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Encoder.count_tokens`."""
        return self._encoder.count_tokens(texts)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See `Encoder.token_spans`."""
        return self._encoder.token_spans(text)

    def token_states(self, text: str, kind: str = PASSAGE) -> TokenStates:
        """See `Encoder.token_states`."""
        if kind == QUERY:
            return self._once(("states", text, frozenset()), lambda: self._encoder.token_states(text, kind))
        known = self._sentences.get(text)
        if known is None:
            known = self._encoder.token_states(text, kind)
            if len(known.spans) <= _SHORT:
                self._sentences.put(text, known)
        return known

    def _once(self, key: _Key, work: Callable[[], T]) -> T:
        if key in self._known:
            self._known.move_to_end(key)
            value: T = self._known[key]  # its type is that of the key's first part
            return value
        made = work()
        self._known[key] = made
        if len(self._known) > self._size:
            self._known.popitem(last=False)
        return made
