"""What a recipe says of the stage that trains token heads. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

NAME = "heads"
MOST_BYTES = 2 << 30  # of token states that are kept: about 25,000 passages of 100 tokens and 384 dimensions


@dataclass(frozen=True, slots=True)
class HeadsStage:
    """A lexical and a multi-vector head, trained for `epochs` over at most `questions` at `rate` on the held encoder.

    `dimension` is that of token vectors, 0 for the encoder's own (ColBERT takes 128: a third of the room). With
    `expansion` a passage has learned weights for terms that it does not say, too (SPLADE): many times slower to train,
    slower to read in. Without `distil` the heads do not follow what they know together (M3, section 3.3). With
    `all_weights` the encoder learns, too, held by an anchor, and then wants a `rate` of about 1e-5.
    """

    epochs: int = 3
    rate: float = 1e-3
    questions: int = 1_500
    dimension: int = 128
    expansion: bool = False
    distil: bool = True
    all_weights: bool = False
