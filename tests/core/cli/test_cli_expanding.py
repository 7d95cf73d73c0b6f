"""`evaluate --feedback rm3 --expand doc2query`: measured beside words alone; the local model's questions are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.answer.echo import EchoBackend
from core.base.errors import ModelMissing
from core.base.events import Control
from core.cli import expanding, measuring
from core.cli.commands import app
from core.encode.encoder import Encoder
from core.evaluate.datasets import load

ASKED = "What brings honey to the hive?"


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    folder = tmp_path / "judged"
    (folder / "qrels").mkdir(parents=True)
    texts = (
        "The bees fly out in the morning, over the wall and down to the river, and bring honey home to the hive before "
        "the rain comes over the hills in the evening.",
        "A ship will leave the harbour with the tide, as soon as the last of the cargo is under cover and the crew "
        "has come back from the town with bread and water.",
    )
    rows = [json.dumps({"_id": f"d{n}", "text": text}) for n, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("\n".join(rows))
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "what brings"}')
    (folder / "qrels" / "test.tsv").write_text("q1\td0\t1\n")
    return folder


def test_both_are_measured_beside_words_alone(judged: Path, tiny_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backends = list[EchoBackend]()

    def loaded() -> EchoBackend:
        backends.append(EchoBackend(ASKED))
        return backends[-1]

    monkeypatch.setattr(expanding, "load_backend", loaded)
    command = ["evaluate", str(judged), "--channels", "bm25,fused", "--feedback", "rm3", "--expand", "doc2query"]
    for asked in (1, 0):  # the second time all that was written is known
        done = CliRunner().invoke(app, [*command, "--json"])
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)["channels"]
        assert list(found) == [
            "bm25", "bm25+rm3", "bm25+doc2query", "fused+doc2query", "bm25+doc2query+rm3", "fused",
        ]  # fmt: skip
        assert len(backends[-1].prompts) >= asked
    assert len(backends[-1].prompts) == 0


def test_only_questions_that_fit_are_taken(
    judged: Path, tiny_encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model asks the same of both passages, and one of them has none of its words."""
    data, control = load(judged), Control()
    asked = "When does the ship leave the harbour?"
    monkeypatch.setattr(expanding, "load_backend", lambda: EchoBackend(asked))
    found = expanding.written(data, tiny_encoder, 1.0, control=control, listener=lambda event: None)
    assert found == {"d1": (asked,)}
    monkeypatch.setattr(expanding, "load_backend", lambda: None)
    with pytest.raises(ModelMissing, match="language model"):
        expanding.written(data, tiny_encoder, 1.0, control=control, listener=lambda event: None)


def test_a_lacking_model_is_told_before_anything_is_measured(
    judged: Path, tiny_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(*args: object, **named: object) -> None:
        raise AssertionError("measured all the same")

    monkeypatch.setattr(measuring, "evaluate_encoder", measured)
    done = CliRunner().invoke(app, ["evaluate", str(judged), "--expand", "doc2query"])
    assert isinstance(done.exception, ModelMissing)


def test_neither_goes_with_a_library(judged: Path, tmp_path: Path) -> None:
    for option in (("--feedback", "rm3"), ("--expand", "doc2query")):
        done = CliRunner().invoke(app, ["evaluate", str(judged), "--library", str(tmp_path), *option])
        assert done.exit_code == 2
    assert CliRunner().invoke(app, ["evaluate", str(judged), "--feedback", "rocchio"]).exit_code == 2
