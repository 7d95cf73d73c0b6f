"""Two encoders behind one: queries go through another model than passages, into the same space of vectors.

An encoder whose query side was adapted to a library keeps all vectors of its passages, so that nothing is encoded anew
(ADORE, Zhan et al. 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from core.base.events import Control
from core.base.types import DENSE
from core.encode.encoder import PASSAGE, QUERY, Encoded, Encoder, FloatArray, TokenStates


class TwoTowers:
    """An `Encoder` named after the one of passages, whose vectors are in the index.

    Only the dense vectors of queries come from the other one: its token heads were not trained beside it.

    Raises:
        ValueError: the two have vectors of different dimensions.
    """

    def __init__(self, passages: Encoder, queries: Encoder) -> None:
        if passages.dimension != queries.dimension:
            raise ValueError(f"{queries.id} has {queries.dimension} dimensions, {passages.id} {passages.dimension}")
        self._passages, self._queries = passages, queries

    @property
    def id(self) -> str:
        return self._passages.id

    @property
    def queries(self) -> str:
        """The id of the encoder of queries."""
        return self._queries.id

    @property
    def dimension(self) -> int:
        return self._passages.dimension

    @property
    def max_tokens(self) -> int:
        return self._passages.max_tokens

    @property
    def heads(self) -> frozenset[str]:
        return self._passages.heads

    def encode(
        self, texts: Sequence[str], *, kind: str = PASSAGE, control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:  # fmt: skip
        """See `Encoder.encode`."""
        return self._of(kind).encode(texts, kind=kind, control=control, on_batch=on_batch)

    def encode_heads(
        self, texts: Sequence[str], heads: Collection[str], *, kind: str = PASSAGE, control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> Encoded:  # fmt: skip
        """See `Encoder.encode_heads`."""
        if kind != QUERY or DENSE not in heads:
            return self._passages.encode_heads(texts, heads, kind=kind, control=control, on_batch=on_batch)
        dense = self._queries.encode(texts, kind=kind, control=control, on_batch=on_batch)
        others = set(heads) - {DENSE}
        if not others:
            return Encoded(dense)
        made = self._passages.encode_heads(texts, others, kind=kind, control=control)
        return Encoded(dense, made.lexical, made.multi)

    def encode_long(
        self, texts: Sequence[str], *, kind: str = PASSAGE, control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:  # fmt: skip
        """See `Encoder.encode_long`."""
        return self._of(kind).encode_long(texts, kind=kind, control=control, on_batch=on_batch)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Encoder.count_tokens`."""
        return self._passages.count_tokens(texts)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See `Encoder.token_spans`."""
        return self._passages.token_spans(text)

    def token_states(self, text: str, kind: str = PASSAGE) -> TokenStates:
        """See `Encoder.token_states`; compared with each other, so of one model."""
        return self._passages.token_states(text, kind)

    def _of(self, kind: str) -> Encoder:
        return self._queries if kind == QUERY else self._passages


def queries_of(encoder: Encoder) -> str:
    """The id of another encoder that queries go through; "" where there is none."""
    return str(getattr(encoder, "queries", ""))
