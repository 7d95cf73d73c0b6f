"""Damaged, closed and impossible input: one sentence and exit code 1, nothing lost, `doctor` clean afterwards."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from tests.core.cli.test_cli_commands import ROOT, ask_json, run
from tests.corpus import make_folder

_CLOSED = "setpriv" if shutil.which("setpriv") else ""
_CAPABILITIES = "-dac_override,-dac_read_search"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tmp_path_factory.mktemp("made") / "library"


@pytest.fixture
def library(made, tmp_path, tiny_home):
    """A copy of a library that is made once."""
    if not made.exists():
        make_folder(made.parent / "docs", 32)
        ask_json("ingest", made.parent / "docs", "--library", made)
    return shutil.copytree(made, tmp_path / "library")


def failure(*arguments):
    """The one sentence that a failing command prints."""
    done = run(*arguments, code=1)
    assert done.stdout == b""
    return done.stderr.decode().strip().splitlines()[-1]


def run_closed(*arguments):
    """As somebody who is bound to the rights of files; the superuser lays down the power to read everything."""
    line = [sys.executable, "-m", "core.cli", *map(str, arguments)]
    if os.geteuid() == 0:
        if not _CLOSED:
            pytest.skip("the superuser may read everything")
        line = [_CLOSED, f"--bounding-set={_CAPABILITIES}", f"--inh-caps={_CAPABILITIES}", *line]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, stdin=subprocess.DEVNULL, timeout=300, check=False)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done


@pytest.mark.skipif(sys.platform == "win32", reason="rights of files are of another kind")
def test_a_closed_folder_within_a_root_stops_nothing(tmp_path, tiny_home):
    docs, target = tmp_path / "docs", tmp_path / "library"
    (docs / "closed").mkdir(parents=True)
    (docs / "open.txt").write_text("The ferry leaves the harbour at noon.")
    (docs / "closed" / "secret.txt").write_text("The lamp of the tower is lit at dusk.")
    assert ask_json("ingest", docs, "--library", target)["documents"] == 2
    (docs / "closed").chmod(0)
    try:
        done = run_closed("ingest", docs, "--library", target, "--json")
        text = run_closed("text", docs / "closed" / "secret.txt")
    finally:
        (docs / "closed").chmod(0o755)
    report = json.loads(done.stdout)
    assert report["documents"] == 2, "what was read of it stays"
    assert [f["state"] for f in report["failed"]] == ["denied"]
    assert text.returncode == 1
    assert b"No permission" in text.stderr


def test_a_library_where_none_can_be(tmp_path, tiny_home):
    (tmp_path / "file").write_text("x")
    (tmp_path / "doc.txt").write_text("The ferry leaves at noon.")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        assert str(place) in failure("ingest", tmp_path / "doc.txt", "--library", place)
    assert (tmp_path / "file").read_text() == "x"


def test_lost_generations_come_back(library):
    before = ask_json("search", "honey hive", "--library", library)
    shutil.rmtree(library / "generations")
    found = ask_json("search", "honey hive", "--library", library)
    assert "rebuilt" in found["notice"]
    assert [h["passage_id"] for h in found["hits"]] == [h["passage_id"] for h in before["hits"]]
    assert ask_json("doctor", "--library", library)["ok"]


def test_an_explanation_survives_lost_parts(library):
    whole = ask_json("explain", "honey hive", 1, "--library", library)
    shutil.rmtree(library / "models", ignore_errors=True)
    for path in library.glob("generations/*/dense-*.faiss"):
        path.write_bytes(b"")
    found = ask_json("explain", "honey hive", 1, "--library", library)
    assert found["score"] == pytest.approx(whole["score"], abs=1e-6)
    assert found["concepts"] == []


def test_doctor_names_and_mends_a_damaged_manifest(library):
    (library / "generations" / "current.json").write_text("{ broken")
    findings = ask_json("doctor", "--library", library, code=1)["findings"]
    assert "index manifest" in {f["check"] for f in findings if f["severity"] == "error"}
    assert ask_json("doctor", "--repair", "--library", library)["ok"]
    assert ask_json("doctor", "--library", library)["ok"]


def test_doctor_sees_changed_weights(library):
    for path in library.glob("models/*/weights.safetensors"):
        data = bytearray(path.read_bytes())
        data[-1] ^= 255
        path.write_bytes(data)
        assert not ask_json("doctor", "--library", library, code=1)["ok"]
        assert ask_json("doctor", "--repair", "--library", library)["ok"]
        return
    pytest.fail("the library has no concepts")


def test_a_damaged_database_is_said_so(library):
    connection = sqlite3.connect(library / "library.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'document'").fetchone()[0]
    connection.close()
    with (library / "library.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * 200)
    findings = ask_json("doctor", "--library", library, code=1)["findings"]
    assert findings[0]["severity"] == "error"
    assert "damaged" in findings[0]["detail"]
    for command in (("documents",), ("search", "honey"), ("explain", "honey", 1), ("delete", "/tmp")):
        assert "damaged" in failure(*command, "--library", library)


def test_a_newer_library_is_not_rolled_back(library):
    connection = sqlite3.connect(library / "library.db")
    with connection:
        connection.execute("INSERT INTO migration (name, applied) VALUES ('9999-later', '')")
    connection.close()
    before = (library / "generations" / "current.json").read_bytes()
    assert "newer version" in failure("rollback", "--library", library)
    assert (library / "generations" / "current.json").read_bytes() == before


def test_a_bundle_changed_by_hand_is_a_damaged_model(library, tiny_home):
    (path,) = tiny_home.glob("models/*/bundle.json")
    path.write_text(path.read_text().replace('"pooling"', '"poling"'))
    assert "is damaged" in failure("search", "honey", "--library", library)
    (tiny_home / "models" / "active.json").write_text('{"encoder": 7}')
    run("models", "list")


def test_names_that_look_like_markup_are_names(tmp_path, tiny_home):
    folder = tmp_path / "odd["
    folder.mkdir()
    for name in ("red].txt", "[bold] [i.txt", "two\nlines.txt"):
        (folder / name).write_text(f"The ferry [/nope] of {name}")
    (folder / "surrogate.txt").write_bytes(b"ferry \xed\xa0\x80 [/b]")
    target = tmp_path / "library"
    assert b"4 documents" in run("ingest", folder, "--library", target).stdout
    assert b"/red].txt" in run("documents", "--library", target).stdout.replace(b"\n", b"")
    assert b"[/nope]" in run("search", "ferry [/nope]", "--library", target).stdout
    run("explain", "ferry [/nope]", 1, "--library", target)
    run("ask", "which ferry [/nope]?", "--library", target)
    run("concepts", "--library", target)


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1252"}])
def test_a_terminal_of_few_characters(tmp_path, environment, monkeypatch):
    (tmp_path / "zh.txt").write_text("渡轮 leaves at noon.", encoding="utf-8")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert b"?? leaves at noon." in run("text", tmp_path / "zh.txt").stdout


@pytest.fixture
def judged(tmp_path):
    folder = tmp_path / "judged"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id": "d1", "text": "The bee and the hive."}\n{"_id": "d2", "text": "A ship."}'
    )
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "bee"}')
    (folder / "qrels" / "test.tsv").write_text("q1\td1\t1\n")
    return folder


def test_a_run_of_other_queries_is_refused_before_anything_is_measured(judged, tmp_path, tiny_home):
    other = tmp_path / "other.run"
    other.write_text("q9 Q0 d1 1 0.5 t\n")
    done = run("evaluate", judged, "--against", other, code=1)
    assert "none of the queries" in done.stderr.decode()
    assert "encoding" not in done.stderr.decode()


def test_a_run_is_compared_in_the_table_and_as_json(judged, tmp_path, tiny_home):
    other = tmp_path / "other.run"
    other.write_text("q1 Q0 d2 1 0.5 t\n")
    found = ask_json("evaluate", judged, "--channels", "bm25", "--against", other)["comparisons"]
    assert [(one["first"], one["second"], one["won"]) for one in found] == [("bm25", "other.run", 1)]
    assert b"bm25 against other.run" in run("evaluate", judged, "--channels", "bm25", "--against", other).stdout


def test_ids_that_no_run_can_hold_are_refused_before_anything_is_measured(judged, tmp_path, tiny_home):
    (judged / "queries.jsonl").write_text('{"_id": "q 1", "text": "bee"}')
    (judged / "qrels" / "test.tsv").write_text("q 1\td1\t1\n")
    done = run("evaluate", judged, "--run", tmp_path / "out.run", code=1)
    assert "white space" in done.stderr.decode()
    assert "encoding" not in done.stderr.decode()


def test_every_channel_of_the_library_takes_part(library, tmp_path):
    make_folder(tmp_path / "more", 3, seed=7)
    ask_json("ingest", tmp_path / "more", "--library", library, "--multi")
    named = ask_json("search", "bee", "--library", library, "--channels", "multi")["hits"][0]["parts"]
    assert [part["channel"] for part in named] == ["multi"]
    assert "multi" in {
        p["channel"] for hit in ask_json("search", "bee", "--library", library)["hits"] for p in hit["parts"]
    }
