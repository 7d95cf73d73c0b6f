"""The language model's draft: streamed, cut into sentences, each checked against the passages, weighed as a whole.

The draft is used only when its supported sentences answer the question at least as well as the best quotes do:
they rest on a sentence that the extractive ranking trusts (of a small model: on the best one), speak of what the
question speaks of, say something that it did not, and hold the kind of thing asked for where the best quote does.

A document may hold orders, and a model may obey them. So no sentence of a draft is supported that rests on an order,
is one, brings markup or an address along, or throws in a bare word from a place that does not answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.answer import extractive, grounding, prompt, records
from core.answer.backend import Backend
from core.answer.citations import Alignment, Citer, align
from core.answer.evidence import Evidence, content_words
from core.answer.facts import numbers, quantities
from core.answer.kinds import fits
from core.answer.orders import is_order, remote
from core.answer.prompt import Extract
from core.answer.question import Wanted, wanted
from core.answer.scale import Scale
from core.answer.stream import SentenceStream
from core.base.events import Control
from core.base.types import AnswerSentence, Support
from core.encode.encoder import Encoder

ANSWER_TOKENS = 80
MOST_SENTENCES = 4
LEAST_WORDS = 2  # content words that a place which does not answer by itself must account for
ON_SUBJECT = 0.6  # of the share of the question's words that the best quote holds
STOP = ("\n\n", "Question:", "<passage", "</passage")
# what models write of sources by themselves is worth nothing and is taken out
_OWN_CITATIONS = re.compile(r"\s*(?:\[\d+(?:\s*,\s*\d+)*\]|\((?:see )?passages? \d+\))", re.IGNORECASE)
_WHOLE = re.compile(r"[.!?…。！？।؟][\"'”’»」』)\]]*$")


@dataclass(frozen=True, slots=True)
class Draft:
    """What the model wrote, sentence by sentence, and whether it may stand as the answer. `prompt` is the hash of what
    it was given."""

    sentences: tuple[AnswerSentence, ...] = ()
    useful: bool = False
    prompt: str = ""

    @property
    def supported(self) -> bool:
        return any(sentence.support is Support.SUPPORTED for sentence in self.sentences)


def write(
    evidence: Evidence,
    ranking: NDArray[np.float64],
    chosen: Sequence[int],
    backend: Backend,
    encoder: Encoder,
    scale: Scale,
    on_partial: Callable[[dict[str, Any]], None],
    control: Control,
) -> Draft:
    """Let the model write, and check each sentence. Raises Cancelled."""
    messages = prompt.build(evidence.question, _extracts(evidence, ranking, chosen), backend, ANSWER_TOKENS)
    if not messages:
        return Draft()
    pieces = backend.generate(messages, ANSWER_TOKENS, control, STOP)
    texts = list(_sentences(pieces, on_partial))
    given = records.prompt_hash(messages)
    if not texts:
        return Draft(prompt=given)
    near = _trusted(ranking, chosen)
    checked = _check(texts, evidence, near, encoder, scale, control)
    trusted = set(chosen[:1]) if backend.small else near
    useful = _useful(checked, evidence, trusted, chosen[0])
    if useful and backend.small:
        useful = _unambiguous(evidence, chosen[0])
    return Draft(tuple(sentence for sentence, _ in checked), useful, given)


def _extracts(evidence: Evidence, ranking: NDArray[np.float64], chosen: Sequence[int]) -> list[Extract]:
    """The passages in the order of their best sentences: what fits the prompt should hold the answer."""
    order = dict.fromkeys(evidence.sentences[int(n)].passage.id for n in np.argsort(-ranking, kind="stable"))
    extracts = [_extract(evidence, passage, chosen) for passage in order]
    return [extract for extract in extracts if extract.sentences]


def _extract(evidence: Evidence, passage: int, chosen: Sequence[int]) -> Extract:
    numbered = [(n, s) for n, s in enumerate(evidence.sentences) if s.passage.id == passage]
    data = [(n, s) for n, s in numbered if n not in evidence.orders]
    spans = tuple((s.start, s.end) for _, s in data)
    return Extract(numbered[0][1].passage, spans, tuple((s.start, s.end) for n, s in data if n in chosen))


def _sentences(pieces: Iterator[str], on_partial: Callable[[dict[str, Any]], None]) -> Iterator[str]:
    """Whole sentences as they end, without repeats; the stream is left after the last one that may count."""
    stream, seen = SentenceStream(), set[str]()
    for piece in pieces:
        on_partial({"token": piece})
        for sentence in stream.feed(piece):
            if sentence in seen or len(seen) == MOST_SENTENCES:
                return
            seen.add(sentence)
            yield sentence
    for sentence in stream.finish():
        # a sentence that the token limit cut off may say the opposite of what it would have said
        if sentence not in seen and _WHOLE.search(sentence) and len(seen) < MOST_SENTENCES:
            yield sentence


def _check(
    texts: Sequence[str], evidence: Evidence, trusted: set[int], encoder: Encoder, scale: Scale, control: Control
) -> list[tuple[AnswerSentence, tuple[int, ...]]]:
    """Each sentence with its support, its citations and its sources."""
    texts = [clean for text in texts if (clean := _OWN_CITATIONS.sub("", text).strip())]
    cosines = scale(encoder.encode(texts, control=control) @ evidence.vectors.T, evidence.languages_by_sentence)
    citer, checked = Citer(), []
    for text, row in zip(texts, cosines, strict=True):
        alignment = align(text, row, evidence)
        support = _support(text, alignment, evidence, trusted)
        sources = () if support is Support.UNSUPPORTED else alignment.sources
        citations = tuple(citer.cite(evidence.sentences[n]) for n in sources)
        checked.append((AnswerSentence(text, support, citations), sources))
    return checked


def _support(text: str, alignment: Alignment, evidence: Evidence, trusted: set[int]) -> Support:
    """By the grounding, but never where the sentence may be there because a document orders it."""
    if not evidence.orders.isdisjoint(alignment.sources) or is_order(text) or remote(text):
        return Support.UNSUPPORTED
    support = grounding.judge(text, alignment, evidence)
    spliced = support is Support.SUPPORTED and _spliced(text, alignment.sources, evidence, trusted)
    return Support.PARTLY if spliced else support


def _spliced(text: str, sources: Sequence[int], evidence: Evidence, trusted: set[int]) -> bool:
    """Is a bare word of the sentence due to a place alone that does not answer? Then it may be there by order."""
    words = content_words(text, evidence.sentences[sources[0]].passage.language)
    for n in sources:
        others = frozenset[str]().union(*(evidence.sentences[m].words for m in sources if m != n))
        if n not in trusted and len((words & evidence.sentences[n].words) - others) < LEAST_WORDS:
            return True
    return False


def _trusted(ranking: NDArray[np.float64], chosen: Sequence[int]) -> set[int]:
    """Sentences that answer about as well as the best one."""
    return {*chosen, *(int(n) for n in np.flatnonzero(ranking >= ranking.max() - extractive.NEAR))}


def _useful(
    checked: Sequence[tuple[AnswerSentence, tuple[int, ...]]], evidence: Evidence, trusted: set[int], best: int
) -> bool:
    supported = [(s.text, sources) for s, sources in checked if s.support is Support.SUPPORTED]
    if trusted.isdisjoint(n for _, sources in supported for n in sources):
        return False
    return _tells(" ".join(text for text, _ in supported), evidence, best)


def _unambiguous(evidence: Evidence, best: int) -> bool:
    """Does the best quote hold at most one number to choose from, where one is wanted? A small model guesses."""
    kind, quote = wanted(evidence.typed), evidence.sentences[best].text
    if kind not in (Wanted.NUMBER, Wanted.TIME):
        return True
    held = quantities(quote) if kind is Wanted.NUMBER else frozenset(n for n in numbers(quote) if len(n) == 4)
    return len(held - numbers(evidence.question)) <= 1


def _tells(text: str, evidence: Evidence, best: int) -> bool:
    """Does `text` speak of the question's subject, say more than it, and hold the kind of thing asked for?"""
    quote = evidence.sentences[best]
    language = quote.passage.language
    asked, words = evidence.question_words[language], content_words(text, language)
    on_subject = evidence.coverage(asked, words) >= ON_SUBJECT * evidence.coverage(asked, quote.words)
    kind = wanted(evidence.typed)
    held = fits(kind, text, evidence.question, language)
    return bool(words - asked) and on_subject and held >= fits(kind, quote.text, evidence.question, language)
