"""What a person should know of an answer besides itself: said with its reason."""

from __future__ import annotations

from dataclasses import replace

from core.answer import phrases
from core.answer.evidence import Evidence
from core.base.types import Answer, SearchResult


def noted(answer: Answer, result: SearchResult, evidence: Evidence) -> Answer:
    """`answer` with a word on older versions of what it cites, and on orders that were found and not followed."""
    cited = {citation.passage_id for sentence in answer.sentences for citation in sentence.citations}
    notes = [
        phrases.say(phrase)
        for phrase, holds in (
            (phrases.OLDER_VERSIONS, not cited.isdisjoint(result.newest)),
            (phrases.ORDERS_FOUND, bool(evidence.orders)),
        )
        if holds
    ]
    return replace(answer, reason=" ".join(filter(None, (answer.reason, *notes))))
