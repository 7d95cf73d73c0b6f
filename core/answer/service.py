"""One question to one answer: evidence, whether to answer at all, quotes first, then the model's words if they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from core.answer import abstain, extractive, phrases, records
from core.answer.backend import Backend
from core.answer.citations import Citer
from core.answer.evidence import MAX_PASSAGES, Evidence, gather
from core.answer.notes import noted
from core.answer.scale import Scale
from core.answer.write import Draft, write
from core.base.errors import BadQuery, EndpointFailed
from core.base.events import Control
from core.base.types import (
    Answer,
    AnswerMode,
    AnswerSentence,
    Citation,
    SearchResult,
    Support,
    Turn,
)
from core.encode.encoder import Encoder

NEAR_MISSES = 3
AUTO, EXTRACTIVE = "auto", "extractive"
Partial = Callable[[dict[str, Any]], None]


@dataclass
class Answerer:
    """Answers from search results. Holds the encoder and, where one is installed, the language model."""

    encoder: Encoder
    backend: Backend | None = None

    @cached_property
    def scale(self) -> Scale:
        return Scale(self.encoder)

    def answer(
        self,
        question: str,
        history: Sequence[Turn],
        result: SearchResult,
        *,
        mode: str = AUTO,
        on_partial: Partial = lambda partial: None,
        control: Control | None = None,
    ) -> Answer:
        """Answer `question` from the hits of `result`, whose query is the question made to stand alone.

        `on_partial` gets `{"answer": Answer}` once the best sentences are known, then `{"token": text}` as the model
        writes. `mode` "extractive" leaves the model out.

        Raises:
            BadQuery: the question is empty.
            Cancelled: through `control`, at the next token at the latest.
        """
        if not question.strip():
            raise BadQuery("The question is empty.", "Type a question.")
        record = records.of(result, self.encoder.id, mode)
        told = records.telling(record, on_partial)
        made, prompt = self._made(question, history, result, mode, told, control or Control())
        return records.kept(made, record, prompt)

    def _made(
        self, question: str, history: Sequence[Turn], result: SearchResult, mode: str, on_partial: Partial,
        control: Control,
    ) -> tuple[Answer, str]:  # fmt: skip
        """The answer, and the hash of what a model was given for it, if one was."""
        asked = result.query.text.strip() or question
        if not any(hit.passage.text.strip() for hit in result.hits[:MAX_PASSAGES]):
            return _abstained(question, result, phrases.say(phrases.NO_PASSAGES)), ""
        earlier = [turn.answer for turn in history] if asked != question else []
        evidence = gather(asked, result.hits, self.encoder, control, typed=question, earlier=earlier)
        verdict = abstain.judge(evidence, self.scale)
        if not verdict.enough:
            return noted(_abstained(question, result, _why_not(verdict)), result, evidence), ""
        made, prompt = self._answered(question, result, evidence, mode, on_partial, control)
        return noted(made, result, evidence), prompt

    def _answered(
        self, question: str, result: SearchResult, evidence: Evidence, mode: str, on_partial: Partial, control: Control
    ) -> tuple[Answer, str]:
        ranking = extractive.scores(evidence, self.scale)
        chosen = extractive.choose(evidence, ranking)
        reason = phrases.ASKED_FOR_QUOTES if mode == EXTRACTIVE else phrases.NO_MODEL
        quoted = _quoted(question, result, evidence, chosen, reason)
        on_partial({"answer": quoted})
        if mode == EXTRACTIVE or self.backend is None:
            return quoted, ""
        try:
            draft = write(evidence, ranking, chosen, self.backend, self.encoder, self.scale, on_partial, control)
        except EndpointFailed as error:  # the quotes stand, and it is told why they stand alone
            why = phrases.say(phrases.MODEL_FAILED, problem=str(error))
            return replace(quoted, reason=why, model=self.backend.id), ""
        if draft.useful:
            return _written(question, result, draft, self.backend.id), draft.prompt
        reason = phrases.MODEL_WEAK if draft.supported else phrases.NO_SUPPORT
        return _quoted(question, result, evidence, chosen, reason, self.backend.id), draft.prompt


def _why_not(verdict: abstain.Verdict) -> str:
    if verdict.missing:
        return phrases.say(phrases.NAMES_MISSING, missing=", ".join(verdict.missing))
    return phrases.say(phrases.EVIDENCE_WEAK)


def _abstained(question: str, result: SearchResult, reason: str) -> Answer:
    citer = Citer()
    near = tuple(citer.cite_passage(hit.passage) for hit in result.hits[:NEAR_MISSES])
    text = phrases.say(phrases.NOT_IN_DOCUMENTS)
    return Answer(question, AnswerMode.ABSTAINED, text, (), near, reason, generation=result.generation)


def _quoted(
    question: str, result: SearchResult, evidence: Evidence, chosen: Sequence[int], reason: str, model: str = ""
) -> Answer:
    citer = Citer()
    sentences = tuple(
        AnswerSentence(evidence.sentences[n].text, Support.SUPPORTED, (citer.cite(evidence.sentences[n]),))
        for n in chosen
    )
    text, why = plain(sentences), phrases.say(reason)
    return Answer(question, AnswerMode.EXTRACTIVE, text, sentences, (), why, model, result.generation)


def _written(question: str, result: SearchResult, draft: Draft, model: str) -> Answer:
    text, why = plain(draft.sentences), phrases.say(phrases.MODEL_SUPPORTED)
    return Answer(question, AnswerMode.GENERATED, text, draft.sentences, (), why, model, result.generation)


def plain(sentences: Sequence[AnswerSentence]) -> str:
    """The supported sentences, each followed by the markers of its citations."""
    return " ".join(f"{s.text} {_markers(s.citations)}" for s in sentences if s.support is Support.SUPPORTED)


def _markers(citations: Sequence[Citation]) -> str:
    return "".join(f"[{marker}]" for marker in dict.fromkeys(c.marker for c in citations))
