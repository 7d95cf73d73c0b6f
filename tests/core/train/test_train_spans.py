"""Spans: two and more of a document, whole sentences, and no pair that is a lie as a negative."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import Cancelled
from core.base.events import Control
from core.train.spans import LEAST, LENGTH, _doubles, cut, drawn, make
from core.train.types import Piece
from tests.core.train.made import documents


def _piece(id: int, text: str, group: int | None = None) -> Piece:
    return Piece(id, id, id if group is None else group, text, text, "", (), "en")


def _text(seed: int, words: int = 200) -> str:
    random = np.random.default_rng(seed)
    drawn = ["".join(random.choice(list("abcdefghij"), 5)) for _ in range(words)]
    return " ".join(word + ("." if i % 10 == 9 else "") for i, word in enumerate(drawn)).replace(". ", ". A")


def test_spans_are_whole_sentences_of_about_the_length() -> None:
    text = _text(0)
    spans = cut(text)
    assert "".join(" ".join(spans).split()) == "".join(text.split())
    assert all(LEAST <= len(span) <= LENGTH + 80 for span in spans)
    assert all(span.endswith(".") for span in spans)


def test_a_short_document_has_two_halves_where_a_sentence_ends() -> None:
    first = "A first sentence of a short abstract that says something of interest."
    assert cut(f"{first} And a second one that says what follows from it for all others.")[0] == first
    assert cut("Too short.") == []


def test_documents_of_one_span_are_left_out() -> None:
    spans = make([_piece(1, _text(1)), _piece(2, "Nothing to cut in here."), _piece(3, _text(3))])
    assert len(spans.documents) == 2
    assert all(len(own) >= 2 for own in spans.documents)
    assert sorted(span for own in spans.documents for span in own) == list(range(len(spans.texts)))


def test_passages_of_one_group_are_one_document() -> None:
    spans = make([_piece(1, _text(1), group=7), _piece(2, _text(2), group=7), _piece(3, _text(3))])
    assert len(spans.documents) == 2


def test_near_duplicates_in_other_documents_are_named_and_masked() -> None:
    same = _text(5, 80)
    changed = same.replace(same.split()[30], "changed")
    pieces = [_piece(1, f"{same} {_text(6)}"), _piece(2, f"{changed} {_text(7)}"), _piece(3, _text(8))]
    spans = make(pieces)
    left, right = spans.documents[0][0], spans.documents[1][0]
    assert right in spans.doubles[left]
    assert left in spans.doubles[right]
    other = spans.documents[2][0]
    assert other not in spans.doubles
    mask = spans.mask([left, other, right, spans.documents[0][1]])
    assert mask.tolist() == [[False, False, True, False], [False] * 4, [True, False, False, False], [False] * 4]


def test_spans_of_one_document_are_never_each_others_double() -> None:
    text = _text(5, 80)
    spans = make([_piece(1, f"{text} {text}."), _piece(2, _text(9))])
    own = set(spans.documents[0])
    assert all(not own & spans.doubles.get(span, frozenset()) for span in own)


def test_boilerplate_is_no_span() -> None:
    notice = _text(1, 60)
    pieces = [_piece(i, f"{_text(100 + i, 150)} {notice}") for i in range(60)]
    spans = make(pieces)
    assert len(spans.documents) == 60
    assert not any(notice[40:200] in text for text in spans.texts)


def test_a_large_library_gives_the_spans_of_documents_drawn_by_chance() -> None:
    pieces = [replace(piece, group=piece.id // 2) for piece in documents(60)]
    few = make(pieces, most=20)
    assert few == make(pieces, most=20)  # the same ones each time
    assert few != make(pieces, most=20, seed=1)
    assert 8 <= len(few.documents) <= 12
    assert set(few.texts) < set(make(pieces).texts)
    whole = {span for piece in pieces for span in cut(piece.text)}
    assert set(few.texts) <= whole
    assert [piece.id for piece in drawn(pieces, 20, 0)] == sorted(piece.id for piece in drawn(pieces, 20, 0))
    assert len(drawn(pieces, 20, 0)) == 20
    one = [replace(piece, group=1) for piece in pieces]
    assert drawn(one, 20, 0) == one[:20]


def test_cutting_hears_a_cancel() -> None:
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        make(documents(5), control=control)
    with pytest.raises(Cancelled):  # what says the same is looked for long after all is cut
        _doubles([frozenset({1}), frozenset({1})], [(0,), (1,)], control)


def test_made_up_documents_have_spans() -> None:
    assert len(make(documents(50)).documents) == 50
