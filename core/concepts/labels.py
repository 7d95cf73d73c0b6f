"""The concepts of a fitted model: latents that can be named, with their names, examples, frequency and quality."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.base.events import Control
from core.base.types import Concept, Passage
from core.concepts.describe import describe
from core.concepts.lsa import word_space
from core.concepts.quality import qualities
from core.concepts.terms import Text
from core.concepts.vocabulary import Vocabulary

Floats = NDArray[np.float32]


def label(
    passages: Sequence[Passage], activations: Floats, fires: NDArray[np.int64], total: int,
    control: Control | None = None,
) -> list[Concept]:  # fmt: skip
    """Concepts named and judged by `passages` with their `activations` [N, M].

    `fires` [M] says in how many of all `total` passages of the library each latent is active.

    Raises:
        Cancelled: through `control`.
    """
    texts = [shown(passage) for passage in passages]
    vocabulary = Vocabulary(texts, control)
    described = describe(vocabulary, activations, control)
    quality = qualities(
        activations, word_space(vocabulary).vectors, [d.latent for d in described], [t.language for t in texts], control
    )
    return [
        Concept(
            id=d.latent, label=d.label, terms=d.terms, passages=int(fires[d.latent]),
            examples=tuple(passages[row].id for row in d.rows), idf=idf(int(fires[d.latent]), total),
            quality=quality.get(d.latent, -1.0),
        )
        for d in described
    ]  # fmt: skip


def idf(passages: int, total: int) -> float:
    """How much it tells that a latent is active, never negative."""
    return float(np.log(1 + (total - passages + 0.5) / (passages + 0.5)))


def shown(passage: Passage) -> Text:
    """What a passage says of itself: its text under its nearest heading.

    The heading names what a passage is about; the title of a document of many passages only names the document, which
    would be said of all its concepts.
    """
    headings = [h for h in passage.heading_path[-1:] if h != passage.title]
    context = dict.fromkeys([passage.title, *headings] if passage.external_id and passage.title else headings)
    return Text("\n".join((*context, passage.text)), passage.language)
