"""Do the documents hold the answer at all? Decided from evidence in code, before any model writes a word.

Five signs are weighed: how close the best sentence and the best passage are to the question in meaning, how much of
the weight of the question's words stands in the best passage and in all of them, and the share of the question's names
and numbers that no passage mentions. The weights are fitted on questions with and without an answer in the documents
(see tests/benchmarks/bench_answers.py); at the threshold about nine in ten answerable questions are answered and one in
ten of the others slips through.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.answer.evidence import Evidence, whole_text
from core.answer.facts import folded_words, names, numbers
from core.answer.scale import Scale
from core.text.language import detect

FloatArray = NDArray[np.float64]
SIGNS = ("sentence", "passage", "words", "all words", "unknown")
WEIGHTS = np.array([1.45, 1.99, 4.55, 0.83, -4.87])
BIAS = -3.91
THRESHOLD = 0.55


@dataclass(frozen=True, slots=True)
class Verdict:
    """Is the evidence enough? `chance` estimates that the answer is there; `missing` are names no passage mentions."""

    enough: bool
    chance: float
    missing: tuple[str, ...] = ()


def judge(evidence: Evidence, scale: Scale) -> Verdict:
    """Weigh the evidence."""
    chance = 1.0 / (1.0 + math.exp(-float(signs(evidence, scale) @ WEIGHTS + BIAS)))
    return Verdict(chance >= THRESHOLD, chance, unknown(evidence)[0])


def signs(evidence: Evidence, scale: Scale) -> FloatArray:
    """The signs [F] in the order of `SIGNS`, each 0 to about 1."""
    sentence = float(scale(evidence.cosines, evidence.languages_by_sentence).max())
    passage = float(scale(*_passage_cosines(evidence)).max())
    words = {hit.passage.id: evidence.passage_words[hit.passage.id] for hit in evidence.hits}
    best = max(
        evidence.coverage(evidence.question_words[hit.passage.language], words[hit.passage.id])
        for hit in evidence.hits
        if hit.passage.language in evidence.question_words
    )
    everything = frozenset().union(*words.values())
    overall = max(evidence.coverage(asked, everything) for asked in evidence.question_words.values())
    share = unknown(evidence)[1]
    return np.array([sentence, passage, best, overall, share])


def _passage_cosines(evidence: Evidence) -> tuple[NDArray[np.float32], list[str]]:
    """Cosine of the question with each passage, its vector taken as the mean of its sentences', and its language."""
    cosines, languages = [], []
    for hit in evidence.hits:
        rows = [n for n, s in enumerate(evidence.sentences) if s.passage.id == hit.passage.id]
        if rows:
            mean = evidence.vectors[rows].mean(axis=0)
            cosines.append(float(mean @ evidence.question_vector / max(float(np.linalg.norm(mean)), 1e-9)))
            languages.append(hit.passage.language)
    return np.array(cosines, np.float32), languages


def unknown(evidence: Evidence) -> tuple[tuple[str, ...], float]:
    """Names and numbers of the question that no passage mentions, and their share of all it has."""
    question = evidence.question
    language = detect(question, default=evidence.languages[0])
    # German writes every noun with a capital: there the rare words alone must tell
    asked = (names(question, language) if language != "de" else frozenset()) | numbers(question)
    if not asked:
        return (), 0.0
    text = "\n".join(whole_text(hit.passage) for hit in evidence.hits)
    missing = asked - folded_words(text) - numbers(text)
    return tuple(sorted(missing)), len(missing) / len(asked)
