from hypothesis import given
from hypothesis import strategies as st

from core.base.types import Span
from core.text.snippets import merge, window


def test_a_short_text_is_shown_whole() -> None:
    assert window("short", [Span(0, 2)]) == Span(0, 5)


def test_without_matches_the_beginning_is_shown() -> None:
    text = "word " * 200
    shown = window(text, [], 100)
    assert shown.start == 0
    assert 60 <= shown.end <= 100


def test_the_window_lies_where_most_matches_are() -> None:
    text = "filler " * 100 + "alpha beta gamma " + "filler " * 100
    place = text.index("alpha")
    spans = [Span(0, 6), Span(place, place + 5), Span(place + 6, place + 10), Span(place + 11, place + 16)]
    shown = window(text, spans, 120)
    assert "alpha beta gamma" in text[shown.start : shown.end]
    assert text[shown.start - 1].isspace()
    assert not text[shown.start].isspace()
    assert text[shown.end].isspace()


def test_merge() -> None:
    assert merge([Span(5, 9), Span(0, 3), Span(2, 4), Span(9, 10)]) == (Span(0, 4), Span(5, 9), Span(9, 10))


@given(
    st.text(alphabet="ab \n", max_size=400), st.lists(st.tuples(st.integers(0, 399), st.integers(1, 9)), max_size=20)
)
def test_the_window_is_a_part_of_the_text_and_cuts_no_match(text: str, places: list[tuple[int, int]]) -> None:
    spans = [Span(a, min(a + n, len(text))) for a, n in places if a < len(text)]
    shown = window(text, spans, 50)
    assert 0 <= shown.start <= shown.end <= len(text)
    assert shown.end - shown.start <= 50
    inside = [s for s in spans if s.start >= shown.start and s.end <= shown.end]
    assert inside or not spans or len(text) > 50
    if spans:
        assert inside
