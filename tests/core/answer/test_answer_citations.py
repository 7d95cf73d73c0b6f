"""A sentence of an answer against the passages: where it comes from, and whether they bear it out."""

from __future__ import annotations

import pytest

from core.answer import grounding
from core.answer.citations import Citer, align
from core.answer.evidence import Evidence, gather
from core.answer.scale import Scale
from core.base.events import Control
from core.base.types import Passage, Support
from core.encode.encoder import Encoder
from tests.core.answer.collection import found, passage


def judged(text: str, evidence: Evidence, encoder: Encoder) -> tuple[Support, list[str]]:
    cosines = Scale(encoder)(encoder.encode([text]) @ evidence.vectors.T, evidence.languages_by_sentence)[0]
    alignment = align(text, cosines, evidence)
    return grounding.judge(text, alignment, evidence), [evidence.sentences[n].text for n in alignment.sources]


def test_a_restated_sentence_is_supported_by_its_source(evidence: Evidence, encoder: Encoder) -> None:
    support, sources = judged("The Tern carries 240 passengers.", evidence, encoder)
    assert support is Support.SUPPORTED
    assert sources == ["The Tern carries 240 passengers across the bay."]


def test_a_paraphrase_with_the_same_facts_is_supported(evidence: Evidence, encoder: Encoder) -> None:
    support, sources = judged("Across the bay, 240 passengers are carried by the Tern.", evidence, encoder)
    assert support is Support.SUPPORTED
    assert sources[0].startswith("The Tern carries")


@pytest.mark.parametrize(
    "false",
    [
        "The Tern carries 260 passengers across the bay.",  # number
        "The captain of the Tern is Olga Svensson.",  # name
        "She does sail on Mondays.",  # negation taken out
        "The Tern was not launched in 2019.",  # negation put in
        "Tomas Lind built the lighthouse in 1875 with stone from the island.",  # year
        "The ferry sank in a storm near the cape.",  # nothing of it
    ],
)
def test_a_false_sentence_is_not_supported(false: str, evidence: Evidence, encoder: Encoder) -> None:
    assert judged(false, evidence, encoder)[0] is not Support.SUPPORTED


def test_a_sentence_merged_from_two_passages_cites_both(evidence: Evidence, encoder: Encoder) -> None:
    text = "The Tern carries 240 passengers and the lighthouse of Norrvik is 31 metres high."
    support, sources = judged(text, evidence, encoder)
    assert support is Support.SUPPORTED
    assert set(sources) == {
        "The Tern carries 240 passengers across the bay.",
        "The lighthouse of Norrvik is 31 metres high.",
    }


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("The Dabchick stops at 45 kilometres per hour.", True),
        ("The Merganser must stay in port above 62 kilometres per hour.", True),
        ("The Dabchick stops at 45 and the Merganser stays in port above 62 kilometres per hour.", True),
        ("The Dabchick stops at 62 kilometres per hour.", False),
        ("The Dabchick is lighter and stops earlier than the Merganser when the wind is above 62.", False),
        ("The Merganser must stay in port above 45 kilometres per hour.", False),
    ],
)
def test_a_number_belongs_to_the_name_it_is_told_of(text: str, supported: bool, encoder: Encoder) -> None:
    source = passage(
        1,
        "The Merganser must stay in port when the mean wind is above 62 kilometres per hour. "
        "The Dabchick is lighter and stops earlier, at 45 kilometres per hour.",
        "en",
    )
    question = "And the Dabchick? When must it stay in port?"
    evidence = gather(question, found(question, source).hits, encoder, Control())
    assert (judged(text, evidence, encoder)[0] is Support.SUPPORTED) is supported


def test_a_german_sentence_is_checked_in_german(evidence: Evidence, encoder: Encoder) -> None:
    assert judged("Eine Fahrkarte kostet 12 Kronen.", evidence, encoder)[0] is Support.SUPPORTED
    assert judged("Eine Fahrkarte kostet 13 Kronen.", evidence, encoder)[0] is Support.UNSUPPORTED
    assert judged("Die Fähre nach Norrvik fährt im Winter.", evidence, encoder)[0] is Support.UNSUPPORTED


def test_citations_are_exact_places_numbered_by_passage(evidence: Evidence, passages: list[Passage]) -> None:
    citer = Citer()
    made = [citer.cite(evidence.sentences[n]) for n in (4, 0, 5)]
    assert [c.marker for c in made] == [1, 2, 1]
    for citation in made:
        source = next(p for p in passages if p.id == citation.passage_id)
        inner = source.text[citation.start - source.start : citation.end - source.start]
        assert inner == citation.quote
        assert citation.page == source.first_page
        assert citation.document == source.path
