"""Sentences end where a reader would say so, and no character is lost or taken twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.sentences import split


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith came. He left.", ["Dr. Smith came.", "He left."]),
        ("It cost 3.5 million in the U.S. The firm closed.", ["It cost 3.5 million in the U.S.", "The firm closed."]),
        ("Acme Inc. of Ohio, i.e. the firm, grew.", ["Acme Inc. of Ohio, i.e. the firm, grew."]),
        ("J. R. Tolkien wrote it. See Fig. 3 and No. 7.", ["J. R. Tolkien wrote it.", "See Fig. 3 and No. 7."]),
        ("He said no. Then he left.", ["He said no.", "Then he left."]),
        ("Smith et al. showed it. Am 3. Oktober war es so.", ["Smith et al. showed it.", "Am 3. Oktober war es so."]),
        ("That was in 2019. Nothing since.", ["That was in 2019.", "Nothing since."]),
        ('"Is it?" she asked. "Yes." He nodded.', ['"Is it?" she asked.', '"Yes."', "He nodded."]),
        ("1. First point\n2. Second point", ["1. First point", "2. Second point"]),
        ("これは文です。「次の文。」終わり！", ["これは文です。", "「次の文。」", "終わり！"]),
        ("价格是3.5元。很贵？是的", ["价格是3.5元。", "很贵？", "是的"]),
        ("هل هذا سؤال؟ نعم هو سؤال. حسنا", ["هل هذا سؤال؟", "نعم هو سؤال.", "حسنا"]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ("Wait... What? www.example.org is up.", ["Wait...", "What?", "www.example.org is up."]),
        ("  \n ", []),
        ("", []),
    ],
)
def test_splits_as_a_reader_would(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(
    st.text(alphabet=st.sampled_from("aB1 .!?。「」\n\"')(é؟。x…\u2028\x85\x1c"), max_size=60) | st.text(max_size=60)
)
def test_covers_every_visible_character_once(text: str) -> None:
    position = 0
    for start, end in split(text):
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()
