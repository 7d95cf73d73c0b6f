"""Concepts as the `search` child lists them, and what a figure of theirs means in a word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.base.types import Concept
from core.base.wire import from_plain
from core.library import weak

CLEAR_FROM = 0.7  # of the tests in which the odd passage was found; guessing finds one in ten
SURE, LIKELY = 3.3, 2.0  # standard deviations: one in a thousand, and one in twenty, by chance


@dataclass(frozen=True, slots=True)
class Listing:
    """All concepts of the library. `model` is empty while there are none; `least` passages are needed for them.

    `fitted` is how many passages there were when they were found, `created` when that was (ISO).
    """

    model: str = ""
    concepts: tuple[Concept, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)
    passages: int = 0
    least: int = 0
    fitted: int = 0
    created: str = ""


class Clearness(StrEnum):
    """How well people can follow what a concept is about, as its test says."""

    CLEAR = "clear"
    MIXED = "mixed"
    WEAK = "weak"
    UNTESTED = "untested"


TITLES = {
    Clearness.CLEAR: "Clear", Clearness.MIXED: "Mixed", Clearness.WEAK: "Vague", Clearness.UNTESTED: "Not tested",
}  # fmt: skip
TONES = {
    Clearness.CLEAR: "success", Clearness.MIXED: "neutral", Clearness.WEAK: "warning", Clearness.UNTESTED: "neutral",
}  # fmt: skip


def listing(data: Any) -> Listing:
    return from_plain(Listing, data)


def clearness(concept: Concept) -> Clearness:
    if concept.quality < 0:
        return Clearness.UNTESTED
    if weak(concept):
        return Clearness.WEAK
    return Clearness.CLEAR if concept.quality >= CLEAR_FROM else Clearness.MIXED


def by_clearness(concepts: Iterable[Concept]) -> dict[Clearness, int]:
    """How many of the concepts that are not hidden are how clear."""
    counts = dict.fromkeys(Clearness, 0)
    for concept in concepts:
        if not concept.hidden:
            counts[clearness(concept)] += 1
    return counts
