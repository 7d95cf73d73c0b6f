"""What the Ask page can be opened with: a question and the filters it is asked under."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.base.types import Filters


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    filters: Filters = field(default_factory=Filters)
