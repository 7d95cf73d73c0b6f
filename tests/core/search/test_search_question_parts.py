"""Questions that ask for several things are taken apart; others are left as they are."""

import pytest

from core.search.question_parts import MOST, parts


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("Who built the lighthouse and when was the Tern launched?", "lighthouse", "Tern"),
        ("Who is the captain? What does a ticket cost?", "captain", "ticket"),
        ("Wer baute den Leuchtturm und wann wurde die Tern gebaut?", "Leuchtturm", "Tern"),
        ("Qui a construit le phare et quand le bac est-il parti ?", "phare", "bac"),
        ("¿Quién construyó el faro y cuánto cuesta el billete?", "faro", "billete"),
        ("Кто построил маяк и сколько стоит билет?", "маяк", "билет"),
        ("谁建造了灯塔，松岚号什么时候下水？", "灯塔", "松岚"),
        ("灯台を建てたのは誰で、船長は誰ですか。", "灯台", "船長"),
    ],
)
def test_each_clause_that_asks_is_a_part(question: str, first: str, second: str) -> None:
    one, other = parts(question)
    assert first in one
    assert second not in one
    assert second in other
    assert first not in other


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Is the Tern faster than the Heron?", ("Tern", "Heron")),
        ("What is the difference between the Tern and the Heron?", ("Tern", "Heron")),
        ("Which is taller, Norrvik or Sandholm?", ("Norrvik", "Sandholm")),
        (
            "Which is farther west, Sheridan County, Montana or Chandra Taal?",
            ("Sheridan County, Montana", "Chandra Taal"),
        ),
        ("Nikolay Krylov and Anatoly Fomenko both held what title?", ("Nikolay Krylov", "Anatoly Fomenko")),
        ("Compare Annual Report 2019 and Annual Report 2020", ("Annual Report 2019", "Annual Report 2020")),
        ("Was ist der Unterschied zwischen der Tern und dem Heron?", ("Tern", "Heron")),
    ],
)
def test_things_compared_are_looked_for_one_by_one(question: str, names: tuple[str, str]) -> None:
    found = parts(question)
    assert len(found) == 2
    for part, (name, other) in zip(found, (names, names[::-1]), strict=True):
        assert name in part
        assert other not in part


def test_a_part_that_leans_on_the_first_is_given_its_subject() -> None:
    _, second = parts("Who built the lighthouse of Norrvik and how high is it?")
    assert "how high" in second
    assert "lighthouse" in second
    assert "Norrvik" in second


@pytest.mark.parametrize(
    "question",
    [
        "When and where was the Tern built?",
        "What did Romeo and Juliet drink?",
        "How many points did the Panthers defense surrender?",
        "What is the name of the person who wrote the book, which was published in 1920?",
        "2019年，谁是船长？",
        "Tryon D. Lewis is a lawyer from Odessa, Texas which is located in what county?",
        "Who is the mother of the king that the captain served?",
        "¿Cuál es la ciudad importante de EE. UU. en la que se encuentra la universidad?",
        "Как и когда судно пришло в порт?",
        "",
        "?",
        "Who? " * 400,
    ],
)
def test_a_single_question_has_no_parts(question: str) -> None:
    assert parts(question) == ()


def test_there_is_an_end_to_parts() -> None:
    assert len(parts(" ".join(f"Who built the lighthouse number {n}?" for n in range(12)))) == MOST
