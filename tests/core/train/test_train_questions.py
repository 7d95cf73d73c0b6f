"""Filters, each with what must fall and what must stay; the mix; and the whole of `make`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from core.base.errors import Cancelled
from core.base.events import Control
from core.store import database, judgements
from core.store.documents import delete_document
from core.train import filters, material, questions, signals
from core.train.pairs.source import asked
from core.train.types import (
    CROP,
    FAQ,
    HEADING,
    JUDGED,
    LINK,
    OPENED,
    PINNED,
    SENTENCE,
    TITLE,
    WRITTEN,
    Question,
)  # fmt: skip
from tests.core.train.asked import FILLER, Made, piece

OTHER = "Two parts of sugar and one part of water feed a colony once the harvest is over and nights are cold."
ALONE = piece(1, f"{FILLER} {OTHER}", "Feeding bees in autumn", ["Feeding bees in autumn"])


@pytest.mark.parametrize(
    ("kind", "text", "fault"),
    [
        (WRITTEN, "What do colonies eat after the harvest?", ""),
        (WRITTEN, "sugar", filters.LENGTH),
        (WRITTEN, "12 45 2019 / 33 bees", filters.LENGTH),
        (WRITTEN, "how " * 80, filters.LENGTH),
        (WRITTEN, OTHER, filters.COPY),
        (WRITTEN, f"{OTHER[:-1]} indeed", filters.COPY),  # all but one word in twenty
        (WRITTEN, "Why do two parts of sugar and water feed colonies?", ""),
        (SENTENCE, OTHER, ""),  # its words are taken out of the passage
        (WRITTEN, "Wie füttert der Imker seine Bienenvölker nach der Ernte, wenn die Nächte wieder kalt werden?",
         filters.LANGUAGE),
        (WRITTEN, "Чем кормят пчёл осенью?", filters.LANGUAGE),
        (TITLE, "Feeding bees in autumn", ""),
        (HEADING, "Feeding bees in autumn", ""),
        (SENTENCE, f"{FILLER} {OTHER}", filters.NOTHING_LEFT),
        (WRITTEN, "\ue000\ue001\ue002 \ue003\ue004 bees and honey feed", filters.GARBLED),
    ],
)  # fmt: skip
def test_what_a_single_question_falls_for(kind: str, text: str, fault: str) -> None:
    assert filters.alone(asked(text, ALONE, kind), ALONE) == fault


def test_a_question_that_stands_in_its_passage_twice_is_a_copy_all_the_same() -> None:
    twice = piece(1, f"{OTHER} {FILLER} {OTHER}")
    assert filters.alone(asked(OTHER, twice, SENTENCE), twice) == filters.COPY
    once = piece(1, f"{OTHER} {FILLER}")
    assert filters.alone(asked(OTHER, once, SENTENCE), once) == ""


def test_copies_are_found_in_scripts_without_spaces() -> None:
    text = "蜜蜂在冬天吃它们在夏天和秋天储存的蜂蜜和花粉，养蜂人也会补充糖浆。" * 3
    one = piece(1, text, language="zh")
    assert filters.alone(asked("蜜蜂在冬天吃它们在夏天和秋天储存的蜂蜜", one, WRITTEN), one) == filters.COPY
    assert filters.alone(asked("冬季蜂群靠什么过冬？", one, WRITTEN), one) == ""


def test_a_heading_over_many_documents_is_boilerplate_and_numbers_tell_nothing_apart() -> None:
    made = [Question(f"Chapter {n}", n, HEADING, n) for n in range(3)]
    made += [Question("Harbour fees", 9, HEADING, group) for group in (7, 8)]
    made += [Question("What is new here?", n, WRITTEN, n) for n in range(3)]
    assert filters.boilerplate(made) == {0, 1, 2}
    assert filters.boilerplate([replace(q, group=1) for q in made]) == set()


def test_repeated_questions_fall() -> None:
    made = [
        Question("Feeding bees in autumn", 1, TITLE, 1), Question("feeding BEES in Autumn?", 2, HEADING, 1),
        Question("bees in autumn feeding again", 1, LINK, 1), Question("The harbour at night", 3, TITLE, 3),
        Question("The harbour, at night", 4, TITLE, 4), Question("Quite another matter", 1, LINK, 1),
    ]  # fmt: skip
    out = filters.repeated(made)
    assert out == {1: filters.DUPLICATE, 2: filters.DUPLICATE, 3: filters.AMBIGUOUS, 4: filters.AMBIGUOUS}


def test_the_round_trip_asks_for_the_first_ranks_and_takes_equal_texts() -> None:
    made = [Question("a b", 1, TITLE, 1), Question("c d", 2, TITLE, 2), Question("e f", 3, TITLE, 3)]
    texts = {1: "one", 2: "two", 3: "three", 4: "three"}
    ranked = [[(9, 2.0), (1, 1.0)], [(9, 3.0), (8, 2.0), (2, 1.0)], [(4, 1.0)]]
    assert filters.lost(made, ranked, texts, 2) == {1}
    assert filters.lost(made, ranked, texts, 3) == set()


def _library(count: int = 40) -> list:
    # documents of two passages, no sentence of which stands in another one
    pieces = []
    for n in range(count):
        words = [f"{stem}{chr(97 + n % 26)}{chr(97 + n // 26)}" for stem in ("hive", "wax", "smoke", "queen", "comb")]
        for half in (0, 1):
            text = (
                f"The {words[half]} of {words[2]} {'weighs' if half else 'holds'} {words[3]} near {words[4]} at noon. "
                f"Every {words[1 - half]} needs {words[2]} and {words[half]} until {words[4]} is here with {words[3]}."
            )
            pieces.append(piece(2 * n + half + 1, text, f"All about {words[0]} and {words[1]}",
                                [f"The {words[half]} in use"], document=n + 1))  # fmt: skip
    return pieces


def test_no_kind_outweighs_and_no_passage_is_asked_too_often() -> None:
    made = questions.made(_library(200), limit=100, per_passage=2)
    assert len(made.questions) == 100
    assert set(made.kinds) >= {TITLE, HEADING, SENTENCE}
    assert made.kinds[SENTENCE] + made.kinds.get(CROP, 0) <= 20
    few = questions.make(_library(6), per_passage=2)
    assert max(Counter(q.positive for q in few).values()) == 2
    assert max(Counter(q.positive for q in questions.make(_library(6), per_passage=9)).values()) > 2
    assert all(q.weight < 1 for q in made.questions if q.kind in (SENTENCE, CROP))


def test_the_same_library_and_seed_give_the_same_questions() -> None:
    pieces = _library()
    assert questions.make(pieces, limit=60, seed=1) == questions.make(pieces, limit=60, seed=1)
    assert questions.make(pieces, limit=60, seed=1) != questions.make(pieces, limit=60, seed=2)


def test_only_questions_whose_passage_is_found_stay() -> None:
    pieces = _library()
    odd = {one.id for one in pieces if one.id % 2}

    def search(texts, depth):  # the same passages, whatever is asked
        return [[(id, 1.0) for id in sorted(odd)[:depth]] for _ in texts]

    made = questions.made(pieces, search=search)
    found = {q.positive for q in made.questions}
    assert found == set(sorted(odd)[: questions.FIRST])
    assert made.dropped[filters.ROUND_TRIP] > 0


def test_a_writer_is_asked_and_its_questions_are_filtered_like_all() -> None:
    pieces = _library()

    def writer(given):
        assert set(given) == set(pieces)
        return [
            asked("Does anyone here keep track of that?", given[0], WRITTEN),
            asked(given[1].text, given[1], WRITTEN),
        ]

    made = [q for q in questions.make(pieces, writer=writer) if q.kind == WRITTEN]
    assert [q.text for q in made] == ["Does anyone here keep track of that?"]


def test_making_questions_can_be_cancelled() -> None:
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        questions.make(_library(), control=control)


def test_faq_words_are_taken_out_of_the_passage_that_they_stand_in() -> None:
    one = piece(1, f"How are bees fed in autumn?\n{OTHER}")
    assert filters.alone(asked("How are bees fed in autumn?", one, FAQ), one) == ""


@pytest.fixture
def library(tmp_path):
    made = Made(tmp_path / "library")
    yield made
    made.db.conn.close()


def test_pieces_are_the_living_passages_with_versions_in_one_group(library) -> None:
    first = library.add("/shelf/a.txt", [FILLER, OTHER], title="Bees")
    second = library.add("/shelf/b.txt", [f"{FILLER} More."])
    third = library.add("/shelf/c.txt", ["Ships lie in the harbour at night."], headings=[["Harbour", "Night"]])
    with database.transaction(library.db):
        library.db.execute("UPDATE document SET family = ? WHERE id IN (?, ?)", (first, first, second))
    library.add("/shelf/a.txt", [OTHER], title="Bees")  # one passage goes
    pieces = material.read(library.db)
    assert [(p.document, p.text) for p in pieces] == [
        (first, OTHER), (second, f"{FILLER} More."), (third, "Ships lie in the harbour at night."),
    ]  # fmt: skip
    assert pieces[0].group == pieces[1].group != pieces[2].group
    assert pieces[0].input == f"Bees\n{OTHER}"
    assert pieces[2].section == ("Harbour", "Night")
    with database.transaction(library.db):
        delete_document(library.db, third)
    assert len(material.read(library.db)) == 2


def test_the_persons_own_come_first_with_more_weight_and_a_thumb_down_takes_out(library) -> None:
    numbers = [
        library.add(f"/shelf/{n}.txt", [f"{FILLER} {n * 'x'}", OTHER + n * "y"], title=f"Notes of hive number {word}")
        for n, word in enumerate(("alpha", "beta", "gamma"))
    ]
    one, two, three = (library.ids(number)[0] for number in numbers)
    with database.transaction(library.db):
        judgements.put(library.db, judgements.OPENED, "green book", one)
        judgements.put(library.db, judgements.PINNED, "green  book", one)
        judgements.judge(library.db, "who walks?", {one: 2, two: 0, three: 1})
        judgements.put(library.db, judgements.OPENED, "Who walks?", two)  # judged no answer
        judgements.put(library.db, judgements.DISLIKED, "notes of hive number beta", two)
    made = questions.make(material.read(library.db), library.db)
    own = [q for q in made if q.kind in (JUDGED, PINNED, OPENED)]
    assert made[: len(own)] == tuple(own)
    assert [(q.text, q.positive, q.kind) for q in own] == [("who walks?", one, JUDGED), ("green book", one, PINNED)]
    assert min(q.weight for q in own) > max(q.weight for q in made[len(own) :])
    asked_titles = {q.positive for q in made if q.kind == TITLE}
    assert asked_titles == {one, three}
    assert signals.refusals(library.db) == {("who walks?", two), ("notes of hive number beta", two)}
