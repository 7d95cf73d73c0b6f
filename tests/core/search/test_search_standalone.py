import pytest

from core.base.types import Turn
from core.search.standalone import needs_context, standalone
from core.search.words import without_function_words
from core.text.analyze import query_terms

FOUNDED = Turn("Who founded the Harbour Trust?", "The Harbour Trust was founded by Ada Quill in 1962. [1]")


@pytest.mark.parametrize(
    "question",
    [
        "And in 2023?", "Who leads it?", "Where was she born?", "Why?", "What about costs?", "How long does that take?",
        "Which year?", "Tell me more", "And the budget?", "When did they open their second office?",
        "Und wer leitet es?", "Und 2023?", "Wie hoch sind seine Kosten?", "Warum?", "Was kostet das?",
        "Et en 2023 ?", "Qui le dirige, lui ?", "¿Y en 2023?", "E em 2023?",
        "それはいつですか？", "为什么？", "他是谁创立的？",
    ],
)  # fmt: skip
def test_follow_ups_lean_on_the_conversation(question: str) -> None:
    assert needs_context(question)
    assert standalone(question, [FOUNDED]) != question


@pytest.mark.parametrize(
    "question",
    [
        "Who founded the Harbour Trust?", "What is photosynthesis?", "When was the bridge in Porto built?",
        "Evidence that vitamin D reduces the severity of influenza in adults", "ISO-9001?", "NATO",
        "How many employees did the Lisbon office have in 2021?", "annual report 2023",
        "Wer hat die Stiftung gegründet?", "Was ist Photosynthese?", "Welche Kosten hatte das Büro in Lissabon?",
        "Qui a fondé la fondation du port ?", "¿Quién fundó la empresa en Lisboa?",
        "港口信托基金是由谁创立的？", "会社の設立年はいつですか",
        "What did the two boards decide about the merger that the Lisbon office proposed?",
    ],
)  # fmt: skip
def test_self_contained_questions_stay_as_they_are(question: str) -> None:
    assert not needs_context(question)
    assert standalone(question, [FOUNDED]) == question


def test_the_subject_and_the_names_of_the_answer_are_added() -> None:
    asked = standalone("Where was she born?", [FOUNDED])
    assert asked.startswith("Where was she born?")
    assert {"founded", "Harbour", "Trust", "Ada", "Quill"} <= set(asked.split())


def test_a_chain_of_follow_ups_keeps_the_subject() -> None:
    first = standalone("And who leads it?", [FOUNDED])
    second = standalone("Since when?", [FOUNDED, Turn("And who leads it?", "", search_text=first)])
    assert {"Harbour", "Trust"} <= set(second.split())
    assert len(second.split()) < 20


def test_without_a_conversation_nothing_is_added() -> None:
    assert standalone(" And in 2023? ", []) == "And in 2023?"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("who is the head of the office", ["head", "office"]),
        ("was kostet die Reparatur der Brücke", ["kostet", "reparatur", "brücke"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("IT security in the US", ["it", "security", "us"]),
        ("coût de la réparation", ["coût", "réparation"]),
        ("日本の会社", ["日", "本", "会", "社", "日本", "本の", "の会", "会社"]),
    ],
)
def test_function_words_carry_no_subject(text: str, kept: list[str]) -> None:
    terms = without_function_words(text, query_terms(text, ["en"]))
    assert sorted(term.text for term in terms) == sorted(kept)
