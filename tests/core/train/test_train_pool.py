"""The test collection of a library: no question is found by its own words, and the search is the real one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.encode.encoder import Encoder
from core.evaluate.kept_vectors import KeptVectors
from core.train.measure import dense_ndcg, served
from core.train.pool import make
from core.train.types import JUDGED, SENTENCE, TITLE, Piece, Question

_BODY = "The volcano rises above the bay. Its last eruption covered two villages with ash and stone."


def _piece(id: int, text: str = _BODY, title: str = "", section: tuple[str, ...] = ()) -> Piece:
    return Piece(id, id, id, text, text, title, section, "en")


def _question(text: str, positive: int, kind: str = SENTENCE) -> Question:
    return Question(text, positive, kind, positive)


def test_the_question_is_taken_out_of_the_passage_that_answers() -> None:
    pieces = [_piece(1, title="The Mountain", section=("History",)), _piece(2, "Another passage of some length. " * 3)]
    questions = [_question("the  volcano rises above the bay", 1), _question("The Mountain", 1, TITLE)]
    pool = make(pieces, questions)
    answer, other = pool.dataset.corpus
    assert "volcano" not in answer.text
    assert "last eruption" in answer.text
    assert answer.title == "History"
    assert other.text == pieces[1].text
    assert pool.dataset.qrels == {"0": {"1": 1}, "1": {"1": 1}}


def test_what_the_person_asked_stays_in_the_passage() -> None:
    pool = make([_piece(1)], [_question("The volcano rises above the bay", 1, JUDGED)])
    assert pool.dataset.corpus[0].text == _BODY


def test_a_passage_that_is_its_question_cannot_be_asked_for() -> None:
    pieces = [_piece(1), _piece(2, "The volcano rises above the bay. Yes.")]
    pool = make(pieces, [_question("The volcano rises above the bay", 2), _question("two villages", 1)])
    assert [q.positive for q in pool.questions] == [1]


def test_equal_passages_are_all_right() -> None:
    pieces = [_piece(1, "Words that stand in two documents, the same in both of them."), _piece(2), _piece(3)]
    twins = [pieces[0], _piece(4, pieces[0].text)]
    pool = make([*pieces, twins[1]], [_question("asked by a person", 1, JUDGED)])
    assert pool.dataset.qrels["0"] == {"1": 1, "4": 1}


def test_a_large_library_is_drawn_from_but_for_what_answers() -> None:
    pieces = [_piece(i, f"Passage number {i} has words enough to be one in the pool.") for i in range(300)]
    questions = [_question("asked", i, JUDGED) for i in (7, 150, 299)]
    pool = make(pieces, questions, most=50)
    ids = [int(document.id) for document in pool.dataset.corpus]
    assert len(ids) == 50
    assert {7, 150, 299} <= set(ids)
    assert ids == sorted(ids)
    assert make(pieces, questions, most=50) == pool


def test_dense_ndcg_is_that_of_the_ranking_by_inner_products() -> None:
    pieces = [_piece(i, f"Passage number {i} has words enough to be one in the pool.") for i in range(12)]
    questions = [_question("first", 3, JUDGED), _question("second", 5, JUDGED)]
    pool = make(pieces, questions)

    def encode(texts: list[str], kind: str) -> np.ndarray:
        if kind == "passage":
            return np.eye(12, dtype=np.float32)
        wanted = np.zeros((2, 12), np.float32)
        wanted[0, 3] = 1  # found first
        wanted[1, [0, 5]] = 1, 0.5  # found second
        return wanted

    assert dense_ndcg(pool, encode).tolist() == pytest.approx([1, 1 / np.log2(3)])


def test_the_search_itself_is_measured(tiny_encoder: Encoder, tmp_path: Path) -> None:
    topics = {1: "the harbour with its ships and cranes", 2: "bread, flour and the baker's oven", 3: "stars and moons"}
    pieces = [_piece(i, f"{text}. And more is written about {text} here.", "") for i, text in topics.items()]
    pool = make(pieces, [_question(f"what of {text}", i, JUDGED) for i, text in topics.items()])
    probe = make(pieces, [_question("the baker's oven", 2, JUDGED)]).dataset
    with KeptVectors(tmp_path / "vectors.db") as kept:
        found = served(pool, probe, tiny_encoder, kept)
    assert found.ndcg.shape == found.recall.shape == found.fused.shape == (3,)
    assert found.probe.shape == (1,)
    assert found.fused.min() > 0.9
    assert found.recall.tolist() == [1, 1, 1]
