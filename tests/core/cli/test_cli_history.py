"""Conversations on the command line; a question asked again gives the same answer until the library changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from core.base.errors import KnownError
from core.base.events import Control
from core.base.types import Answer, AnswerMode, AnswerSentence, Citation, Filters, Support
from core.cli.commands import app
from core.library import Library
from core.worker.asking import ask
from core.worker.finding import Finder
from core.worker.ingesting import delete, ingest

QUESTION = "How many passengers does the Tern carry?"


def call(library: Path, *arguments: object) -> Any:
    done = CliRunner().invoke(app, ["history", *map(str, arguments), "--library", str(library), "--json"])
    if done.exception is not None:
        raise done.exception
    return json.loads(done.stdout)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library with one conversation of two exchanges, and one of one."""
    folder = tmp_path / "library"
    made = Library.create(folder)
    citation = Citation(1, 5, 7, "/dues.txt", "Dues", "", 3, 0, 24, "The dues are 12 crowns.")
    said = (AnswerSentence("The dues are 12 crowns.", Support.SUPPORTED, (citation,)),)
    for conversation, question in ((None, "What are the dues?"), (1, "And in winter?"), (None, "Who rows?")):
        made.save_turn(conversation, question, Answer(question, AnswerMode.EXTRACTIVE, "", said))
    made.close()
    return folder


def test_find_rename_pin_show_and_delete(library: Path) -> None:
    assert [one["title"] for one in call(library, "list")["conversations"]] == ["Who rows?", "What are the dues?"]
    (found,) = call(library, "list", "--find", "WINTER")["conversations"]
    assert (found["id"], found["turn"], found["text"]) == (1, 2, "And in winter?")
    assert call(library, "rename", 1, "Dues")["before"] == "What are the dues?"
    call(library, "pin", 1)
    first = call(library, "list")["conversations"][0]
    assert (first["title"], first["pinned"]) == ("Dues", True)
    assert [turn["question"] for turn in call(library, "show", 1)["turns"]] == ["What are the dues?", "And in winter?"]
    call(library, "delete", 1)
    assert [one["id"] for one in call(library, "list")["conversations"]] == [2]
    with pytest.raises(KnownError):
        call(library, "show", 1)
    shown = CliRunner().invoke(app, ["history", "show", "2", "--library", str(library)])
    assert "## Who rows?" in shown.stdout
    listed = CliRunner().invoke(app, ["history", "list", "--library", str(library)])
    assert "Who rows?" in listed.stdout


def test_export_by_the_name_of_the_file(library: Path, tmp_path: Path) -> None:
    for name in ("a.md", "a.html", "a.docx", "a.json", "a.bib", "a.csl.json"):
        assert call(library, "export", 1, tmp_path / name)["turns"] == 2
    assert json.loads((tmp_path / "a.csl.json").read_text())[0]["title"] == "Dues"
    assert call(library, "export", 1, tmp_path / "b.md", "--turn", 2)["turns"] == 1
    assert "What are the dues" not in (tmp_path / "b.md").read_text()
    for wrong in (("export", 1, tmp_path / "a.pdf"), ("export", 1, tmp_path / "c.md", "--turn", 3)):
        with pytest.raises(KnownError):
            call(library, *wrong)
    assert not (tmp_path / "c.md").exists()


def test_a_question_asked_again_is_answered_the_same_until_something_changes(tmp_path: Path, tiny_home: Path) -> None:
    docs, folder = tmp_path / "docs", tmp_path / "library"
    docs.mkdir()
    (docs / "tern.txt").write_text("The Tern carries 240 passengers across the bay. It was built in 1931.\n")
    (docs / "gull.txt").write_text("The Gull carries 90 passengers on the river. It has a green funnel.\n")
    ingest(folder, [docs], control=Control(), listener=lambda event: None)
    finder = Finder(folder)
    filters = Filters(types=("txt",))
    answer, result = ask(finder, folder, QUESTION, filters=filters, mode="extractive")
    finder.close()
    library = Library.open(folder)
    number = library.save_turn(None, result.query.text, answer)
    turn = library.turns(number)[0]
    again = call(folder, "again", turn.id)
    assert again["same"], again["comparison"]
    assert again["answer"]["record"]["filters"]["types"] == ["txt"]
    assert again["answer"]["record"]["asked_mode"] == "extractive"
    assert len(library.turns(number)[0].branches) == 2

    every, result = ask(finder := Finder(folder), folder, QUESTION, mode="extractive", everything=True)
    finder.close()
    assert every.matching > 0
    library.save_turn(number, result.query.text, every)
    repeated = call(folder, "again", library.turns(number)[-1].id, "--no-keep")
    assert repeated["same"], repeated["comparison"]
    assert repeated["answer"]["matching"] == every.matching

    delete(folder, docs / "tern.txt")
    (docs / "tern.txt").write_text("The Tern carries 260 passengers across the bay. It was built in 1931.\n")
    ingest(folder, [docs / "tern.txt"], control=Control(), listener=lambda event: None)
    told = call(folder, "again", turn.id, "--no-keep")["comparison"]
    assert len(library.turns(number)[0].branches) == 2
    changes = {(s["change"], s["text"]) for s in told["sentences"]}
    assert ("went", "The Tern carries 240 passengers across the bay.") in changes
    assert ("came", "The Tern carries 260 passengers across the bay.") in changes
    assert {"generation"} <= {c["what"] for c in told["circumstances"]}
    assert {p["change"] for p in told["passages"]} & {"changed", "came"}
    library.close()
