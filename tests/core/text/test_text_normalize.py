import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.normalize import fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Plain ASCII", "plain ascii"),
        ("Straße", "strasse"),
        ("ﬁnance", "finance"),
        ("cafe\u0301", "café"),
        ("so\u00adft\u200bware", "software"),
        ("İstanbul", "istanbul"),
        ("ｶﾞｽ", "ガス"),
        ("Ⅷ ½", "viii 1⁄2"),
        ("\u1112\u1161\u11ab", "한"),
    ],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(text).text == folded


def test_a_match_leads_back_to_its_source() -> None:
    text = "Die Oﬃce-Straße, cafe\u0301!"
    folded = fold(text)
    start = folded.text.index("strasse")
    assert text[slice(*folded.source(start, start + 7))] == "Straße"
    start = folded.text.index("café")
    assert text[slice(*folded.source(start, start + 4))] == "cafe\u0301"
    start = folded.text.index("fice")  # the inside of a ligature stands for the whole of it
    assert text[slice(*folded.source(start, start + 4))] == "ﬃce"


@given(st.text())
def test_every_folded_character_has_a_source_in_order(text: str) -> None:
    folded = fold(text)
    assert len(folded.starts) == len(folded.ends) == len(folded.text)
    assert all(0 <= a < b <= len(text) for a, b in zip(folded.starts, folded.ends, strict=True))
    assert list(folded.starts) == sorted(folded.starts)


@given(st.text())
def test_forms_of_the_same_text_fold_alike(text: str) -> None:
    composed = fold(unicodedata.normalize("NFC", text)).text
    assert fold(unicodedata.normalize("NFD", text)).text == composed
