"""Streams: sentences as they end, and text up to a stop string."""

from __future__ import annotations

import pytest

from core.answer.stop import until
from core.answer.stream import SentenceStream

TEXT = "Dr. Lind built it in 1874. It is 3.5 km away! 塔は高い。船は赤い。 The rest"
SENTENCES = ["Dr. Lind built it in 1874.", "It is 3.5 km away!", "塔は高い。", "船は赤い。", "The rest"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_pieces_of_any_size_give_the_same_sentences(size: int) -> None:
    stream, found = SentenceStream(), []
    for start in range(0, len(TEXT), size):
        found += stream.feed(TEXT[start : start + size])
    assert found == SENTENCES[: len(found)]
    assert found + stream.finish() == SENTENCES
    assert stream.text == TEXT


def test_a_sentence_comes_as_soon_as_the_next_one_begins() -> None:
    stream = SentenceStream()
    assert stream.feed("One ends. ") == []
    assert stream.feed("Two") == ["One ends."]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_text_ends_before_a_stop_string(size: int) -> None:
    text = "The answer <is> here.\n\nQuestion: another"
    pieces = [text[n : n + size] for n in range(0, len(text), size)]
    assert "".join(until(pieces, ("<passage", "\n\n"))) == "The answer <is> here."


def test_without_a_stop_string_all_text_comes() -> None:
    assert "".join(until(["a <pass", "ive> b <pa"], ("<passage",))) == "a <passive> b <pa"
