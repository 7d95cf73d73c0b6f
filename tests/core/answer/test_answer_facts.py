"""Numbers, names and negations, compared by themselves."""

from __future__ import annotations

import pytest

from core.answer.facts import contradicts, names, numbers, quantities
from core.answer.kinds import fits
from core.answer.question import Wanted, wanted


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1,234 boats", "1234 boats"),
        ("1.234.567 Euro", "1234567 euros"),
        ("three keepers", "3 keepers"),
        ("6½ sacks", "6.5 sacks"),
        ("on 7 February 2016", "7. Februar 2016"),
        ("2月7日", "7 Feb 2"),
        ("the nineteenth century", "the 19th century"),
        ("12.50 crowns", "12.5 crowns"),
        ("２０２４年", "2024"),
    ],
)
def test_one_number_has_one_spelling(left: str, right: str) -> None:
    assert numbers(left) == numbers(right) != frozenset()


def test_a_written_date_stands_in_an_iso_date() -> None:
    assert numbers("on 7 February 2016") <= numbers("2016-02-07")
    assert not numbers("on 7 March 2016") <= numbers("2016-02-07")


def test_may_is_a_month_only_beside_a_number() -> None:
    assert numbers("It may rain") == frozenset()
    assert "month 5" in numbers("on 3 May")


def test_names_are_capitals_inside_a_sentence() -> None:
    found = names("The captain is Olga Brandt. Jared Allen joined NASA's crew.", "en")
    assert found == {"olga", "brandt", "jared", "allen", "nasa"}


@pytest.mark.parametrize(
    ("answer", "source", "flipped"),
    [
        ("The Panthers won the game.", "The Panthers did not win the game.", True),
        ("She doesn't sail on Mondays.", "She does not sail on Mondays.", False),
        ("He finished second.", "He did not win, but finished second.", False),
        ("Die Fähre fährt im Winter.", "Die Fähre fährt nicht im Winter.", True),
        ("The company is not named.", "Virgin Media agreed to end the case.", True),
        ("La gare ferme.", "La gare ne ferme jamais.", False),  # nothing stands behind "jamais" that it denies
        ("店は月曜日に開いています", "店は月曜日に開いていません", True),
    ],
)
def test_flipped_negations_are_seen(answer: str, source: str, flipped: bool) -> None:
    assert contradicts(answer, source) is flipped


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many points did they score?", Wanted.NUMBER),
        ("Wann wurde der Turm gebaut?", Wanted.TIME),
        ("Qui a fondé la ville ?", Wanted.PERSON),
        ("In welcher Stadt liegt der Hafen?", Wanted.PLACE),
        ("为什么关闭？", Wanted.REASON),
        ("種子は何パーセント発芽しましたか", Wanted.ANY),
        ("Name the ferry.", Wanted.ANY),
    ],
)
def test_question_words_tell_the_kind_of_answer(question: str, kind: Wanted) -> None:
    assert wanted(question) is kind


def test_a_number_of_the_question_is_not_the_answer() -> None:
    assert fits(Wanted.NUMBER, "In 2019 she sailed.", "How many passengers sailed in 2019?", "en") == 0.0
    assert fits(Wanted.NUMBER, "In 2019 she carried 240.", "How many passengers sailed in 2019?", "en") == 1.0


def test_numbers_of_dates_are_no_quantities() -> None:
    assert quantities("From 1 January 2025, on May 3rd and in 1998 it cost 95 crowns") == {"95"}
    assert quantities("am 3. Mai 2024 kamen zwölf Gäste") == {"12"}
