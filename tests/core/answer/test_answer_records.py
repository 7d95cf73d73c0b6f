"""What is kept of the way to an answer: the same way gives the same record, another one tells itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.answer.echo import EchoBackend
from core.answer.service import Answerer
from core.base.types import Answer, Filters, SearchResult
from core.encode.encoder import Encoder
from tests.core.answer.collection import found, passage

Search = Callable[[str], SearchResult]
QUESTION = "How many passengers does the Tern carry?"
REPLY = "The Tern carries 240 passengers."


def test_a_record_tells_what_was_searched_and_given(encoder: Encoder, search: Search) -> None:
    result = search(QUESTION)
    result = replace(result, query=replace(result.query, filters=Filters(types=("pdf",))))
    answer = Answerer(encoder, EchoBackend(REPLY)).answer(QUESTION, (), result)
    assert answer.record is not None
    assert answer.record.filters == Filters(types=("pdf",))
    assert answer.record.searched == (QUESTION,)
    assert answer.record.passages == tuple(hit.passage.id for hit in result.hits)[: len(answer.record.passages)]
    assert {c.passage_id for s in answer.sentences for c in s.citations} <= set(answer.record.passages)
    assert (answer.record.encoder, answer.record.asked_mode) == (encoder.id, "auto")
    assert (len(answer.record.prompt), answer.record.seed) == (64, 1)


def test_the_same_question_gives_the_same_answer_and_record(encoder: Encoder, search: Search) -> None:
    first, second = (Answerer(encoder, EchoBackend(REPLY)).answer(QUESTION, (), search(QUESTION)) for _ in range(2))
    assert first == second


def test_what_changed_shows_in_the_record(encoder: Encoder, search: Search) -> None:
    before = Answerer(encoder, EchoBackend(REPLY)).answer(QUESTION, (), search(QUESTION))
    text = "The Tern carries 260 passengers across the bay."
    after = Answerer(encoder, EchoBackend(REPLY)).answer(QUESTION, (), found(QUESTION, passage(0, text)))
    assert before.record is not None
    assert after.record is not None
    assert before.record.prompt != after.record.prompt
    assert before.record.hashes[0] not in after.record.hashes


def test_without_a_model_there_is_no_prompt_and_first_answers_have_a_record_too(
    encoder: Encoder, search: Search
) -> None:
    told: list[Any] = []
    answer = Answerer(encoder).answer(QUESTION, (), search(QUESTION), mode="extractive", on_partial=told.append)
    assert answer.record is not None
    assert (answer.record.prompt, answer.record.seed, answer.record.asked_mode) == ("", 0, "extractive")
    first = told[0]["answer"]
    assert isinstance(first, Answer)
    assert first.record == answer.record
    nothing = Answerer(encoder).answer("What is the fare on the moon for Zyxwvut?", (), search(QUESTION))
    assert nothing.record is not None
