"""A question from start to end: written out, searched, answered, and looked at once more without its filters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.answer.echo import EchoBackend
from core.answer.rewrite import stand_alone
from core.answer.service import Answerer
from core.base.events import Control
from core.base.types import AnswerMode, Filters, SearchResult, Turn
from core.base.wire import from_plain, to_plain
from core.encode.encoder import Encoder
from core.worker import asking
from core.worker.finding import Finder
from tests.core.answer.collection import HashingEncoder
from tests.shelf import Item, Shelf

SHIP = "The ship Tern carries 240 tons of cargo into the harbour. It has an anchor."
QUESTION = "How many tons of cargo does the ship Tern carry?"


class InProcess:
    """The answer child's operations without a child."""

    def __init__(self, reply: str) -> None:
        self.encoder = HashingEncoder()
        self.backend = EchoBackend(reply)
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing to end."""

    def call(self, op: str, args: dict[str, Any], *, on_event: Any = None, control: Control | None = None) -> Any:
        self.calls.append((op, args))
        history = tuple(from_plain(Turn, t) for t in args["history"])
        if op == "stand_alone":
            return stand_alone(args["question"], history, self.backend, control or Control())
        result = from_plain(SearchResult, args["result"])
        return to_plain(Answerer(self.encoder).answer(args["question"], history, result, mode=args["mode"]))


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> InProcess:
    made = InProcess("How many tons of cargo does the ship carry?")
    monkeypatch.setattr(asking, "ChildClient", lambda role, library: made)
    return made


@pytest.fixture
def finder(tmp_path: Path, tiny_encoder: Encoder) -> Iterator[Finder]:
    shelf = Shelf(tmp_path / "library", tiny_encoder.id, tiny_encoder.dimension)
    texts = {"/shelf/in/note": "The town has a street and a bridge.", "/shelf/out/ship": SHIP}
    vectors = tiny_encoder.encode(list(texts.values()))
    shelf.add([Item(name, text, v) for (name, text), v in zip(texts.items(), vectors, strict=True)])
    shelf.close()
    finder = Finder(shelf.folder, tiny_encoder)
    yield finder
    finder.close()


def test_what_only_the_filters_hide_is_told(finder: Finder, child: InProcess) -> None:
    inside = Filters(folders=("/shelf/in",))
    answer, result = asking.ask(finder, Path("/"), QUESTION, filters=inside)
    assert answer.mode is AnswerMode.ABSTAINED
    assert [c.document for c in answer.hidden] == ["/shelf/out/ship"]
    assert answer.hidden[0].quote == SHIP.split(". ")[0] + "."
    assert result.query.filters == inside
    assert answer.record is not None
    assert answer.record.filters == inside


def test_nothing_is_looked_for_where_it_was_answered_or_no_filters_hide_anything(
    finder: Finder, child: InProcess
) -> None:
    answer, _ = asking.ask(finder, Path("/"), QUESTION)
    assert answer.mode is AnswerMode.EXTRACTIVE
    assert answer.hidden == ()
    assert [op for op, _ in child.calls] == ["ask"]
    answer, _ = asking.ask(finder, Path("/"), "Who won the chess cup of Zanzibar in 1983?")
    assert answer.mode is AnswerMode.ABSTAINED
    assert answer.hidden == ()
    assert [op for op, _ in child.calls] == ["ask", "ask"]


def test_a_follow_up_is_searched_as_it_is_written_out_and_answered_as_it_was_typed(
    finder: Finder, child: InProcess
) -> None:
    history = (Turn("What does the ship Tern do?", "The ship Tern carries cargo into the harbour."),)
    answer, result = asking.ask(finder, Path("/"), "How many tons does it carry?", history=history)
    assert result.query.text == "How many tons of cargo does the ship carry?"
    assert answer.question == "How many tons does it carry?"
    assert answer.record is not None
    assert answer.record.searched == result.searched == (result.query.text,)


def test_by_rules_where_quotes_are_wanted(finder: Finder, child: InProcess) -> None:
    history = (Turn("What does the ship Tern do?", "It carries cargo."),)
    _, result = asking.ask(finder, Path("/"), "How many tons does it carry?", history=history, mode="extractive")
    assert [op for op, _ in child.calls] == ["ask"]
    assert "ship" in result.query.text
