"""Deletion with proof: what is left is counted, and after a purge not one byte tells of it."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.base.errors import LibraryLocked
from core.base.events import Control
from core.cli.commands import app
from core.index import generation
from core.ingest.reading import cache_of
from core.store import database
from core.worker import purge as purging
from core.worker.client import ChildClient
from core.worker.doctor import examine
from core.worker.ingesting import delete, ingest
from core.worker.purge import purge
from tests.corpus import make_folder
from tests.kept import Kept
from tests.traces import answers, ask, cite, found_in

# words that only the deleted files have, each once in another place: text, title, heading, file name, member, line
SECRET = (
    "quokkatext", "quokkahead", "quokkaname", "quokkaline", "quokkatitle", "quokkamember", "quokkazip", "quokkaroot"
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory, tiny_encoder):
    """A folder of 14 documents to stay and three with secrets, a copy of it, and the library of it."""
    place = tmp_path_factory.mktemp("purge")
    docs = place / "docs"
    make_folder(docs, 14, suffixes=("txt", "md"))
    body = "The quokkatext of the bees lives in the hive with honey. " * 12
    (docs / "quokkaname.md").write_text(f"# Quokkahead about bees\n\n{body}")
    (docs / "lines.jsonl").write_text("\n".join(json.dumps(line("quokka", n)) for n in range(9)))
    with zipfile.ZipFile(docs / "quokkazip.zip", "w") as packed:
        packed.writestr("inner/quokkamember.txt", "The doctor of the quokkamember has a cure. " * 12)
    shutil.copytree(docs, place / "again")
    ingest(place / "library", [docs], control=Control(), listener=lambda event: None, encoder=tiny_encoder)
    return place


def line(word, number):
    return {"_id": f"q{number}", "title": f"{word}title {number}", "text": f"Ship {number} with {word}line cargo."}


@pytest.fixture
def folder(made):
    shutil.rmtree(made / "docs")
    shutil.copytree(made / "again", made / "docs")
    return made / "docs"


@pytest.fixture
def library(made, folder, tmp_library, tiny_home):
    shutil.copytree(made / "library", tmp_library)
    return tmp_library


def secrets(folder):
    return [folder / "quokkaname.md", folder / "lines.jsonl", folder / "quokkazip.zip"]


def test_a_receipt_counts_what_is_left_in_every_place(library, folder, tiny_encoder):
    kept = Kept(library, tiny_encoder)
    ask(library, cite(library, folder / "quokkaname.md"), cite(library, folder / "bees-0000.txt", 2))
    path = folder / "quokkaname.md"
    cache = Path(cache_of(str(library / "cache"), str(path)))
    cache.mkdir(parents=True)
    (cache / "page.json").write_text("quokkatext")
    gone = {row[0] for row in kept.rows("SELECT p.id FROM passage p JOIN document d ON d.id = p.document_id "
                                        "WHERE d.path = ?", str(path))}  # fmt: skip
    examples = [json.loads(r[0]) for r in kept.rows("SELECT examples FROM concept")]
    assert gone & {i for e in examples for i in e}  # it was an example: else nothing is shown here
    vectors = kept.rows("SELECT count(*) FROM vector")[0][0]
    receipt = delete(library, path)
    assert receipt.channels == dict.fromkeys(
        ("bm25", "dense", "concepts", "text", "vectors", "history", "cache"), 0
    )  # fmt: skip
    assert (receipt.documents, receipt.passages, receipt.stays) == (1, len(gone), ())
    assert "0 traces" in receipt.receipt
    assert kept.rows("SELECT count(*) FROM vector")[0][0] == vectors - len(gone)
    assert not gone & {i for r in kept.rows("SELECT examples FROM concept") for i in json.loads(r[0])}
    assert not cache.exists()
    assert not any("quokkatext" in h.passage.text for h in kept.search("quokkatext bees", k=50))
    (answer,) = answers(library)
    assert answer.sentences[0].citations[0].quote == ""
    assert answer.near_misses[0].document == ""
    assert answer.sentences[1].citations[0].quote  # the other one stays


def test_deleting_one_of_two_copies_says_what_stays(library, folder, tiny_encoder):
    kept = Kept(library, tiny_encoder)
    (folder / "zz.md").write_bytes((folder / "quokkaname.md").read_bytes())
    kept.run()
    ask(library, cite(library, folder / "quokkaname.md"))
    receipt = delete(library, folder / "quokkaname.md")
    assert receipt.stays == (str(folder / "zz.md"),)
    assert (receipt.documents, receipt.passages) == (1, 0)
    assert set(receipt.channels.values()) == {0}
    assert str(folder / "zz.md") in receipt.receipt
    assert kept.search("quokkatext bees", k=1)[0].passage.path == str(folder / "zz.md")
    (answer,) = answers(library)
    assert answer.sentences[0].citations[0].document == str(folder / "zz.md")
    assert answer.sentences[0].citations[0].quote


def test_a_copy_of_another_name_is_found_at_once(library, folder, tiny_encoder):
    kept = Kept(library, tiny_encoder)
    source = folder / "quokkaroot.txt"
    source.write_text("The turbine and the windmill need power. " * 12)
    (folder / "zz-copy.txt").write_text(source.read_text())
    kept.run()
    receipt = delete(library, source)
    assert receipt.stays == (str(folder / "zz-copy.txt"),)
    hit = kept.search("turbine windmill", k=1)[0]
    assert hit.passage.path == str(folder / "zz-copy.txt")
    assert kept.search("quokkaroot", k=1)[0].parts[0].score == 0  # its name is not in the index any more


def test_not_a_byte_is_left(library, folder, tiny_encoder, tmp_path):
    assert {word for word, _ in found_in(library, SECRET)} >= set(SECRET[:7])  # the search for bytes does find them
    ask(library, cite(library, folder / "quokkaname.md"), cite(library, folder / "bees-0000.txt", 2))
    (library / "spool").mkdir(exist_ok=True)
    (library / "spool" / "left").write_text("quokkatext")
    (library / "reading.json").write_text(json.dumps({"path": str(folder / "quokkaname.md"), "seconds": 1.0}))
    for path in secrets(folder):
        delete(library, path)
        path.unlink()
    before = sum(p.stat().st_size for p in library.rglob("*") if p.is_file())
    done = purge(library, encoder=tiny_encoder)
    assert found_in(library, SECRET) == set()
    assert done.bytes_before >= before > done.bytes_after > 0
    assert (done.concepts, done.conversations) == ("fitted", 1)
    assert done.segments > 0
    assert sum(log.stat().st_size for log in library.glob("library.db-wal")) == 0
    assert len(generation.numbers(library)) == 1
    (answer,) = answers(library)
    assert answer.question == "What of bees?"
    assert len(answer.sentences) == 2
    assert answer.sentences[0].text not in ("", answer.sentences[1].text)
    assert answer.sentences[1].text in answer.text
    assert [f for f in examine(library) if f.severity != "ok"] == []
    kept = Kept(library, tiny_encoder)
    kept.run()
    fresh = Kept(tmp_path / "fresh", tiny_encoder)
    fresh.run(folder)
    assert kept.seen() == fresh.seen()
    assert purge(library, encoder=tiny_encoder).concepts == "kept"


def test_files_that_vanished_from_the_disk_leave_nothing_either(library, folder, tiny_encoder):
    ask(library, cite(library, folder / "quokkaname.md"))
    for path in secrets(folder):
        path.unlink()
    ingest(library, [], control=Control(), listener=lambda event: None, encoder=tiny_encoder)
    assert answers(library)[0].sentences[0].citations[0].quote == ""
    purge(library, encoder=tiny_encoder)
    assert found_in(library, SECRET) == set()


def test_lines_and_members_that_are_gone_leave_nothing(library, folder, tiny_encoder):
    path = folder / "lines.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in (line("numbat", 0), line("quokka", 1))))
    Kept(library, tiny_encoder).run()
    path.write_text(json.dumps(line("numbat", 0)))
    Kept(library, tiny_encoder).run()
    purge(library, encoder=tiny_encoder)
    assert found_in(library, ("quokkaline", "quokkatitle")) == set()
    assert found_in(library, ("numbatline", "numbattitle"))


@pytest.mark.parametrize("step", ["_clean_index", "_clean_concepts", "_clean_files", "_rewrite"])
def test_a_purge_cut_off_is_made_up_for_by_the_next(library, folder, tiny_encoder, monkeypatch, step):
    for path in secrets(folder):
        delete(library, path)
        path.unlink()
    whole = getattr(purging, step)

    def cut_off(*args):
        whole(*args)
        raise RuntimeError("killed here")

    with monkeypatch.context() as patch:
        patch.setattr(purging, step, cut_off)
        with pytest.raises(RuntimeError):
            purge(library, encoder=tiny_encoder)
    assert [f.check for f in examine(library) if f.severity == "error"] == []
    purge(library, encoder=tiny_encoder)
    assert found_in(library, SECRET) == set()


def test_without_the_encoder_the_concepts_are_dropped(library, folder, monkeypatch, tmp_path):
    for path in secrets(folder):
        delete(library, path)
        path.unlink()
    monkeypatch.setenv("WHYMATCH_HOME", str(tmp_path / "no-models"))
    assert purge(library).concepts == "dropped"
    assert found_in(library, SECRET) == set()


def test_the_job_child_and_the_command_line_purge(library, folder):
    for path in secrets(folder):
        delete(library, path)
        path.unlink()
    with ChildClient("job", library) as child:
        done = child.call("purge", {})
    assert found_in(library, SECRET) == set()
    assert done["bytes_after"] < done["bytes_before"]
    shown = CliRunner().invoke(app, ["doctor", "--purge", "--library", str(library), "--json"])
    assert (shown.exit_code, json.loads(shown.stdout)["ok"]) == (0, True)
    assert json.loads(shown.stdout)["purged"]["concepts"] == "kept"


def test_what_was_removed_stays_removed_while_its_drive_is_away(library, folder, tiny_encoder):
    delete(library, folder / "bees-0000.txt")
    (library / "cache").mkdir(exist_ok=True)
    folder.rename(folder.with_name("unplugged"))
    purge(library, encoder=tiny_encoder)
    folder.with_name("unplugged").rename(folder)
    kept = Kept(library, tiny_encoder)
    kept.run()
    assert "bees-0000.txt" not in kept.documents()
    (folder / "bees-0000.txt").unlink()
    purge(library, encoder=tiny_encoder)
    assert kept.rows("SELECT count(*) FROM excluded") == [(0,)]


def test_a_purge_waits_for_nobody(library):
    with database.lock(library, "test"), pytest.raises(LibraryLocked):
        purge(library)
