"""An encoder whose vectors can be compared with those of an index from which the languages were taken out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from core.base.events import Control
from core.index.neutral import Floats, Means
from core.text.language import detect

QUERY = "query"


class Encodes(Protocol):
    def encode(
        self, texts: Sequence[str], *, kind: str = ..., control: Control | None = ...,
        on_batch: Callable[[int], None] | None = ...,
    ) -> Floats: ...  # fmt: skip


def alike(encoder: Any, means: Means | None) -> Any:
    """The encoder as it is for an index without `means`, else one that takes them out of its vectors, too."""
    return encoder if means is None else NeutralEncoder(encoder, means)


class NeutralEncoder:
    """All that the encoder has and does, its vectors without what tells their languages."""

    def __init__(self, encoder: Encodes, means: Means) -> None:
        self._encoder, self._means = encoder, means

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode(
        self, texts: Sequence[str], *, kind: str = "passage", control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> Floats:  # fmt: skip
        """Unit vectors [N, D]; a passage's language is detected, and the nearest one is taken for short texts."""
        vectors = np.asarray(self._encoder.encode(texts, kind=kind, control=control, on_batch=on_batch))
        if not len(vectors):
            return vectors
        if kind == QUERY:
            return self._means.queries(vectors)
        return self._means.passages(vectors, [detect(text) for text in texts])
