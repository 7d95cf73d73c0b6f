"""Questions of the local model in a run: asked for when a recipe gives it time, and given back its memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.answer.echo import EchoBackend
from core.answer.llama import LlamaBackend
from core.base.errors import Cancelled
from core.base.events import Control, Event, Progress
from core.models.bundles import Bundle
from core.train.types import WRITTEN, Piece
from core.worker.adapt_writing import WRITING, LocalWriter
from tests.core.train.asked import FILLER, piece

TEXT = f"Two parts of sugar and one part of water feed a colony once the harvest is over. {FILLER}"
ASKED = "What feeds a colony after the harvest?"


class Closing(EchoBackend):
    closed = 0

    def close(self) -> None:
        self.closed += 1


def pieces(count: int) -> list[Piece]:
    return [piece(n, f"{TEXT} Hive {n} is new.") for n in range(1, count + 1)]


def test_the_model_is_closed_when_it_has_written_and_asked_only_once(tmp_path: Path) -> None:
    told: list[Event] = []
    backend = Closing(ASKED, small=True)
    writer = LocalWriter(tmp_path, 1.0, Control(), told.append, lambda: backend)
    made = writer(pieces(5))
    assert [(one.text, one.kind) for one in made] == [(ASKED, WRITTEN)] * 5
    assert told == [Progress(WRITING, 0, 0)]
    assert list(writer(pieces(5))) == list(made)
    assert (backend.closed, len(backend.prompts)) == (2, 5)


def test_without_a_model_there_are_no_questions_and_a_cancel_closes_it(tmp_path: Path) -> None:
    assert list(LocalWriter(tmp_path, 1.0, Control(), load=lambda: None)(pieces(5))) == []
    control, backend = Control(), Closing(ASKED)
    control.cancel()
    with pytest.raises(Cancelled):
        LocalWriter(tmp_path, 1.0, control, load=lambda: backend)(pieces(5))
    assert backend.closed == 1


def test_the_starter_model_writes_questions_of_passages(tmp_path: Path, starter_llm: Bundle) -> None:
    writer = LocalWriter(tmp_path, 1.0, Control(), load=lambda: LlamaBackend.load(starter_llm))
    made = writer(pieces(4))
    assert made
    assert all(one.text.endswith("?") for one in made)
