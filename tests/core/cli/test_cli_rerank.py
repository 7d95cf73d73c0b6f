"""`evaluate --rerank` and `search --rerank`: the reranked search beside the fused one, with one of its own."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.base.paths import models
from core.cli.commands import app
from core.cli.present import show_purged
from core.encode.load import open_encoder
from core.encode.onnx import FP32
from core.index.writer import IndexWriter
from core.models.bundles import Bundle
from core.store import database
from core.train.cross_bundle import save_reranker
from core.train.cross_model import CrossModel
from core.worker.purge import Purged
from tests.tiny import sentence, topics


@pytest.fixture
def reranker(tiny_home: Path, tiny_bundle: Bundle) -> Bundle:
    return save_reranker(CrossModel.from_encoder(tiny_bundle, layers=1, device="cpu"), models(), {}, FP32)


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    folder, luck = tmp_path / "judged", random.Random(1)
    (folder / "qrels").mkdir(parents=True)
    texts = [" ".join(sentence(topic, luck) for _ in range(2)) for topic in topics().values()]
    (folder / "corpus.jsonl").write_text(
        "\n".join(json.dumps({"_id": f"d{n}", "text": t}) for n, t in enumerate(texts))
    )
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "the bees and their honey"}')
    (folder / "qrels" / "test.tsv").write_text("q1\td0\t1\n")
    return folder


def _run(*words: str) -> dict[str, object]:
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_reranked_is_measured_beside_fused(judged: Path, reranker: Bundle) -> None:
    command = ("evaluate", str(judged), "--channels", "fused", "--rerank", "on")
    found = _run(*command, "--reranker", reranker.id)
    assert list(found["channels"]) == ["fused", "reranked"]  # type: ignore[call-overload]
    assert found["comparisons"][0]["second"] == "fused"  # type: ignore[index]
    refused = CliRunner().invoke(app, [*command])
    assert refused.exit_code != 0
    assert "No reranker is in use" in str(refused.exception)
    _run("models", "use", reranker.id)
    assert list(_run(*command)["channels"]) == ["fused", "reranked"]  # type: ignore[call-overload]


def test_the_time_that_reading_takes_stands_beside_its_quality(judged: Path, reranker: Bundle) -> None:
    command = ("evaluate", str(judged), "--channels", "fused")
    assert "closely" not in _run(*command)
    spent = _run(*command, "--rerank", "on", "--reranker", reranker.id)["closely"]
    assert spent["candidates"] == 50  # type: ignore[index, call-overload]
    assert spent["allowed"] == 300.0  # type: ignore[index, call-overload]
    assert spent["milliseconds"] > 0  # type: ignore[index, call-overload]
    assert 0 < spent["read"] <= 50  # type: ignore[index, call-overload]
    page = judged / "report.html"
    words = [*command, "--rerank", "on", "--reranker", reranker.id, "--report", str(page)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "of 50 candidates within 300 ms here" in " ".join(done.stdout.split())
    assert "of 50 candidates within 300 ms here" in page.read_text()


def test_options_that_would_do_nothing_are_refused(judged: Path, reranker: Bundle, tmp_path: Path) -> None:
    for words in (
        ("evaluate", str(judged), "--reranker", reranker.id),
        ("evaluate", str(judged), "--rerank", "off", "--reranker", reranker.id),
        ("evaluate", str(judged), "--writing", "1"),
        ("search", "bees", "--library", str(tmp_path), "--channels", "bm25", "--rerank", "on"),
    ):
        assert CliRunner().invoke(app, [*words]).exit_code == 2, words


def test_one_in_use_is_tried_when_adapting_until_none_is(reranker: Bundle) -> None:
    def listed() -> str:
        done = CliRunner().invoke(app, ["models", "list"], env={"COLUMNS": "200"})
        return done.stdout

    assert "tried when adapting" not in listed()
    _run("models", "use", reranker.id)
    assert "tried when adapting" in listed()
    found = _run("models", "use", "none", "--kind", "reranker")["models"]
    assert not any(one["active"] for one in found if one["kind"] == "reranker")  # type: ignore[attr-defined]
    assert any(one["active"] for one in found if one["kind"] == "encoder")  # type: ignore[attr-defined]
    assert "tried when adapting" in " ".join(CliRunner().invoke(app, ["models", "use", "--help"]).stdout.split())
    for words in (("none", "--kind", "llm"), (reranker.id, "--kind", "reranker")):
        assert CliRunner().invoke(app, ["models", "use", *words]).exit_code == 2


def test_what_is_left_of_a_purge_is_not_called_an_encoder(capsys: pytest.CaptureFixture[str]) -> None:
    show_purged(Purged(2, 1, 1, "none", 0, "tiny-reranker+0badcafe"))
    assert "The model tiny-reranker+0badcafe learned" in " ".join(capsys.readouterr().out.split())


def test_a_library_searches_with_its_own_unless_told_not_to(judged: Path, reranker: Bundle, tmp_path: Path) -> None:
    library, notes = tmp_path / "library", tmp_path / "notes"
    notes.mkdir()
    for line in (judged / "corpus.jsonl").read_text().splitlines():
        told = json.loads(line)
        (notes / f"{told['_id']}.txt").write_text(told["text"])
    _run("ingest", "--library", str(library), str(notes))
    asked = ("search", "the bees and their honey", "--library", str(library))

    def channels(*more: str) -> set[str]:
        return {part["channel"] for hit in _run(*asked, *more)["hits"] for part in hit["parts"]}  # type: ignore[union-attr, index, call-overload, attr-defined]

    assert channels() == {"bm25", "dense"}
    measured = ("evaluate", str(judged), "--library", str(library), "--channels", "fused", "--rerank", "on")
    assert "No reranker is in use" in str(CliRunner().invoke(app, [*measured]).exception)
    _run("models", "use", reranker.id)
    assert list(_run(*measured)["channels"]) == ["fused", "reranked"]  # type: ignore[call-overload]
    _run("models", "use", "none", "--kind", "reranker")
    db = database.open_writer(library)
    encoder = open_encoder()
    IndexWriter(library, db, encoder.id, encoder.dimension).commit(reranker=reranker.id)
    db.conn.close()
    assert channels() == {"bm25", "dense", "rerank"}
    assert list(_run(*measured)["channels"]) == ["fused", "reranked"]  # type: ignore[call-overload]
    assert channels("--rerank", "off") == {"bm25", "dense"}
    reranker.folder.rename(reranker.folder.with_name("elsewhere"))
    assert channels() == {"bm25", "dense"}
