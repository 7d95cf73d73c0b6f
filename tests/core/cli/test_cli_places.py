"""What people type for a place, and what they are shown of one: links, "..", files within files, long names."""

import json
import os
import zipfile

import pytest
from typer.testing import CliRunner

from core.base.errors import KnownError
from core.base.events import Control, ignore
from core.cli.commands import app
from core.worker import ingesting
from tests.kept import Kept


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "real" / "documents"
    (folder / "inner").mkdir(parents=True)
    (folder / "one.txt").write_text("The heron stands in the shallow water.")
    (folder / "inner" / "two.txt").write_text("The ostrich runs over the dry plain.")
    for path in folder.rglob("*.txt"):
        os.utime(path, (1e9, 1e9))
    (tmp_path / "link").symlink_to(tmp_path / "real")
    return folder


@pytest.fixture
def library(docs, tmp_path, tiny_home):
    assert call("ingest", docs, library=tmp_path / "library")["documents"] == 2
    return tmp_path / "library"


def call(*words, library, json_=True):
    line = [*map(str, words), "--library", str(library), *(["--json"] if json_ else [])]
    done = CliRunner().invoke(app, line, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout) if json_ else done.stdout


def test_a_folder_is_the_same_by_any_way_that_leads_there(library, docs, tmp_path, monkeypatch):
    through = tmp_path / "link" / "documents"
    assert call("tag", through / "one.txt", "water", library=library)["documents"][0]["tags"] == ["water"]
    assert call("delete", through / "one.txt", library=library)["documents"] == 1
    monkeypatch.chdir(docs / "inner")
    assert call("delete", "../inner/two.txt", library=library)["documents"] == 1
    assert call("delete", through, library=library)["documents"] == 0
    assert call("ingest", library=library)["documents"] == 0


def test_a_folder_to_filter_by_is_named_as_people_name_it(library, docs, tmp_path, monkeypatch):
    monkeypatch.chdir(docs)
    for name in ("inner", "./inner/", tmp_path / "link" / "documents" / "inner", docs / "inner"):
        hits = call("search", "ostrich", "--filter", f"folder={name}", library=library)["hits"]
        assert [hit["document"] for hit in hits] == [str(docs / "inner" / "two.txt")]


def test_a_linked_file_goes_by_the_name_of_its_link(library, docs, monkeypatch):
    (docs / "linked.txt").symlink_to(docs / "one.txt")
    assert call("ingest", library=library)["documents"] == 3
    monkeypatch.chdir(docs)
    call("delete", "linked.txt", library=library)
    left = {d["path"] for d in call("documents", library=library)["documents"]}
    assert left == {str(docs / "one.txt"), str(docs / "inner" / "two.txt")}


def test_a_second_look_at_a_folder_brings_nothing_back_that_was_removed(library, docs, tmp_path):
    call("delete", docs / "one.txt", library=library)
    assert call("ingest", docs, library=library)["documents"] == 1
    assert call("ingest", tmp_path / "link" / "documents", library=library)["documents"] == 1
    assert call("ingest", docs / "one.txt", library=library)["documents"] == 2


def test_looking_again_needs_a_library(tmp_path, tiny_home):
    with pytest.raises(KnownError, match="not a Whymatch library"):
        CliRunner().invoke(app, ["ingest", "--library", str(tmp_path / "no")], catch_exceptions=False)
    assert not (tmp_path / "no").exists()


def test_names_are_told_whole_with_reason_member_and_place(library, docs):
    long = docs / f"{'a-name-that-is-long' * 8}.zip"
    with zipfile.ZipFile(long, "w") as archive:
        archive.writestr("post/prices.csv", "animal,price\nquokka,31\nokapi,40\n")
    (docs / "empty.txt").write_text("")
    call("ingest", library=library)
    listed = call("documents", library=library, json_=False)
    assert long.name in "".join(part.strip(" │\n") for part in listed.replace("│", "\n").splitlines())
    assert "it has no bytes" in " ".join(listed.replace("│", " ").split())
    found = call("search", "quokka", "--channels", "bm25", library=library, json_=False)
    assert f"{long.name} › post/prices.csv" in found
    assert call("search", "quokka", "--channels", "bm25", library=library)["hits"][0]["place"] == "row 1"
    answer = call("ask", "What is the price of the quokka?", "--extractive", library=library, json_=False)
    assert f"{long.name} › post/prices.csv" in answer
    assert ", row 1" in answer


def test_a_password_is_not_blamed_for_a_file_that_holds_nothing(docs, tmp_path, tiny_encoder):
    kept = Kept(tmp_path / "library", tiny_encoder)
    (docs / "empty.txt").write_text("")
    kept.run(docs)
    with pytest.raises(KnownError) as told:
        ingesting.unlock(
            kept.folder, docs / "empty.txt", "sesame", control=Control(), listener=ignore, encoder=tiny_encoder
        )
    assert "Check the password" not in told.value.advice
