"""Negatives are hard and no answers; nb-recall has the properties of a recall."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.train.nb_recall import nb_recall, report
from core.train.negatives import Mining, Ranked, mine, united
from core.train.types import SENTENCE, Candidates, Piece, Question

_TEXT = "one two three four five six seven eight nine ten eleven twelve"


def _piece(id: int, text: str = "", group: int | None = None, section: tuple[str, ...] = ()) -> Piece:
    text = text or " ".join(f"{word}{id}" for word in _TEXT.split())
    return Piece(id, id, id if group is None else group, text, text, "", section, "en")


def _search(ranked: Ranked):  # type: ignore[no-untyped-def]
    def search(texts: Sequence[str], depth: int) -> list[Ranked]:
        return [ranked[:depth] for _ in texts]

    return search


_QUESTION = Question("asked", 1, SENTENCE, 1)


def test_the_hardest_that_are_no_answers() -> None:
    pieces = [_piece(i) for i in range(1, 8)]
    found = mine([_QUESTION], pieces, _search([(2, 10.0), (1, 9.0), (3, 8.9), (4, 8.0), (5, 7.0), (6, 6.0)]),
                 Mining(count=2))  # fmt: skip
    # 2 and 3 score above 95 % of the positive
    assert found == (Candidates(0, 1, (4, 5), (9.0, 8.0, 7.0)),)


def test_near_duplicates_and_neighbours_of_the_answer_are_left_out() -> None:
    answer = _piece(1, section=("Part",))
    copy = _piece(2, answer.text + " and a word more")
    beside = _piece(3, group=1, section=("Part",))
    elsewhere = _piece(4, group=1, section=("Another part",))
    ranked = [(1, 1.0), (2, 0.9), (3, 0.8), (4, 0.7), (5, 0.6)]
    clean = mine([_QUESTION], [answer, copy, beside, elsewhere, _piece(5)], _search(ranked))
    assert clean[0].negatives == (4, 5)
    raw = mine([_QUESTION], [answer, copy, beside, elsewhere, _piece(5)], _search(ranked), Mining(denoise=False))
    assert raw[0].negatives == (2, 3, 4, 5)


def test_first_ranks_are_skipped_and_draws_are_spread() -> None:
    pieces = [_piece(i) for i in range(1, 102)]
    ranked = [(i, 2.0 - i / 100) for i in range(1, 102)]
    assert mine([_QUESTION], pieces, _search(ranked), Mining(count=3, skip=5, ceiling=1.0))[0].negatives == (7, 8, 9)
    spread = mine([_QUESTION], pieces, _search(ranked), Mining(count=10, spread=True, seed=1))[0].negatives
    assert max(spread) > 60
    assert list(spread) == sorted(spread)
    assert spread == mine([_QUESTION], pieces, _search(ranked), Mining(count=10, spread=True, seed=1))[0].negatives


def test_below_zero_the_ceiling_is_below_the_positive_too() -> None:
    pieces = [_piece(i) for i in (1, 2, 3)]
    found = mine([_QUESTION], pieces, _search([(1, -1.0), (2, -1.01), (3, -2.0)]))
    assert found[0].negatives == (3,)


def test_scores_that_are_all_high_leave_candidates() -> None:
    """An encoder whose cosines lie between 0.85 and 0.92: what is near the answer is out, what is far is not."""
    pieces = [_piece(i) for i in range(1, 6)]
    ranked = [(2, 0.92), (1, 0.90), (3, 0.899), (4, 0.88), (5, 0.85)]
    assert mine([_QUESTION], pieces, _search(ranked))[0].negatives == (4, 5)
    moved = [(id, score - 0.8) for id, score in ranked]
    assert mine([_QUESTION], pieces, _search(moved))[0].negatives == (4, 5)


def test_a_question_that_does_not_find_its_passage_has_none() -> None:
    assert mine([_QUESTION], [_piece(1), _piece(2)], _search([(2, 1.0)])) == ()
    assert mine([_QUESTION], [_piece(1)], _search([(1, 1.0)])) == ()


def test_united_pools() -> None:
    by_words = (Candidates(0, 1, (2, 3), (9.0, 8.0, 7.0)), Candidates(1, 5, (6,), (3.0, 2.0)))
    by_meaning = (Candidates(0, 1, (3, 4), (0.9, 0.8, 0.7)), Candidates(2, 7, (8,), (0.5, 0.4)))
    assert united(by_meaning, by_words) == (
        Candidates(0, 1, (3, 4, 2)),
        Candidates(1, 5, (6,), (3.0, 2.0)),
        Candidates(2, 7, (8,), (0.5, 0.4)),
    )


_RANKING = st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=20)


@given(st.dictionaries(st.integers(0, 5), _RANKING, min_size=1), st.data(), st.integers(1, 12))
def test_nb_recall_is_bounded_and_grows_with_k(second: dict[int, list[int]], data: st.DataObject, n: int) -> None:
    first = {query: data.draw(_RANKING) for query in second}
    values = [nb_recall(first, second, n, k) for k in range(1, 32)]
    assert all(0 <= value <= 1 for value in values)
    assert values == sorted(values)
    everything = {query: list(range(31)) for query in second}
    assert nb_recall(everything, second, n, 31) == 1


def test_nb_recall_at_one_is_a_recall() -> None:
    """With one passage of the second stage for each query it is recall of that passage at k."""
    first, second = {0: [4, 2, 9], 1: [1, 2, 3]}, {0: [9, 1], 1: [7]}
    assert nb_recall(first, second, 1, 2) == 0
    assert nb_recall(first, second, 1, 3) == 0.5
    assert nb_recall(first, second, 10, 3) == pytest.approx((1 / 2 + 0) / 2)


def test_nb_recall_of_nothing() -> None:
    assert nb_recall({}, {}, 5, 10) == 0
    assert report({0: [1]}, {0: [1]}, 200) == {f"nb-recall_{n}@200": 1 for n in (1, 5, 10, 50)}
    with pytest.raises(ValueError, match="nb-recall"):
        nb_recall({}, {}, 0, 5)
