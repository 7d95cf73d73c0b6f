"""What an autoencoder learns from and is measured on: passages in an order of their own, sentences, titles, questions.

Sentences and titles are encoded as passages and as questions in turn: what is asked is short, and an encoder may treat
it in another way. Without them latents fire far more often on questions than on passages.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.events import Control
from core.base.types import Passage
from core.encode.encoder import Encoder
from core.text.sentences import split
from core.train.probe import pairs

TRAINING_PASSAGES = 20_000  # of a larger library an even sample is taken
EXTRA_TEXTS = 2_000  # sentences and titles: more would make a fit slow
TITLES = 400
QUERIES = 200  # sentences kept apart, to ask with
OUTSIDE = 60  # texts of no library
HOLD_OUT = 10  # every tenth passage is not trained on
_SENTENCE = (25, 300)  # characters of a sentence worth having
_MOST_SENTENCES = 4  # of one passage
_WORDS_TO_HALVE = 8

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Material:
    """`train` [T, D]: passages (those of `train_rows`), sentences and titles. The rows count in the passages given.

    `held_rows` were not trained on, nor was any sentence of theirs. `queries` [Q, D] are sentences that were not
    trained on either; `sources` are the rows of their passages. `outside` [O, D] are passages of no library.
    """

    train: Floats
    train_rows: Rows
    held_rows: Rows
    queries: Floats
    sources: Rows
    outside: Floats


def gather(passages: Sequence[Passage], vectors: Floats, encoder: Encoder, control: Control | None = None) -> Material:
    """Choose and encode. The choice depends on the order of `passages` alone.

    Raises:
        Cancelled: through `control`.
    """
    rows = even(len(passages), TRAINING_PASSAGES)
    held = rows[HOLD_OUT // 2 :: HOLD_OUT]
    trained = np.setdiff1d(rows, held)
    titles = _titles([passages[r] for r in trained])
    asked, learned = _sentences(passages, trained, held, EXTRA_TEXTS - len(titles))
    extra = [*titles, *learned]
    told = encoder.encode(extra[::2], control=control)
    queries = encoder.encode([*extra[1::2], *(text for _, text in asked)], kind="query", control=control)
    outside = encoder.encode(_outside({p.language for p in passages}), control=control)
    learned_questions, queries = np.split(queries, [len(extra) // 2])
    train = np.concatenate([v.reshape(-1, vectors.shape[1]) for v in (vectors[trained], told, learned_questions)])
    return Material(train, trained, held, queries, np.array([row for row, _ in asked], np.int64), outside)


def even(total: int, most: int) -> Rows:
    """At most `most` of the numbers below `total`, evenly spread."""
    return (
        np.unique(np.linspace(0, total - 1, min(total, most)).round().astype(np.int64))
        if total
        else np.empty(0, np.int64)
    )


def _titles(passages: Sequence[Passage]) -> list[str]:
    """Distinct titles and headings."""
    found = dict.fromkeys(name for p in passages for name in (p.title, *p.heading_path) if len(name.split()) > 1)
    names = list(found)
    return [names[i] for i in even(len(names), TITLES)]


def _sentences(
    passages: Sequence[Passage], trained: Rows, held: Rows, most: int
) -> tuple[list[tuple[int, str]], list[str]]:
    """Sentences to ask with (with their rows), and sentences to learn from, never the same."""
    askers = {
        int(r) for r in np.concatenate([held[:: max(1, len(held) // QUERIES)], trained[even(len(trained), QUERIES)]])
    }
    each = min(_MOST_SENTENCES, -(-most // max(1, len(trained))))
    learners = {int(r) for r in trained[even(len(trained), most // max(1, each))]}
    asked: list[tuple[int, str]] = []
    learned: list[str] = []
    for row in sorted(askers | learners):
        found = _worth(passages[row].text)
        if row in askers and (question := found.pop(len(found) // 2) if len(found) > 1 else _half(found)):
            asked.append((row, question))
        if row in learners:
            learned += [found[i] for i in even(len(found), each)]
    return [asked[i] for i in even(len(asked), QUERIES)], learned


def _half(sentences: Sequence[str]) -> str:
    """The second half of the words of a passage of one sentence: a question that is not the passage itself."""
    words = " ".join(sentences).split()
    return " ".join(words[len(words) // 2 :]) if len(words) >= _WORDS_TO_HALVE else ""


def _worth(text: str) -> list[str]:
    low, high = _SENTENCE
    return [text[a:b] for a, b in split(text) if low <= b - a <= high]


def _outside(languages: Collection[str]) -> list[str]:
    """Passages of the general probe in these languages, in all of its languages where it has none of these."""
    known = pairs()
    texts = [pair.passage for pair in known if pair.language in languages] or [pair.passage for pair in known]
    return [texts[i] for i in even(len(texts), OUTSIDE)]
