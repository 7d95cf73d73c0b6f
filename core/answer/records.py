"""What an answer is made of, as kept with it: enough to make it again, and to tell later what is different."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from core.answer.backend import SEED, Message
from core.answer.evidence import MAX_PASSAGES
from core.base.types import Answer, AnswerRecord, Filters, Passage, SearchResult

Partial = Callable[[dict[str, Any]], None]


def of(result: SearchResult, encoder: str, mode: str) -> AnswerRecord:
    """The record of an answer from these hits, as far as it is known before a model is asked."""
    passages = [hit.passage for hit in result.hits[:MAX_PASSAGES]]
    return read(result.query.filters, result.searched or (result.query.text,), passages, encoder, mode)


def read(
    filters: Filters, searched: Sequence[str], passages: Sequence[Passage], encoder: str, mode: str
) -> AnswerRecord:  # fmt: skip
    """The record of an answer for which these passages were read."""
    return AnswerRecord(
        filters=filters,
        searched=tuple(searched),
        passages=tuple(passage.id for passage in passages),
        hashes=tuple(_hash(passage.text) for passage in passages),
        encoder=encoder,
        asked_mode=mode,
    )


def prompt_hash(messages: Sequence[Message]) -> str:
    """Names what a model was given; empty when it was given nothing."""
    return _hash(json.dumps([[m.role, m.content] for m in messages])) if messages else ""


def kept(answer: Answer, record: AnswerRecord, prompt: str) -> Answer:
    """`answer` with its record; `prompt` is the hash of what the model was given."""
    return replace(answer, record=replace(record, prompt=prompt, seed=SEED if prompt else 0))


def telling(record: AnswerRecord, on_partial: Partial) -> Partial:
    """`on_partial`, told first answers with their record: one that the person stops at is kept as well."""

    def tell(partial: dict[str, Any]) -> None:
        if isinstance(partial.get("answer"), Answer):
            partial = {**partial, "answer": kept(partial["answer"], record, "")}
        on_partial(partial)

    return tell


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
