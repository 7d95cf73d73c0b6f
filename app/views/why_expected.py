"""A document of which the person expected a passage among the hits: what other pages hand to the Search page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """`offset` counts in the document's text: the passage that stands there is proposed."""

    document_id: int
    offset: int | None = None
