"""Types over a pipe and back."""

from hypothesis import given
from hypothesis import strategies as st

from core.base.types import (
    Answer,
    AnswerMode,
    AnswerSentence,
    Box,
    Citation,
    Filters,
    Hit,
    Passage,
    Query,
    ReadDocument,
    ScorePart,
    SearchResult,
    Span,
    Support,
)
from core.base.wire import from_plain, to_plain

texts = st.text(max_size=20)
spans = st.builds(Span, st.integers(0, 99), st.integers(0, 99))
passages = st.builds(
    Passage, st.integers(), st.integers(), st.integers(0), texts, st.integers(0), st.integers(0),
    st.none() | st.integers(1), st.none() | st.integers(1), st.lists(texts, max_size=3).map(tuple), texts,
)  # fmt: skip
parts = st.builds(ScorePart, texts, st.floats(-9, 9), st.none() | st.integers(1), st.floats(0, 2), st.floats(-9, 9))
hits = st.builds(Hit, st.integers(1), passages, st.floats(-9, 9), st.lists(parts, max_size=3).map(tuple),
                 st.lists(spans, max_size=3).map(tuple), spans)  # fmt: skip
queries = st.builds(Query, texts, st.integers(1, 99), st.builds(Filters, st.lists(texts, max_size=2).map(tuple)),
                    boosts=st.dictionaries(st.integers(0, 9), st.floats(0, 2), max_size=2))  # fmt: skip


@given(st.builds(SearchResult, queries, st.lists(hits, max_size=3).map(tuple), st.integers(0),
                 st.dictionaries(texts, st.floats(0, 9), max_size=2)))  # fmt: skip
def test_a_search_result_comes_back_equal(result):
    assert from_plain(SearchResult, to_plain(result)) == result


def test_an_answer_comes_back_with_its_enums():
    citation = Citation(1, 2, 3, "/a.pdf", "A", "", 4, 5, 6, "quote")
    sentence = AnswerSentence("It is.", Support.SUPPORTED, (citation,))
    answer = Answer("Is it?", AnswerMode.GENERATED, "It is. [1]", (sentence,), (citation,))
    back = from_plain(Answer, to_plain(answer))
    assert back == answer
    assert isinstance(back.sentences[0].support, Support)


def test_unknown_fields_are_ignored_and_absent_ones_take_their_default():
    assert from_plain(Box, {"left": 1, "top": 2, "right": 3, "bottom": 4, "new": 5}) == Box(1, 2, 3, 4)
    assert from_plain(ReadDocument, {"text": "x"}) == ReadDocument("x")
