"""Language models at the command line: a file is tried before it is added, measured, and an endpoint named and left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from endpoint_server import Served, serving
from gguf_files import tiny
from typer.testing import CliRunner

from core.base.types import Answer, AnswerMode, AnswerRecord
from core.cli.commands import app
from core.cli.output import out
from core.cli.present import show_answer
from core.models import bundles, endpoint


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as made:
        yield made


def run(*arguments: object) -> Any:
    done = CliRunner().invoke(app, ["models", *map(str, arguments), "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def refused(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["models", *map(str, arguments)])
    assert done.exit_code != 0
    return f"{done.output} {done.exception}"


@pytest.mark.e2e
def test_a_file_is_tried_added_and_measured(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.gguf", tmp_path / "bad.gguf"
    good.write_bytes(tiny())
    bad.write_bytes(tiny(llama__block_count=0))
    assert "cannot be used" in refused("add", bad)
    assert bundles.installed() == []
    row = next(row for row in run("add", good)["models"] if row["id"] == "good")
    assert row["installed"]
    assert row["write_speed"] > 0
    assert run("measure", "good")["write"] > 0


def test_an_endpoint_is_named_and_switched_off(served: Served) -> None:
    assert run("endpoint")["endpoint"] is None
    assert "Name one of them with --model" in refused("endpoint", served.url)
    assert endpoint.kept() is None
    told = run("endpoint", served.url, "--model", "other-model", "--context", 8192)["endpoint"]
    assert (told["model"], told["in_use"], told["anywhere"], told["context"]) == ("other-model", True, False, 8192)
    shown = CliRunner().invoke(app, ["models", "endpoint"]).stdout
    assert "questions and passages are sent to it" in " ".join(shown.split())
    assert not run("endpoint", "--off")["endpoint"]["in_use"]
    served.models = ("only-one",)
    assert run("endpoint", served.url)["endpoint"]["model"] == "only-one"


def test_an_address_outside_needs_a_word(served: Served) -> None:
    assert "nothing was sent" in refused("endpoint", "http://8.8.8.8/v1", "--model", "m")
    assert endpoint.kept() is None
    assert run("endpoint", "http://8.8.8.8/v1", "--model", "m", "--anywhere")["endpoint"]["anywhere"]


def test_an_answer_tells_where_question_and_passages_went() -> None:
    record = AnswerRecord(sent_to="nas:8080")
    answer = Answer("Q?", AnswerMode.GENERATED, "Yes. [1]", (), model="m @ nas:8080", record=record)
    with out.capture() as shown:
        show_answer(answer)
    assert "Written by m @ nas:8080" in shown.get()
    assert "were sent to nas:8080" in shown.get()
    assert "local" not in shown.get()
