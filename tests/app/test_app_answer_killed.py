"""The child that writes answers, killed for real in the middle of one: the conversation stays, answers go on."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from endpoint_server import Served, serving
from pytestqt.qtbot import QtBot

from app.context import Context
from app.engine.engine import Engine
from app.errors import Notifications
from app.settings import Settings
from app.tasks.jobs import Jobs
from app.theme import Theme
from app.views.ask_page import AskPage
from core.base.types import AnswerMode
from core.library import Library
from core.models import endpoint
from core.worker.client import ChildClient
from core.worker.protocol import ANSWER, JOB

WAIT = 60_000
TEXT = """The ferry Tern carries 240 passengers across the bay.

The bakery opens at seven and sells rye bread.

A violin has four strings that are tuned in fifths."""
QUESTION = "How many passengers does the ferry Tern carry?"


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as made:
        made.pieces = ["The ferry Tern carries ", "240 passengers."]
        yield made


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, tiny_home: Path, tmp_path: Path, served: Served) -> Iterator[AskPage]:
    (tmp_path / "ferry.txt").write_text(TEXT)
    with ChildClient(JOB, tmp_path / "library") as child:
        child.call("ingest", {"paths": [str(tmp_path / "ferry.txt")]})
    endpoint.keep(endpoint.made(served.url, "some-model", in_use=True))
    library, engine = Library.open(tmp_path / "library"), Engine(str(tmp_path / "library"))
    context = Context(
        engine, library, Settings(tmp_path / "s.json"), theme, lambda *_: None, Notifications(), Jobs(engine)
    )
    made = AskPage(context)
    qtbot.addWidget(made)
    made.resize(1100, 760)
    made.show()
    yield made
    made.close_page()
    engine.close()
    library.close()
    engine.deleteLater()


def ask(page: AskPage, qtbot: QtBot) -> Any:
    page.ask(QUESTION)
    qtbot.waitUntil(lambda: not page._flow.busy, timeout=WAIT)
    return page.conversation.turns[-1]


def kill_in_the_middle(page: AskPage, qtbot: QtBot, served: Served) -> Any:
    """Ask, and kill the child once it has passed on the first words of the answer."""
    served.stall = 1
    page.ask(QUESTION)
    turn = page.conversation.turns[-1]
    qtbot.waitUntil(lambda: "Tern" in turn.draft.toPlainText(), timeout=WAIT)
    os.kill(page.context.engine._residents[ANSWER].pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: not page._flow.busy, timeout=WAIT)
    served.stall = None
    return turn


@pytest.mark.e2e
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_the_conversation_outlives_every_kill(page: AskPage, qtbot: QtBot, served: Served) -> None:
    first = ask(page, qtbot)
    assert first.answer.mode is AnswerMode.GENERATED
    assert "240 passengers" in first.text.toPlainText()
    where = f"127.0.0.1:{served.port}"
    assert where in first._sent.text()
    assert first._sent.isVisibleTo(first)
    for kills in range(1, 5):  # more than may happen without an answer between
        turn = kill_in_the_middle(page, qtbot, served)
        assert turn.banner.isVisibleTo(turn)
        assert turn.answer.mode is AnswerMode.EXTRACTIVE  # what was quoted at first stands
        assert where in turn._sent.text()
        turn.banner.acted.emit()
        qtbot.waitUntil(lambda: not page._flow.busy, timeout=WAIT)
        again = page.conversation.turns[-1]
        assert again.answer.mode is AnswerMode.GENERATED, kills
    (kept,) = page.context.library.conversations()
    answers = [turn.answer for turn in page.context.library.turns(kept.id)]
    assert [answer.mode for answer in answers] == [AnswerMode.GENERATED] * 5
    assert all(answer.record is not None and answer.record.sent_to == where for answer in answers)


@pytest.mark.e2e
def test_an_endpoint_that_is_switched_off_is_not_asked_again(page: AskPage, qtbot: QtBot, served: Served) -> None:
    ask(page, qtbot)
    assert len(served.asked) == 1
    kept = endpoint.kept()
    assert kept is not None
    endpoint.keep(replace(kept, in_use=False))
    turn = ask(page, qtbot)
    assert turn.answer.mode is AnswerMode.EXTRACTIVE  # no model is installed here
    assert not turn._sent.isVisibleTo(turn)
    assert len(served.asked) == 1
