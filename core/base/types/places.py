"""Places in texts and on pages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of characters."""

    start: int
    end: int


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page in points (1/72 inch), origin at the page's top left corner."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a document: its number (from 1), its range in the document's text, its size in points.

    Slides, sheets and chapters are pages too; `label` names them ("Sheet Q3"), empty for plain pages.
    """

    number: int
    start: int
    end: int
    width: float = 0.0
    height: float = 0.0
    label: str = ""
