"""Which words of a passage come nearest to each word of a query, and in which sentences a concept stands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.base.types import Span, TokenAlignment
from core.concepts.terms import content_words
from core.encode.encoder import PASSAGE, QUERY, Encoder, TokenStates
from core.index.concept_model import ConceptModel
from core.text.sentences import split

_MOST_SENTENCES = 10  # encoded for one explanation; more are taken in groups
_NEAR = 0.45  # cosine of token states below which two words are no pair
_MOST_WORDS = 32  # of a query
_STRONG = 0.6  # of the strongest sentence's activation

Floats = NDArray[np.float32]


def align(encoder: Encoder, query: str, passage: str, language: str) -> tuple[TokenAlignment, ...]:
    """For each content word of the query the passage's content word with the nearest contextual state, if near.

    Words, not the encoder's pieces of words: a word's state is the mean of its pieces' states.
    """
    asked, asked_states = _words(encoder, query, language, QUERY)
    found, found_states = _words(encoder, passage, language, PASSAGE)
    if not asked or not found:
        return ()
    cosine = asked_states[:_MOST_WORDS] @ found_states.T
    pairs = []
    for word, row in zip(asked, cosine, strict=False):
        best = int(row.argmax())
        if row[best] >= _NEAR:
            span = found[best]
            pairs.append(
                TokenAlignment(query[word.start : word.end], passage[span.start : span.end], float(row[best]), span)
            )
    return tuple(pairs)


def _words(encoder: Encoder, text: str, language: str, kind: str) -> tuple[list[Span], Floats]:
    """Distinct places of content words that the encoder saw, and their unit states [W, D]."""
    places = list(dict.fromkeys(Span(t.start, t.end) for t in content_words(text, language)))
    if not places:
        return [], np.empty((0, encoder.dimension), np.float32)
    states = encoder.token_states(text, kind)
    seen, vectors = [], []
    for place in places:
        vector = _mean(states, place)
        if vector is not None:
            seen.append(place)
            vectors.append(vector)
    return seen, np.array(vectors, np.float32).reshape(len(seen), -1)


def _mean(states: TokenStates, place: Span) -> Floats | None:
    rows = [i for i, (start, end) in enumerate(states.spans) if start < place.end and end > place.start]
    if not rows:
        return None  # behind the end of what the encoder sees
    mean = states.vectors[rows].mean(0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)


def sentence_spans(
    encoder: Encoder, model: ConceptModel, text: str, latents: Sequence[int]
) -> dict[int, tuple[Span, ...]]:
    """For each latent the sentences of `text` in which it is strongest, in reading order.

    Pre-activations are compared, as a sentence alone may stay below the threshold that its passage passes. A latent
    that rises in no sentence belongs to the passage as a whole, and gets none.
    """
    spans = _groups([Span(*s) for s in split(text)])
    if not spans or not latents:
        return dict.fromkeys(latents, ())
    if len(spans) == 1:
        return dict.fromkeys(latents, (spans[0],))
    pre_SM = model.preactivations(encoder.encode([text[s.start : s.end] for s in spans]))
    found = {}
    for latent in latents:
        strength = pre_SM[:, latent]
        best = float(strength.max())
        found[latent] = tuple(s for s, a in zip(spans, strength, strict=True) if best > 0 and a >= _STRONG * best)
    return found


def _groups(spans: Sequence[Span]) -> list[Span]:
    """Neighbouring sentences joined so that few enough remain."""
    size = -(-len(spans) // _MOST_SENTENCES)
    return [Span(spans[i].start, spans[min(i + size, len(spans)) - 1].end) for i in range(0, len(spans), max(size, 1))]
