"""What an answer may rest on: the found passages cut into sentences, weighed against the question.

Words are weighed by rarity among the sentences at hand (the passages were found *for* the question's words, so a word
that stands in many of them tells little), meaning by the encoder's cosine. Both are looked at in every language: each
passage is compared with the question as analysed in the passage's own language.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.answer.orders import orders
from core.answer.words import is_function_word
from core.base.events import Control
from core.base.types import Hit, Passage
from core.encode.encoder import Encoder
from core.text.analyze import terms
from core.text.sentences import split

MAX_PASSAGES = 6  # what follows them answers too rarely for the time it costs
MAX_SENTENCES = 40
_LONGEST_QUESTION = 2000  # characters
_NUMBERS = 1.5  # how much more a number weighs than a word as rare
_TYPED = 2.0  # how much more the words of a follow-up weigh than those it takes from the conversation
_SAID = 0.9


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage; `start`/`end` count in the passage's text, `words` are its content terms."""

    passage: Passage
    rank: int  # the passage's place among the hits, from 0
    ordinal: int  # in its passage
    start: int
    end: int
    text: str
    words: frozenset[str]


@dataclass(frozen=True)
class Evidence:
    """Sentences [S] with their unit vectors [S, D] and the question's unit vector [D].

    `question` stands alone; `typed` is what the person wrote, which differs in a follow-up; what the answers before
    it (`earlier`) said is known and no news.
    """

    question: str
    typed: str
    hits: tuple[Hit, ...]
    sentences: tuple[Sentence, ...]
    vectors: NDArray[np.float32]
    question_vector: NDArray[np.float32]
    earlier: tuple[str, ...] = ()  # answers given before

    @cached_property
    def cosines(self) -> NDArray[np.float32]:
        """Cosine of each sentence with the question [S]."""
        return self.vectors @ self.question_vector

    @cached_property
    def languages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.languages_by_sentence))

    @cached_property
    def languages_by_sentence(self) -> tuple[str, ...]:
        return tuple(sentence.passage.language for sentence in self.sentences)

    @cached_property
    def question_words(self) -> dict[str, frozenset[str]]:
        """Content terms of the question as each language of the passages analyses it."""
        return {language: content_words(self.question, language) for language in self.languages}

    @cached_property
    def typed_words(self) -> frozenset[str]:
        """Content terms of what the person wrote, in a follow-up; empty otherwise."""
        if self.typed == self.question:
            return frozenset()
        return frozenset().union(*(content_words(self.typed, language) for language in self.languages))

    def was_said(self, sentence: Sentence) -> bool:
        """Did an answer before this question say (nearly) all that the sentence says?"""
        words = frozenset().union(*(content_words(text, sentence.passage.language) for text in self.earlier))
        return bool(sentence.words) and len(sentence.words & words) >= _SAID * len(sentence.words)

    @cached_property
    def passage_words(self) -> dict[int, frozenset[str]]:
        """Content terms of each passage with its title and headings, by passage id."""
        return {hit.passage.id: content_words(whole_text(hit.passage), hit.passage.language) for hit in self.hits}

    @cached_property
    def orders(self) -> frozenset[int]:
        """The sentences that tell a model what to do: what it wrote does not rest on them."""
        return orders([(s.passage.id, s.text) for s in self.sentences])

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(word for sentence in self.sentences for word in sentence.words)

    def weight(self, word: str) -> float:
        """Rarity of a term among the sentences at hand (the idf of BM25): 0 is everywhere."""
        count, total = self._counts[word], len(self.sentences)
        rarity = math.log(1.0 + (total - count + 0.5) / (count + 0.5))
        number = _NUMBERS if any(c.isdigit() for c in word) else 1.0
        return rarity * number * (_TYPED if word in self.typed_words else 1.0)

    def coverage(self, wanted: Iterable[str], given: frozenset[str]) -> float:
        """Share of the weight of `wanted` that stands in `given`, 0 to 1; 0 when nothing is wanted."""
        pairs = [(self.weight(word), word in given) for word in wanted]
        total = sum(weight for weight, _ in pairs)
        return sum(weight for weight, found in pairs if found) / total if total else 0.0


def whole_text(passage: Passage) -> str:
    """The passage with the title and headings that stand above it."""
    return "\n".join((passage.title, *passage.heading_path, passage.text))


def content_words(text: str, language: str) -> frozenset[str]:
    """Terms of `text` without words that only serve grammar."""
    return frozenset(t.text for t in terms(text, language) if not is_function_word(text[t.start : t.end], language))


def gather(
    question: str,
    hits: Sequence[Hit],
    encoder: Encoder,
    control: Control,
    *,
    typed: str = "",
    earlier: Sequence[str] = (),
) -> Evidence:
    """Cut the best passages into sentences and encode them with the question. Raises Cancelled."""
    question, typed = question[:_LONGEST_QUESTION], (typed or question)[:_LONGEST_QUESTION]
    best = tuple(hits[:MAX_PASSAGES])
    sentences = tuple(s for rank, hit in enumerate(best) for s in _sentences(hit.passage, rank))[:MAX_SENTENCES]
    vectors = encoder.encode([s.text for s in sentences], control=control)
    asked = encoder.encode(list(dict.fromkeys((question, typed))), kind="query", control=control).mean(axis=0)
    vector = asked / max(float(np.linalg.norm(asked)), 1e-9)
    return Evidence(question, typed, best, sentences, vectors.reshape(len(sentences), -1), vector, tuple(earlier))


def _sentences(passage: Passage, rank: int) -> list[Sentence]:
    return [
        Sentence(
            passage,
            rank,
            n,
            start,
            end,
            passage.text[start:end],
            content_words(passage.text[start:end], passage.language),
        )
        for n, (start, end) in enumerate(split(passage.text))
    ]
