"""What an encoder is, and what it sees of a passage."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.events import Control

FloatArray = NDArray[np.float32]
QUERY, PASSAGE = "query", "passage"
_CONTEXT_CHARACTERS = 160  # about 40 tokens: room stays for a passage of 200 tokens in a window of 256


@dataclass(frozen=True, slots=True)
class TokenStates:
    """Contextual states of a text's tokens, without special tokens, and the text's own vector from the same pass.

    `spans` holds each token's characters in the text, `vectors` [T, D] its last-layer state, unit length; `pooled` [D]
    is what `Encoder.encode` gives for the text.
    """

    spans: list[tuple[int, int]]
    vectors: FloatArray
    pooled: FloatArray


@dataclass(frozen=True, slots=True)
class Encoded:
    """What the heads of an encoder make of N texts; a head that was not asked for is None.

    `dense` [N, D] are unit vectors. `lexical` gives for each text its vocabulary tokens with positive weights (the
    maximum over repeats; no special tokens). `multi` gives for each text the unit vectors [T, M] of its tokens, without
    special tokens and without those of the prefix.
    """

    dense: FloatArray | None = None
    lexical: tuple[dict[str, float], ...] | None = None
    multi: tuple[FloatArray, ...] | None = None


class Encoder(Protocol):
    """Texts to unit vectors. `id` names the bundle: vectors of different ids must never be compared."""

    @property
    def id(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Longest input with special tokens; what is beyond is cut off."""
        ...

    def encode(
        self,
        texts: Sequence[str],
        *,
        kind: str = PASSAGE,
        control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:
        """Unit vectors [N, D] float32 in the order of `texts`.

        `kind` is "passage" or "query". `on_batch` is told after each batch how many texts are done so far;
        `control` is checked between batches.

        Raises:
            Cancelled: through `control`.
        """
        ...

    @property
    def heads(self) -> frozenset[str]:
        """The channels that it can make: "dense" always, "lexical" with a trained head, "multi"."""
        ...

    def encode_heads(
        self,
        texts: Sequence[str],
        heads: Collection[str],
        *,
        kind: str = PASSAGE,
        control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> Encoded:
        """Several representations in one pass over the model (M3-Embedding, section 3.1).

        Raises:
            Cancelled: through `control`.
            ValueError: a head that this encoder does not have.
        """
        ...

    def encode_long(
        self,
        texts: Sequence[str],
        *,
        kind: str = PASSAGE,
        control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:
        """Unit vectors [N, D] of whole texts, however long: nothing is cut off.

        A text within the window has exactly the vector of `encode`. A longer one is read in windows of the model's
        length whose token-weighted mean is taken, or, by a model pooled at CLS, with a CLS every 256 tokens (MCLS).

        Raises:
            Cancelled: through `control`.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each whole text, without special tokens."""
        ...

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Characters of each token of the whole text, without special tokens."""
        ...

    def token_states(self, text: str, kind: str = PASSAGE) -> TokenStates:
        """States of the tokens that the encoder sees (a long text is cut off)."""
        ...


def input_text(heading_path: Sequence[str], text: str, title: str = "") -> str:
    """What the encoder sees for a passage: title and headings on one line, then the text.

    The text stands at the end, so it begins at `len(result) - len(text)`. When the context is too long the
    title is cut first, then the outer headings, so that the heading next to the text stays.
    """
    names = [name for name in (" ".join(part.split()) for part in (title, *heading_path)) if name]
    names = [name for i, name in enumerate(names) if name not in names[:i]]
    context = ". ".join(names)
    if len(context) > _CONTEXT_CHARACTERS:
        context = context[-_CONTEXT_CHARACTERS:].partition(" ")[2] or context[-_CONTEXT_CHARACTERS:]
    return f"{context}\n{text}" if context else text


def input_hash(text: str) -> str:
    """First 32 hex digits of the sha256 of an encoder input: equal inputs have equal vectors."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
