"""Questions that documents hold themselves, one kind after the other."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from core.base.types import Block, BlockKind
from core.train import material
from core.train.pairs import caption, crop, definition, faq, heading, keywords, link, sentence, title
from core.train.pairs.source import Source
from core.train.types import FAQ, Question
from tests.core.train.asked import FILLER, Made, piece


def told(questions: Iterable[Question]) -> list[tuple[str, int]]:
    return [(question.text, question.positive) for question in questions]


def test_a_title_asks_for_the_first_passage_that_says_something() -> None:
    pieces = [
        piece(1, "Page 1", "Keeping bees in winter.pdf", document=1), piece(2, FILLER, "Keeping bees", document=1),
        piece(3, FILLER, "", document=2), piece(4, FILLER, "harbour_fees_2024", document=3),
    ]  # fmt: skip
    assert told(title.pairs(Source(pieces))) == [("Keeping bees in winter", 2), ("harbour fees 2024", 4)]


def test_a_heading_asks_for_its_section_and_a_short_one_with_what_stands_above() -> None:
    pieces = [
        piece(1, FILLER, "Bees", ["Bees"], document=1),
        piece(2, FILLER, "Bees", ["2.1 Feeding the colony"], document=1),
        piece(3, FILLER, "Bees", ["2.1 Feeding the colony"], document=1),
        piece(4, FILLER, "Bees", ["3 Methods"], document=1),
        piece(5, FILLER, "Bees", ["Wax", "IV. Prices"], document=1),
    ]
    assert told(heading.pairs(Source(pieces))) == [("Feeding the colony", 2), ("Bees Methods", 4), ("Wax Prices", 5)]


def test_a_caption_asks_for_its_table_and_a_figure_for_the_passage_that_tells_of_it(tmp_path) -> None:
    passages = [
        "Table 2: Honey yield of all hives by year", "2021 | 40 kg\n2022 | 38 kg",
        "Figure 3. Swarms seen in the valley",
        "The swarms of May flew north, as Figure 30 shows.", "In the valley swarms are rare (see figure 3).",
    ]  # fmt: skip
    text = "\n".join(passages)
    kinds = (BlockKind.CAPTION, BlockKind.TABLE_ROW, BlockKind.CAPTION, BlockKind.PARAGRAPH, BlockKind.PARAGRAPH)
    blocks = [
        Block(kind, text.index(one), text.index(one) + len(one)) for kind, one in zip(kinds, passages, strict=True)
    ]
    library = Made(tmp_path / "library")
    ids = library.ids(library.add("/shelf/a.txt", passages, blocks=blocks))
    source = Source(material.read(library.db), library.db)
    asked = told(caption.pairs(source))
    library.db.conn.close()
    assert asked == [("Honey yield of all hives by year", ids[1]), ("Swarms seen in the valley", ids[4])]


@pytest.mark.parametrize(
    ("language", "said", "asked"),
    [
        ("en", "A smoker (also bee smoker) is a device that calms the bees with cool smoke.", "what is smoker?"),
        ("en", "Queen cells are the cells in which a colony raises its new queens.", "what are Queen cells?"),
        ("de", "Die Zarge ist ein Kasten ohne Boden und Deckel, in dem die Waben hängen.", "was ist Zarge?"),
        ("fr", "Le nourrisseur est un récipient qui donne du sirop aux abeilles.", "qu'est-ce que nourrisseur ?"),
        ("es", "El ahumador es un aparato que calma a las abejas con un poco de humo.", "¿qué es ahumador?"),
        ("ru", "Медогонка — это прибор, в котором мёд отделяют от сот вращением.", "что такое Медогонка?"),
        ("zh", "蜂胶是一种蜜蜂从植物芽孢采集并加工的树脂状物质，用来封住蜂巢的缝隙。", "什么是蜂胶？"),
        ("ja", "蜂蝋とは、ミツバチが巣を作るために体から分泌する天然のろうのことである。", "蜂蝋とは何ですか？"),
    ],
)  # fmt: skip
def test_a_sentence_that_says_what_something_is_becomes_a_question(language: str, said: str, asked: str) -> None:
    assert definition.question(said, language) == asked


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "It is a device that calms the bees with a little cool smoke."),
        ("en", "The reason for this is the cold water that flows below the bridge."),
        ("en", "Honey tastes of the flowers that the bees have visited in the spring."),
        ("de", "Dies ist ein Kasten ohne Boden und Deckel, in dem die Waben hängen."),
        ("en", "Wax is a fat."),
    ],
)
def test_no_definition_no_question(language: str, said: str) -> None:
    assert definition.question(said, language) == ""


def test_a_link_asks_for_the_document_that_it_points_to(tmp_path) -> None:
    library = Made(tmp_path / "library")
    target = library.ids(library.add("/shelf/smoke.md", [FILLER], title="Calming a colony with cool smoke"))[0]
    library.add("/shelf/old/notes.txt", [
        "See [how to calm a colony](smoke.md#lighting) before you begin, and [the shop](https://shop.example/x).",
        "Beginners read Calming a colony with cool smoke before they open a hive. "
        "We are calming a colony with cool smoke.",
    ])  # fmt: skip
    asked = told(link.pairs(Source(material.read(library.db), library.db)))
    library.db.conn.close()
    assert asked == [
        ("how to calm a colony", target),
        ("Beginners read Calming a colony with cool smoke before they open a hive.", target),
    ]


def test_questions_that_stand_in_the_documents_lead_to_their_answers() -> None:
    answer = "They are fed with two parts of sugar and one part of water once the harvest is over."
    pieces = [
        piece(1, f"{FILLER}\nHow are bees fed in autumn?\n{answer}\nWhat next?", document=1),
        piece(2, f"That is told here. {answer}", document=1),
        piece(3, f"Q: When is honey ripe? A: {answer}", document=2),
        piece(4, answer, section=["5. Why do bees swarm?"], document=3),
        piece(5, f"问：蜜蜂冬天吃什么？\n答：{'蜜蜂在冬天吃它们在夏天储存的蜂蜜和花粉，养蜂人也会补充糖浆' * 2}",
              document=4, language="zh"),
        piece(6, f"Who knows? {FILLER} And why? Nobody can tell.", document=5),
    ]  # fmt: skip
    asked = list(faq.pairs(Source(pieces)))
    assert {question.kind for question in asked} == {FAQ}
    assert told(asked) == [
        ("How are bees fed in autumn?", 1), ("What next?", 2), ("When is honey ripe?", 3), ("Why do bees swarm?", 4),
        ("蜜蜂冬天吃什么？", 5),
    ]  # fmt: skip


def test_keywords_are_rare_terms_as_the_passage_writes_them_in_its_order() -> None:
    common = [piece(n, f"{FILLER} Box {chr(96 + n % 20)} is noted.", document=n) for n in range(10, 60)]
    own = [
        piece(1, f"{FILLER} Propolis seals Langstroth frames near Wessling, and propolis smells.", document=1),
        piece(2, f"{FILLER} A Langstroth hive with propolis stands in Wessling, too, by the Ammersee.", document=1),
    ]
    asked = [question for question in keywords.pairs(Source([*own, *common])) if question.positive == 1]
    assert len(asked) >= 1
    for question in asked:
        words = question.text.split()
        assert 3 <= len(words) <= 6
        assert words == sorted(words, key=own[0].text.find)
        assert not {"keeper", "green", "box", "the"} & {word.casefold() for word in words}
    assert any({"Propolis", "Langstroth", "Wessling"} <= set(question.text.split()) for question in asked)


def test_sentences_and_crops_are_runs_of_their_passage_and_the_same_each_time() -> None:
    pieces = [piece(n, f"{FILLER} Number {n} has a queen of last year and two full combs. {FILLER}") for n in (1, 2, 3)]
    by_id = {one.id: one for one in pieces}
    for made in (sentence.pairs, crop.pairs):
        asked = list(made(Source(pieces, seed=3)))
        assert len(asked) == 3
        assert all(question.text in by_id[question.positive].text for question in asked)
        assert told(asked) == told(made(Source(pieces, seed=3)))
    assert {q.text for q in crop.pairs(Source(pieces, seed=3))} != {q.text for q in crop.pairs(Source(pieces, seed=4))}
