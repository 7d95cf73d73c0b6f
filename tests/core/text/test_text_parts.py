import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import pieces
from core.text.analyze import query_terms, term_texts, terms
from core.text.parts import WEIGHT, find_parts, part_texts, query_parts


def likeliest(word: str) -> float:
    """The best sum over every way to write the word, tried one by one."""
    scores, _ = pieces._table()
    marked, best = "_" + word, float("-inf")
    for cuts in itertools.product((False, True), repeat=len(marked) - 1):
        bounds = [0, *(n for n, cut in enumerate(cuts, 1) if cut), len(marked)]
        written = [marked[a:b] for a, b in itertools.pairwise(bounds)]
        if all(piece in scores or len(piece) == 1 for piece in written):
            best = max(best, sum(scores.get(piece, pieces._UNKNOWN) for piece in written))
    return best


def sum_of(word: str) -> float:
    """The score of `split`, whose first piece may have been written with the mark or without it."""
    scores, _ = pieces._table()
    first, *others = pieces.split(word)
    rest = sum(scores.get(piece, pieces._UNKNOWN) for piece in others)
    apart = scores.get("_", pieces._UNKNOWN) + scores.get(first, pieces._UNKNOWN)
    return rest + max(scores.get("_" + first, float("-inf")), apart)


@given(st.text("abdeknrstuwäöß\u0436", min_size=1, max_size=11))
def test_the_pieces_are_the_likeliest_of_all(word: str) -> None:
    assert "".join(pieces.split(word)) == word
    assert sum_of(word) == pytest.approx(likeliest(word), abs=1e-6)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Kernkraftwerk", "de", ["kern", "kraft", "werk"]),
        ("die Straßenbahn", "de", ["strassen", "bahn"]),
        ("Haus und Hof", "de", []),
        ("1234567 x2y3z4", "de", []),
        ("Kernkraftwerk", "en", []),
        ("Kernkraftwerk", "", []),
    ],
)
def test_long_words_give_their_parts(text: str, language: str, expected: list[str]) -> None:
    assert [part.removeprefix("\u00b7") for part in part_texts(text, language)] == expected


def test_parts_are_terms_that_no_word_can_be() -> None:
    assert part_texts("Kernkraftwerk", "de")
    assert not set(part_texts("Kernkraftwerk", "de")) & set(term_texts("Kern Kraft Werk ·kern l·l ·werk", "de"))


def test_the_parts_of_a_query_meet_those_of_a_passage() -> None:
    twice, other = query_terms("Kernkraftwerk Kernkraftwerk Haus", ["de"])
    found = query_parts([twice, other], ["en", "de"])
    assert [(part.text, part.part_of, part.weight) for part in found] == [
        (text, "kernkraftwerk", 2 * WEIGHT) for text in ("kern", "kraft", "werk")
    ]
    shared = {a for part in found for a in part.alternatives} & set(part_texts("Die Kraftwerke am Fluss", "de"))
    assert {text[1:] for text in shared} == {"kraft", "werk"}
    assert query_parts([twice, other], ["en", "fr"]) == []


@given(st.lists(st.sampled_from(["Kernkraftwerk", "e-mail", "userName", "infor-\nmation", "Straßenbahnen", "日本語"])))
def test_parts_are_found_where_their_words_stand(words: list[str]) -> None:
    text = " ".join(words)
    wanted = set(part_texts(text, "de"))
    found = find_parts(text, "de", wanted)
    assert [term.text for term in found] == part_texts(text, "de")
    assert {(t.start, t.end) for t in found} <= {(t.start, t.end) for t in terms(text, "de")}
    assert find_parts(text, "de", ()) == []
