"""Where a sentence of an answer comes from, found in code: by the words it shares with the passages and by meaning.

Nothing that a model writes about its sources is believed. Each sentence is aligned to the sentences of the passages
it was given; the place that supports it best is its citation, and further places are added while they account for
words that the first ones do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.answer.evidence import Evidence, Sentence, content_words
from core.base.types import Citation, Passage

LEXICAL, DENSE = 0.65, 0.35  # in the choice of the best source
MOST_SOURCES = 3
LEAST_GAIN = 0.12  # share of the sentence's words that a further source must add
_ECHO = 0.5  # words that the sentence repeats from the question count half: they are not its news


@dataclass(frozen=True, slots=True)
class Alignment:
    """The sources of a sentence, best first (indices into the evidence's sentences), and how well they carry it.

    `coverage` is the weighted share of its content words that stand in the sources, `cosine` (scaled) the closeness
    of its meaning to the best one.
    """

    sources: tuple[int, ...]
    coverage: float
    cosine: float


def align(text: str, cosines: NDArray[np.float32], evidence: Evidence) -> Alignment:
    """Find the sources of `text`; `cosines` [S] are its scaled cosines with the evidence's sentences."""
    words = {language: content_words(text, language) for language in evidence.languages}
    coverage = np.array([_coverage(words[s.passage.language], s.words, s, evidence) for s in evidence.sentences])
    best = int(np.argmax(LEXICAL * coverage + DENSE * cosines))
    sources, covered = [best], float(coverage[best])
    while len(sources) < MOST_SOURCES:
        further, total = _further(words, sources, evidence)
        if total - covered < LEAST_GAIN:
            break
        sources.append(further)
        covered = total
    return Alignment(tuple(sources), covered, float(cosines[best]))


def _coverage(words: frozenset[str], given: frozenset[str], sentence: Sentence, evidence: Evidence) -> float:
    """Weighted share of `words` in `given`; the subject that a title or heading names counts as given."""
    asked = evidence.question_words[sentence.passage.language]
    weights = {word: evidence.weight(word) * (_ECHO if word in asked else 1.0) for word in words}
    passage = evidence.passage_words[sentence.passage.id]
    found = sum(w for word, w in weights.items() if word in given or (word in asked and word in passage))
    total = sum(weights.values())
    return found / total if total else 0.0


def _further(words: dict[str, frozenset[str]], sources: Sequence[int], evidence: Evidence) -> tuple[int, float]:
    """The sentence that, with the sources so far, covers most, and how much they cover together."""
    language = evidence.sentences[sources[0]].passage.language
    given = frozenset().union(*(evidence.sentences[n].words for n in sources))
    best, total = sources[0], 0.0
    for n, sentence in enumerate(evidence.sentences):
        if n in sources or sentence.passage.language != language:
            continue
        share = _coverage(words[language], given | sentence.words, sentence, evidence)
        if share > total:
            best, total = n, share
    return best, total


def page_of(passage: Passage) -> int | None:
    """The page that the passage begins on; a passage keeps no map of the pages inside it."""
    return passage.first_page


@dataclass
class Citer:
    """Makes the citations of one answer: passages are numbered from 1 in order of appearance."""

    markers: dict[int, int] = field(default_factory=dict)

    def cite(self, sentence: Sentence) -> Citation:
        """The exact place of `sentence` in its document."""
        passage = sentence.passage
        return self._citation(passage, sentence.start, sentence.end)

    def cite_passage(self, passage: Passage) -> Citation:
        return self._citation(passage, 0, len(passage.text))

    def _citation(self, passage: Passage, start: int, end: int) -> Citation:
        return Citation(
            marker=self.markers.setdefault(passage.id, len(self.markers) + 1),
            passage_id=passage.id,
            document_id=passage.document_id,
            document=passage.path,
            title=passage.title,
            external_id=passage.external_id,
            page=page_of(passage),
            start=passage.start + start,
            end=passage.start + end,
            quote=passage.text[start:end],
            place=passage.place,
        )
