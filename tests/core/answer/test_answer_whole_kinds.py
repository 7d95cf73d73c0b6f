"""Which questions are about the whole library, and what is left of them to look for; dates in sentences."""

from __future__ import annotations

import pytest

from core.answer.whole.dates import Date, dates
from core.answer.whole.kinds import Whole, of_kind, plan

COUNT, LIST, COMPARE, SUMMARY, TIMELINE = Whole


@pytest.mark.parametrize(
    ("question", "kind", "subject"),
    [
        ("How many documents mention the ferry Tern?", COUNT, "ferry Tern"),
        ("In how many documents is the lighthouse of Norrvik mentioned?", COUNT, "lighthouse of Norrvik"),
        ("How many of my documents are about harbour dues?", COUNT, "harbour dues"),
        ("How many documents are there?", COUNT, ""),
        ("How often is Olga Brandt mentioned?", COUNT, "Olga Brandt"),
        ("In wie vielen Dokumenten wird die Fähre erwähnt?", COUNT, "Fähre"),
        ("Combien de documents mentionnent le phare ?", COUNT, "phare"),
        ("¿En cuántos documentos se menciona el faro?", COUNT, "faro"),
        ("Quanti documenti menzionano il faro?", COUNT, "faro"),
        ("Сколько документов упоминают маяк?", COUNT, "маяк"),
        ("有多少文件提到灯塔？", COUNT, "灯塔"),
        ("Hoeveel documenten vermelden de vuurtoren?", COUNT, "vuurtoren"),
        ("List all documents that mention the ferry.", LIST, "ferry"),
        ("Name all captains of the Tern", LIST, "captains of the Tern"),
        ("Which documents mention rye bread?", LIST, "rye bread"),
        ("Liste alle Gebühren auf", LIST, "Gebühren"),
        ("Énumère tous les capitaines", LIST, "capitaines"),
        ("Перечисли все документы о маяке", LIST, "маяке"),
        ("列出所有提到灯塔的文件", LIST, "灯塔"),
        ("Summarise this folder", SUMMARY, ""),
        ("Please sum up what is said about the lighthouse.", SUMMARY, "lighthouse"),
        ("Give me an overview of the documents about bread", SUMMARY, "bread"),
        ("Fasse den Ordner Verträge zusammen", SUMMARY, "Ordner Verträge"),
        ("Résume ce dossier", SUMMARY, ""),
        ("Riassumi i documenti sul faro", SUMMARY, "faro"),
        ("总结这些文件", SUMMARY, ""),
        ("이 문서를 요약해 주세요", SUMMARY, ""),
        ("Make a timeline of the lighthouse", TIMELINE, "lighthouse"),
        ("Erstelle eine Zeitleiste des Leuchtturms", TIMELINE, "Leuchtturms"),
        ("Make a timeline of the station", TIMELINE, "station"),
        ("Cronología del faro", TIMELINE, "faro"),
        ("灯塔的时间线", TIMELINE, "灯塔"),
        ("灯台の年表", TIMELINE, "灯台"),
    ],
)
def test_what_is_asked_and_about_what(question: str, kind: Whole, subject: str) -> None:
    found = plan(question)
    assert found is not None
    assert (found.kind, found.subject) == (kind, subject)


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Compare the ferry and the lighthouse", ("ferry", "lighthouse")),
        ("What is the difference between Tern and Merganser?", ("Tern", "Merganser")),
        ("How does the Tern differ from the Merganser?", ("Tern", "Merganser")),
        ("Compare the way to the harbour and the station", ("way to the harbour", "station")),
        ("Vergleiche die Fähre mit dem Leuchtturm", ("Fähre", "Leuchtturm")),
        ("Quelle est la différence entre le phare et le bac ?", ("phare", "bac")),
        ("Сравни маяк и паром", ("маяк", "паром")),
        ("比较灯塔和渡轮", ("灯塔", "渡轮")),
        ("灯台とフェリーを比較してください", ("灯台", "フェリー")),
        ("등대와 여객선을 비교해 주세요", ("등대", "여객선")),
    ],
)
def test_a_comparison_knows_its_sides(question: str, sides: tuple[str, ...]) -> None:
    found = plan(question)
    assert found is not None
    assert (found.kind, found.sides) == (COMPARE, sides)


@pytest.mark.parametrize(
    "question",
    [
        "How many passengers does the Tern carry?", "How many files did the hacker steal?", "How often does it sail?",
        "Which document formats does the scanner support?", "Compare the harbour dues", "Name the captain of the Tern.",
        "Who published the summary of the report?", "When was the list of members printed?", "Show me the way home",
        "Who wrote the chronology of the abbey?", "Wie viele Passagiere hat die Tern?", "Who compared the methods?",
        "What did the ship carry to the island?", "", "?",
    ],
)  # fmt: skip
def test_questions_for_a_fact_are_none(question: str) -> None:
    assert plan(question) is None


def test_a_pasted_text_is_no_question_and_white_space_costs_nothing() -> None:
    assert plan("Summarise this: " + "the ferry sails. " * 40) is None
    found = plan("List all documents about\n" + " \n" * 50_000 + "ferries")
    assert found is not None
    assert (found.kind, found.subject) == (LIST, "ferries")


def test_any_question_can_be_asked_of_the_whole() -> None:
    assert of_kind("What does the ferry cost?").kind is LIST
    assert of_kind("What does the ferry cost?").subject == "What does the ferry cost"
    assert of_kind("Timeline of the ferry").kind is TIMELINE


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Built on 12 May 1874, opened June 3, 1875.", [Date(1874, 5, 12), Date(1875, 6, 3)]),
        ("Am 3. März 1990 und am 05.06.2019.", [Date(1990, 3, 3), Date(2019, 6, 5)]),
        ("On 05/06/2019 or 25/06/2019.", [Date(2019), Date(2019, 6, 25)]),
        ("2019年5月12日に開業、2020년 5월", [Date(2019, 5, 12), Date(2020, 5)]),
        ("el 5 de mayo de 2001; le 1er janvier 1900; в 1941 году", [Date(2001, 5, 5), Date(1900, 1, 1), Date(1941)]),
        ("since 1850 (1874), 1914-1918, 2021-03", [Date(1850), Date(1874), Date(1914), Date(2021, 3)]),
        ("松岚湖从二〇二二年起使用", [Date(2022)]),
        ("It holds 2000 passengers, costs 1999 euros and weighs 1,500 kg.", []),
        ("Version 1.2.2019a of 1.2.3.2019 and 39/39/2019", [Date(2019)]),
    ],
)
def test_dates_are_read_in_many_ways_of_writing(text: str, found: list[Date]) -> None:
    assert dates(text) == found


def test_dates_sort_by_time() -> None:
    assert sorted([Date(1900, 2), Date(1899, 12, 31), Date(1900)]) == [Date(1899, 12, 31), Date(1900), Date(1900, 2)]
