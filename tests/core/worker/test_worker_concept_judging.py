"""A person or a language model finds the passage that does not belong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from core.answer.echo import EchoBackend
from core.base.errors import ModelMissing
from core.cli.commands import app
from core.concepts.intruder import Trials
from core.concepts.judges import by_choice, by_model
from core.encode.encoder import Encoder
from core.worker.concept_judging import judge_concepts
from tests.core.concepts.library import fit_shelf, made_items, make_shelf

TEXTS = [f"text {n}" for n in range(20)]
PUZZLES = Trials(0, np.arange(20).reshape(2, 10), np.array([3, 7]))


@pytest.fixture
def library(tmp_path: Path, tiny_encoder: Encoder) -> Path:
    shelf = make_shelf(tmp_path / "library", tiny_encoder, made_items(tiny_encoder, 90))
    shelf.writer().commit(concepts=fit_shelf(shelf, tiny_encoder) or "")
    shelf.close()
    return tmp_path / "library"


def test_a_choice_is_right_wrong_or_a_guess() -> None:
    assert by_choice(TEXTS, lambda seen: 3)(PUZZLES).tolist() == [1.0, 0.0]
    assert by_choice(TEXTS, lambda seen: None)(PUZZLES).tolist() == [0.1, 0.1]
    shown: list[str] = []
    by_choice(TEXTS, lambda seen: shown.extend(seen))(PUZZLES)
    assert shown == TEXTS


@pytest.mark.parametrize(("said", "place"), [("4", 3), ("It is 10.", 9), ("11", None), ("none", None), ("0", None)])
def test_a_model_chooses_by_number(said: str, place: int | None) -> None:
    assert by_model(EchoBackend(said))(TEXTS[:10]) == place


def test_excerpts_without_room_are_not_guessed_at() -> None:
    backend = EchoBackend("4", context_size=40)
    assert by_model(backend)(TEXTS[:10]) is None
    assert backend.prompts == []


def reader(seen: list[str]) -> int:
    """The odd one shares the fewest words with the others."""
    words = [set(text.casefold().replace(".", "").split()) for text in seen]
    return int(np.argmin([sum(len(own & other) / len(own | other) for other in words) for own in words]))


def test_who_reads_finds_more_than_who_guesses(library: Path) -> None:
    told, guessed = judge_concepts(library, 20, reader), judge_concepts(library, 20, lambda seen: 0)
    assert told.asked == guessed.asked >= 8
    assert told.found / told.asked > guessed.found / guessed.asked + 0.15  # measured: 0.55 and 0.1
    assert told.by_words > 0.5


def test_without_a_model_there_is_no_judge(library: Path) -> None:
    with pytest.raises(ModelMissing):
        judge_concepts(library, 3, load=lambda: None)
    assert judge_concepts(library, 3, load=lambda: EchoBackend("1")).asked == 3


def test_a_person_judges_at_the_command_line(library: Path) -> None:
    done = CliRunner().invoke(app, ["concepts", "--library", str(library), "--judge", "2"], input="99\n1\n0\n")
    assert done.exit_code == 0, done.output
    assert "of 2 were found" in done.output
