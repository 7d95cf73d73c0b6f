"""Fixtures of the answer tests: a small collection, found whole for any question."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.answer.evidence import Evidence, gather
from core.base.events import Control
from core.base.types import Passage, SearchResult
from core.encode.encoder import Encoder
from tests.core.answer.collection import LANGUAGES, TEXTS, HashingEncoder, found, passage


@pytest.fixture
def encoder() -> Encoder:
    return HashingEncoder()


@pytest.fixture
def passages() -> list[Passage]:
    return [passage(n, text, language) for n, (text, language) in enumerate(zip(TEXTS, LANGUAGES, strict=True))]


@pytest.fixture
def search(passages: list[Passage]) -> Callable[[str], SearchResult]:
    """Finds all passages for any question."""
    return lambda question: found(question, *passages)


@pytest.fixture
def evidence(encoder: Encoder, passages: list[Passage]) -> Evidence:
    question = "How many passengers does the Tern carry?"
    return gather(question, found(question, *passages).hits, encoder, Control())
