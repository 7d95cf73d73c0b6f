"""The command line as its users call it: real processes, JSON on standard output, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus import make_folder

ROOT = Path(__file__).resolve().parents[3]
UNLOCKINGS = (((), b""), (("--password-stdin",), b"guess\n"), (("--password-stdin",), b"sesame\n"))


def run(*arguments, code=0, typed=b""):
    done = subprocess.run(
        [sys.executable, "-m", "core.cli", *map(str, arguments)], cwd=ROOT, capture_output=True,
        input=typed, env={**os.environ, "COLUMNS": "200"}, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return done


def ask_json(*arguments, code=0):
    lines = run(*arguments, "--json", code=code).stdout.splitlines()
    assert len(lines) == 1, "one JSON object and nothing else"
    return json.loads(lines[0])


@pytest.fixture
def library(tmp_path, tiny_home):
    make_folder(tmp_path / "docs", 32)
    value = ask_json("ingest", tmp_path / "docs", "--library", tmp_path / "library")
    assert value["documents"] == 32
    assert (value["skipped"], value["failed"]) == (0, [])
    return tmp_path / "library"


def test_the_main_path(library, tmp_path):
    listed = ask_json("documents", "--library", library)["documents"]
    assert {d["state"] for d in listed} == {"read"}
    assert {"id", "path", "title", "language", "pages", "passages", "warnings"} <= set(listed[0])

    found = ask_json("search", "reference code0003x", "--library", library, "-k", 5)
    hit = found["hits"][0]
    assert "code0003x" in hit["text"]
    assert hit["score"] == pytest.approx(sum(p["contribution"] for p in hit["parts"]), abs=1e-9)
    assert {p["channel"] for p in hit["parts"]} == {"bm25", "dense"}
    assert hit["document"].endswith("money-0003.pdf")
    assert hit["page"] == 1
    assert any("code0003x" in hit["text"][s["start"] : s["end"]].lower() for s in hit["spans"])
    assert found["milliseconds"]

    why = ask_json("explain", "reference code0003x", hit["passage_id"], "--library", library)
    assert why["score"] == pytest.approx(sum(p["contribution"] for p in why["parts"]), abs=1e-6)
    assert any(t["term"].startswith("code0003x") for t in why["terms"])
    total = sum(c["contribution"] for c in why["concepts"]) + why["common"] + why["residual"]
    assert total == pytest.approx(why["dense_score"], abs=1e-4)
    assert 0 <= why["explained_share"] <= 1
    assert sum(line["contribution"] for line in why["account"]) == pytest.approx(why["score"], abs=1e-6)

    told = ("--why-not", "-k", 3, "--filter", "type=html")
    absent = ask_json("explain", "reference code0003x", hit["passage_id"], "--library", library, *told)
    assert absent["excluded"] == ["type:html"]
    assert (absent["lifts"][0]["kind"], absent["lifts"][0]["rank"]) == ("filter", 1)
    assert "type:html" in absent["sentence"]

    answer = ask_json("ask", "What is the reference code0003x?", "--library", library)
    cited = [c for s in answer["sentences"] for c in s["citations"]]
    assert answer["mode"] == "extractive"
    assert any("code0003x" in c["quote"] for c in cited)
    text = ask_json("text", tmp_path / "docs" / "money-0003.pdf")
    place = next(c for c in cited if "code0003x" in c["quote"])
    assert text["text"][place["start"] : place["end"]] == place["quote"]
    assert place["page"] == 1

    concepts = ask_json("concepts", "--library", library)
    assert {"nmse", "spearman", "k", "latents", "dead"} <= set(concepts["fidelity"])
    assert concepts["concepts"]
    assert all(c["label"] for c in concepts["concepts"])


def test_filters_narrow_and_tell(library):
    every = ask_json("search", "honey hive", "--library", library, "-k", 100)
    only = ask_json("search", "honey hive", "--library", library, "-k", 100, "--filter", "type=pdf")
    assert only["hits"]
    assert all(h["document"].endswith(".pdf") for h in only["hits"])
    assert len(only["hits"]) < len(every["hits"])
    assert only["filtered_out"] > 0


def test_tags_are_filters(library, tmp_path):
    path = tmp_path / "docs" / "money-0003.pdf"
    assert ask_json("tag", path, "urgent", "tax", "--library", library)["documents"][0]["tags"] == ["tax", "urgent"]
    found = ask_json("search", "reference", "--library", library, "--filter", "tag=urgent")
    assert {h["document"] for h in found["hits"]} == {str(path)}
    run("tag", tmp_path / "nothing.pdf", "x", "--library", library, code=1)


def test_delete_doctor_rollback(library, tmp_path):
    path = tmp_path / "docs" / "money-0003.pdf"
    receipt = ask_json("delete", path, "--library", library)
    assert (receipt["documents"], set(receipt["channels"].values())) == (1, {0})
    found = ask_json("search", "code0003x", "--library", library)
    assert not any("code0003x" in h["text"] for h in found["hits"])
    assert ask_json("doctor", "--library", library)["ok"]
    run("rollback", "--library", library, "--to", 99, code=1)


def test_a_damaged_index_file_is_rebuilt_and_it_is_said(library):
    before = ask_json("search", "honey hive", "--library", library)
    for path in (library / "generations").rglob("*.faiss"):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
    assert not ask_json("doctor", "--library", library, code=1)["ok"]
    found = ask_json("search", "honey hive", "--library", library)
    assert "rebuilt" in found["notice"]
    assert [h["text"] for h in found["hits"]] == [h["text"] for h in before["hits"]]
    again = ask_json("search", "honey hive", "--library", library)
    assert again["notice"] == ""
    assert ask_json("doctor", "--library", library)["ok"]


def test_known_errors_are_one_sentence_and_exit_code_1(tmp_path, tiny_home):
    nowhere = tmp_path / "nowhere"
    for arguments in (
        ("ingest", nowhere, "--library", tmp_path / "l"),
        ("documents", "--library", nowhere),
        ("search", "x", "--library", nowhere),
        ("ask", "x", "--library", nowhere),
        ("explain", "x", 1, "--library", nowhere),
        ("delete", nowhere, "--library", nowhere),
        ("doctor", "--library", nowhere),
        ("concepts", "--library", nowhere),
        ("rollback", "--library", nowhere),
        ("text", nowhere),
        ("evaluate", nowhere),
    ):
        done = run(*arguments, code=1)
        assert done.stdout == b""
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert not (tmp_path / "l").exists(), "no library is made for a path that is not there"


def test_wrong_usage_is_exit_code_2(tmp_path):
    run("search", "x", code=2)
    run("nonsense", code=2)
    run("search", "x", "--library", tmp_path, "--channels", "psychic", code=2)


def test_queries_of_any_length(library):
    run("search", "", "--library", library, code=1)
    run("search", "   ", "--library", library, code=1)
    found = ask_json("search", "honey " * 16_000, "--library", library)  # close to what one argument may hold
    assert found["hits"]


def test_damaged_and_newer_libraries(tmp_path, tiny_home):
    import sqlite3

    library = tmp_path / "library"
    make_folder(tmp_path / "docs", 2, suffixes=("txt",))
    run("ingest", tmp_path / "docs", "--library", library)
    db = sqlite3.connect(library / "library.db")
    db.execute("INSERT INTO migration VALUES ('9999-future', 'x')")
    db.commit()
    db.close()
    assert b"newer version" in run("search", "x", "--library", library, code=1).stderr
    assert b"newer version" in run("ingest", tmp_path / "docs", "--library", library, code=1).stderr
    (library / "library.db").write_bytes(b"no database" * 1000)
    assert b"damaged" in run("search", "x", "--library", library, code=1).stderr


def test_text_names_the_state_of_what_cannot_be_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"")
    value = ask_json("text", path)
    assert value["state"] == "empty"
    path.write_text("Grüße aus Köln.\n\nZweiter Absatz.", encoding="utf-8")
    value = ask_json("text", path)
    assert (value["state"], value["warnings"]) == ("read", [])
    assert "Grüße aus Köln." in value["text"]


def test_an_index_whose_manifest_is_lost_is_made_again(library, tmp_path):
    before = ask_json("search", "honey hive", "--library", library)
    for path in (library / "generations").rglob("*.json"):
        path.write_text("{ broken")
    found = ask_json("search", "honey hive", "--library", library)
    assert "rebuilt" in found["notice"]
    assert [h["text"] for h in found["hits"]] == [h["text"] for h in before["hits"]]
    for path in (library / "generations").rglob("*.json"):
        path.write_text("{ broken")
    again = ask_json("ingest", tmp_path / "docs", "--library", library)
    assert (again["documents"], again["encoded"]) == (32, 0)
    assert ask_json("doctor", "--library", library)["ok"]


def test_a_locked_file_is_read_with_its_password(library, tmp_path):
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    path = tmp_path / "docs" / "locked.pdf"
    canvas = Canvas(str(path), encrypt=StandardEncryption("sesame"))
    canvas.drawString(72, 700, "The treasure lies under the third palm tree")
    canvas.save()
    told = [json.loads(run("text", path, "--json", *more, typed=t).stdout) for more, t in UNLOCKINGS]
    assert [t["state"] for t in told] == ["locked", "locked", "read"]
    assert "treasure" in told[2]["text"]
    run("ingest", tmp_path / "docs", "--library", library)
    assert b"Check the password" in run("unlock", path, "--library", library, typed=b"guess\n", code=1).stderr
    assert b"No password" in run("unlock", path, "--library", library, code=1).stderr
    run("unlock", path, "--library", library, typed=b"sesame\n")
    assert "treasure" in ask_json("search", "treasure palm tree", "--library", library)["hits"][0]["text"]
