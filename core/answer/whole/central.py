"""Summaries without a model: the sentences of a document that say most of what all of it says.

Each sentence is compared with the centroid of the document's weighted words (Radev et al. 2004, "Centroid-based
summarization of multiple documents", section 2), and those taken say little twice (maximal marginal relevance,
Carbonell and Goldstein 1998).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.answer.evidence import content_words
from core.answer.orders import is_order
from core.answer.whole.reading import LONGEST, Said
from core.base.events import Control
from core.search.every import Match
from core.text.sentences import split

NOVELTY = 0.6  # how much what was taken already counts against a sentence
OPENING = 0.15  # what the first sentences of a document are worth more: they say what it is about
MOST_SENTENCES = 400  # of a document that are compared
_LEAST_WORDS = 4  # content words: a shorter line is a heading, a label, a greeting
_WHOLE = re.compile(r"[.!…。！।؟۔][\"'”’»」』)\]]*\s*$")


@dataclass(frozen=True, slots=True)
class _Sentence:
    said: Said
    words: frozenset[str]
    place: int


def central(matches: Sequence[Match], count: int, control: Control) -> list[Said]:
    """The `count` sentences of one document's passages (in reading order) that tell it best, in reading order.

    Raises Cancelled.
    """
    sentences = _sentences(matches, control)
    rarity = _rarity(sentences)
    centroid = Counter(word for sentence in sentences for word in sentence.words)
    whole = {word: number * rarity[word] for word, number in centroid.items()}
    worth = [_cosine(s.words, whole, rarity) + OPENING / (1.0 + s.place) for s in sentences]
    chosen: list[int] = []
    left = set(range(len(sentences)))
    while left and len(chosen) < count:
        control.check()
        best = max(left, key=lambda n: (worth[n] - NOVELTY * _said(sentences, n, chosen, rarity), -n))
        left.remove(best)
        if not is_order(sentences[best].said.text):  # what is said to a model tells nothing of the document
            chosen.append(best)
    return [sentences[n].said for n in sorted(chosen)]


def _sentences(matches: Sequence[Match], control: Control) -> list[_Sentence]:
    """Sentences, each once, evenly over the document where it has too many.

    What is short, or ends without a full stop (a title, a row of a table, a name below it), counts where there is
    nothing else.
    """
    found: list[_Sentence] = []
    seen: set[frozenset[str]] = set()
    for match in matches:
        control.check()
        text = match.passage.text
        for start, end in split(text):
            words = content_words(text[start:end], match.passage.language)
            asks = text[start:end].rstrip().endswith(("?", "？"))
            if words and words not in seen and end - start <= LONGEST and not asks:
                seen.add(words)
                found.append(_Sentence(Said(match, start, end, 1.0), words, len(found)))
    long = [sentence for sentence in found if len(sentence.words) >= _LEAST_WORDS] or found
    whole = [sentence for sentence in long if _WHOLE.search(sentence.said.text)] or long
    return whole[:: max(1, math.ceil(len(whole) / MOST_SENTENCES))]


def _rarity(sentences: Sequence[_Sentence]) -> dict[str, float]:
    counts = Counter(word for sentence in sentences for word in sentence.words)
    return {word: math.log(1.0 + len(sentences) / number) for word, number in counts.items()}


def _cosine(words: frozenset[str], whole: dict[str, float], rarity: dict[str, float]) -> float:
    inner = sum(rarity[word] * whole[word] for word in words)
    own = math.sqrt(sum(rarity[word] ** 2 for word in words))
    return inner / (own * math.sqrt(sum(weight**2 for weight in whole.values())) or 1.0)


def _said(sentences: Sequence[_Sentence], n: int, chosen: Sequence[int], rarity: dict[str, float]) -> float:
    """The largest weighted share of a sentence's words that one of those chosen has."""
    own = sum(rarity[word] for word in sentences[n].words)
    return max((sum(rarity[w] for w in sentences[n].words & sentences[m].words) / own for m in chosen), default=0.0)
