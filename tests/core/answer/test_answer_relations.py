"""Relations told the right way and turned round."""

from __future__ import annotations

import pytest

from core.answer import grounding
from core.answer.citations import align
from core.answer.evidence import gather
from core.answer.relations import turned_round
from core.answer.scale import Scale
from core.base.events import Control
from core.base.types import Support
from core.encode.encoder import Encoder
from tests.core.answer.collection import found, passage

SOURCES = {
    "built": "The lighthouse of Norrvik was built by Tomas Lind in 1874.",
    "active": "Tomas Lind built the lighthouse of Norrvik in 1874 with stone.",
    "larger": "The Merganser is much larger than the Dabchick, and older.",
    "feeds": "The pump feeds the boiler. The boiler heats the hall.",
    "fr": "Le phare de Norrvik a été construit par Tomas Lind.",
    "both": "Anna wrote to Ben. Later Ben wrote to Anna.",
}


@pytest.mark.parametrize(
    ("source", "answer", "turned"),
    [
        ("built", "Tomas Lind was built by the lighthouse of Norrvik in 1874.", True),
        ("built", "The lighthouse of Norrvik was built by Tomas Lind.", False),
        ("built", "The lighthouse built by Tomas Lind stands in Norrvik.", False),
        ("built", "Tomas Lind built the lighthouse of Norrvik.", False),
        ("built", "The lighthouse of Norrvik built Tomas Lind.", True),
        ("active", "The lighthouse built Tomas Lind in 1874.", True),
        ("active", "In 1874 Lind built the Norrvik lighthouse.", False),
        ("active", "The lighthouse was built by Tomas Lind in 1874.", False),
        ("active", "Tomas Lind was built by the lighthouse.", True),
        ("larger", "The Dabchick is larger than the Merganser.", True),
        ("larger", "The Merganser is larger than the Dabchick.", False),
        ("feeds", "The boiler feeds the pump.", True),
        ("feeds", "The boiler, fed by the pump, heats the hall.", False),
        ("both", "Ben wrote to Anna.", False),
        ("both", "Anna wrote to Ben.", False),
    ],
)
def test_relations_that_are_turned_round_are_seen(source: str, answer: str, turned: bool) -> None:
    assert turned_round(answer, SOURCES[source], "en") is turned


def test_other_languages() -> None:
    assert turned_round("Tomas Lind a été construit par le phare de Norrvik.", SOURCES["fr"], "fr")
    assert not turned_round("Le phare a été construit par Tomas Lind.", SOURCES["fr"], "fr")
    # endings tell who acts: the order may change
    assert not turned_round("Den Turm baute der Lind.", "Der Lind baute den Turm.", "de")


def test_a_sentence_with_all_words_in_the_wrong_places_is_not_supported(encoder: Encoder) -> None:
    question = "Who built the lighthouse?"
    evidence = gather(question, found(question, passage(1, SOURCES["built"], "en")).hits, encoder, Control())
    for text, supported in (
        ("Tomas Lind was built by the lighthouse of Norrvik in 1874.", False),
        ("The lighthouse of Norrvik was built by Tomas Lind in 1874.", True),
        ("In 1874 Tomas Lind built the lighthouse of Norrvik.", True),
    ):
        row = Scale(encoder)(encoder.encode([text]) @ evidence.vectors.T, evidence.languages_by_sentence)[0]
        assert (grounding.judge(text, align(text, row, evidence), evidence) is Support.SUPPORTED) is supported
