"""The answer in the documents' own words: the sentences that best answer the question, quoted exactly.

A sentence is scored by meaning (cosine with the question, its own and that of the two sentences around it), by the
question's rare words (in it, and in what surrounds it: pronouns hide the subject), by whether it holds the kind of
thing asked for, and by how well its passage ranks. What is itself a question, was said in the answer before, or gives
orders to a model is held back. The weights are fitted (see tests/benchmarks/bench_answers.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.answer.evidence import Evidence, Sentence
from core.answer.kinds import fits
from core.answer.question import wanted
from core.answer.scale import Scale

FloatArray = NDArray[np.float64]
FEATURES = ("cosine", "around", "words", "context", "kind", "passage", "stale")
WEIGHTS = np.array([2.5, 1.3, 5.0, 2.6, 1.4, 2.3, -2.0])
MOST = 3  # sentences
NEAR = 1.0  # a further sentence must score within this of the best
NEW_WORDS = 0.2  # or account for this share of the question's words that the chosen ones lack
SAME = 0.8  # share of common words from which two sentences count as duplicates


def features(evidence: Evidence, scale: Scale) -> FloatArray:
    """[S, F] in the order of `FEATURES`, each about 0 to 1."""
    cosines = scale(evidence.cosines, evidence.languages_by_sentence).astype(float)
    around = _around(evidence.sentences, cosines)
    kind = wanted(evidence.typed)
    rows = []
    for n, sentence in enumerate(evidence.sentences):
        language = sentence.passage.language
        asked = evidence.question_words[language]
        context = sentence.words | evidence.passage_words[sentence.passage.id]
        rows.append((
            cosines[n],
            around[n],
            evidence.coverage(asked, sentence.words),
            evidence.coverage(asked, context),
            fits(kind, sentence.text, evidence.question, language),
            1.0 / (1.0 + sentence.rank),
            float(_stale(evidence, n)),
        ))  # fmt: skip
    return np.array(rows, dtype=float).reshape(-1, len(FEATURES))


def _stale(evidence: Evidence, n: int) -> bool:
    sentence = evidence.sentences[n]
    return n in evidence.orders or sentence.text.rstrip().endswith(("?", "？")) or evidence.was_said(sentence)


def _around(sentences: Sequence[Sentence], cosines: FloatArray) -> FloatArray:
    """For each sentence the mean of its neighbours' cosines within the passage; its own where it has none."""
    total, count = np.zeros(len(sentences)), np.zeros(len(sentences))
    for (n, left), (m, right) in pairwise(enumerate(sentences)):
        if left.passage.id == right.passage.id:
            total[[n, m]] += cosines[[m, n]]
            count[[n, m]] += 1
    return np.where(count > 0, total / np.maximum(count, 1), cosines)


def scores(evidence: Evidence, scale: Scale) -> FloatArray:
    """How well each sentence answers the question [S]."""
    return features(evidence, scale) @ WEIGHTS


def choose(evidence: Evidence, ranking: FloatArray) -> list[int]:
    """Indices of the one to three sentences that answer together, best first, no two alike."""
    order = [int(n) for n in np.argsort(-ranking, kind="stable")]
    chosen = order[:1]
    for n in order[1:]:
        if len(chosen) == MOST:
            break
        if _alike(evidence, n, chosen):
            continue
        close = ranking[n] >= ranking[chosen[0]] - NEAR
        if close or (ranking[n] >= ranking[chosen[0]] - 2 * NEAR and _adds(evidence, n, chosen) >= NEW_WORDS):
            chosen.append(n)
    return chosen


def _alike(evidence: Evidence, n: int, chosen: Sequence[int]) -> bool:
    words = evidence.sentences[n].words
    for m in chosen:
        others = evidence.sentences[m].words
        if len(words & others) >= SAME * max(1, min(len(words), len(others))):
            return True
    return False


def _adds(evidence: Evidence, n: int, chosen: Sequence[int]) -> float:
    """Share of the question's words that sentence `n` holds and the chosen ones do not."""
    sentence = evidence.sentences[n]
    asked = evidence.question_words[sentence.passage.language]
    given = frozenset().union(*(evidence.sentences[m].words for m in chosen))
    return evidence.coverage(asked, given | sentence.words) - evidence.coverage(asked, given)
