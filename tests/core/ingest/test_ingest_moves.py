"""Files that were renamed or moved keep what they have: nothing is read or encoded again."""

import json
import shutil
from pathlib import Path

import pytest

from core.ingest import moves, pipeline, reading, scan
from core.ingest.reading import cache_of
from core.store import documents
from tests.corpus import make_folder
from tests.kept import Kept

QUERIES = ("honey in the hive", "harbour", "renamed", "bees", "code0003x", "ledger")


@pytest.fixture
def kept(tmp_library, tiny_encoder):
    return Kept(tmp_library, tiny_encoder)


@pytest.fixture
def folder(tmp_path):
    make_folder(tmp_path / "docs", 8, suffixes=("txt", "md"))
    return tmp_path / "docs"


def hits(kept):
    return {q: [(h.passage.path, h.passage.ordinal, pytest.approx(h.score, abs=1e-4)) for h in kept.search(q)]
            for q in QUERIES}  # fmt: skip


def equals_fresh(kept, folder, tmp_path, name="fresh"):
    fresh = Kept(tmp_path / name, kept.encoder)
    fresh.run(folder)
    assert kept.seen() == fresh.seen()
    assert {q: [h[:2] for h in found] for q, found in hits(kept).items()} == {
        q: [h[:2] for h in found] for q, found in hits(fresh).items()
    }
    assert hits(kept) == hits(fresh)


def ids(kept):
    return {name: d.id for name, d in kept.documents().items()}


def test_a_renamed_folder_is_not_read_again(kept, folder, tmp_path):
    kept.run(folder)
    before, passages = ids(kept), kept.passage_ids()
    (folder / "a" / "b").mkdir(parents=True)
    for path in list(folder.glob("*.*")):
        path.rename(folder / "a" / "b" / path.name)
    report = kept.run()
    assert (report.moved, report.removed, report.encoded, report.documents) == (8, 0, 0, 8)
    assert ids(kept) == before
    assert kept.passage_ids() == passages
    equals_fresh(kept, folder, tmp_path)
    assert kept.run().skipped == 8


def test_a_renamed_file_keeps_id_and_tags_and_is_found_by_its_new_name(kept, folder, tmp_path):
    kept.run(folder)
    old = folder / "bees-0000.txt"
    document = kept.documents()[old.name]
    kept.written(lambda db: documents.set_tags(db, document.id, ["mine"]))
    old.rename(folder / "renamed ledger.txt")
    report = kept.run()
    assert (report.moved, report.encoded) == (1, 0)
    assert kept.documents()["renamed ledger.txt"].id == document.id
    assert kept.documents()["renamed ledger.txt"].tags == ("mine",)
    # By words: how near a tiny encoder finds them to "ledger" is chance, and differs between machines.
    assert kept.search("ledger", channels=("bm25",))[0].passage.document_id == document.id
    equals_fresh(kept, folder, tmp_path)


def test_a_titled_document_keeps_its_passages(kept, folder):
    kept.run(folder)
    before = kept.passage_ids()
    titled = next(d for d in kept.documents().values() if d.title)
    Path(titled.path).rename(folder / "other name.md")
    assert kept.run().moved == 1
    assert kept.passage_ids() == before


def test_another_kind_of_name_is_read_again_under_the_same_id(kept, folder, tmp_path):
    kept.run(folder)
    known = ids(kept)["bees-0000.txt"]
    (folder / "bees-0000.txt").rename(folder / "bees-0000.md")
    report = kept.run()
    assert report.moved == 1
    assert ids(kept)["bees-0000.md"] == known
    equals_fresh(kept, folder, tmp_path)


def test_files_that_changed_places(kept, folder, tmp_path):
    a, b, c = folder / "bees-0000.txt", folder / "ships-0001.md", folder / "bread-0002.txt"
    d = folder / "money-0003.md"
    b.rename(b := b.with_suffix(".txt"))
    d.rename(d := d.with_suffix(".txt"))
    kept.run(folder)
    before = ids(kept)
    spare = tmp_path / "spare"
    a.rename(spare)
    b.rename(a)
    c.rename(b)
    spare.rename(c)  # a circle of three
    report = kept.run()
    assert (report.moved, report.encoded, report.removed) == (3, 0, 0)
    after = ids(kept)
    assert (after[a.name], after[b.name], after[c.name]) == (before[b.name], before[c.name], before[a.name])
    d.replace(a)  # the place of another file is taken: that one is gone
    report = kept.run()
    assert (report.moved, report.removed, report.encoded) == (1, 1, 0)
    assert ids(kept)[a.name] == before[d.name]
    equals_fresh(kept, folder, tmp_path)


def test_moved_and_edited_is_a_new_file(kept, folder, tmp_path):
    kept.run(folder)
    path = (folder / "bees-0000.txt").rename(folder / "z.txt")
    path.write_text(path.read_text() + "\nA paragraph about zebras.\n")
    report = kept.run()
    assert (report.moved, report.removed) == (0, 1)
    equals_fresh(kept, folder, tmp_path)


def test_an_edited_file_stays_itself_when_its_old_content_is_kept_as_a_copy(kept, folder, tmp_path):
    kept.run(folder)
    path = folder / "bees-0000.txt"
    known = ids(kept)[path.name]
    shutil.copy(path, folder / "older.txt")
    path.write_text("The bees moved to another hive and make honey there.\n")
    assert kept.run().moved == 0
    assert ids(kept)[path.name] == known
    equals_fresh(kept, folder, tmp_path)


def test_a_copy_and_a_move_of_one_file(kept, folder, tmp_path):
    kept.run(folder)
    known = ids(kept)["bees-0000.txt"]
    (folder / "sub").mkdir()
    shutil.copy(folder / "bees-0000.txt", folder / "aaa.txt")
    (folder / "bees-0000.txt").rename(folder / "sub" / "bees-0000.txt")
    report = kept.run()
    assert (report.moved, report.removed, report.encoded, report.documents) == (1, 0, 0, 9)
    assert ids(kept)["bees-0000.txt"] == known  # the one with the same name
    equals_fresh(kept, folder, tmp_path)


def half_read(kept, folder, files, monkeypatch):
    """A run that ends when it has stored and encoded all of so many files but for their last word."""
    finish, left = documents.finish_file, [files]

    def fail(*args):
        if not left[0]:
            raise RuntimeError("killed here")
        left[0] -= 1
        finish(*args)

    with monkeypatch.context() as patch:
        patch.setattr(documents, "finish_file", fail)
        patch.setattr(pipeline, "_BACKLOG", 64)
        with pytest.raises(RuntimeError, match="killed here"):
            kept.run(folder)


def encoded(kept):
    return kept.rows("SELECT count(*) FROM vector")[0][0]


def test_a_collection_that_was_half_read_is_not_encoded_again_under_its_new_name(kept, tmp_path, monkeypatch):
    folder = tmp_path / "docs"
    folder.mkdir()
    lines = [json.dumps({"_id": str(n), "text": f"Ship {n} brings honey to the harbour."}) for n in range(200)]
    (folder / "many.jsonl").write_text("\n".join(lines))
    half_read(kept, folder, 0, monkeypatch)
    before = encoded(kept)
    assert before > 0
    assert kept.rows("SELECT complete FROM file") == [(0,)]
    (folder / "many.jsonl").rename(folder / "renamed.jsonl")
    report = kept.run()
    assert (report.moved, report.removed, report.documents) == (1, 0, 200)
    assert report.encoded == kept.rows("SELECT count(DISTINCT hash) FROM passage")[0][0] - before
    equals_fresh(kept, folder, tmp_path)


def test_a_folder_renamed_while_it_was_half_read(kept, folder, tmp_path, monkeypatch):
    half_read(kept, folder, 3, monkeypatch)
    folder.rename(tmp_path / "elsewhere")
    report = kept.run(tmp_path / "elsewhere")
    assert (report.documents, report.away) == (8, ())
    equals_fresh(kept, tmp_path / "elsewhere", tmp_path)


def test_a_file_that_moved_ahead_of_the_walk_is_not_taken_for_deleted(kept, folder, tmp_path, monkeypatch):
    for name in ("a", "z"):
        (folder / name).mkdir()
    (folder / "z" / "one.txt").write_text("The bees of the hive make honey. " * 5)
    kept.run(folder)
    whole, moved = scan._Walk._entries, []

    def then_moved(walk, place):
        entries = whole(walk, place)
        if place == str(folder / "a") and not moved:  # this folder was looked at, the other one was not
            moved.append((folder / "z" / "one.txt").rename(folder / "a" / "one.txt"))
        return entries

    monkeypatch.setattr(scan._Walk, "_entries", then_moved)
    report = kept.run()
    assert moved
    assert (report.moved, report.removed, report.encoded) == (1, 0, 0)
    equals_fresh(kept, folder, tmp_path)


def test_a_file_that_moved_twice_is_found_by_the_next_scan(kept, folder, tmp_path, monkeypatch):
    one = folder / "one.txt"
    one.write_text("The bees of the hive make honey. " * 5)
    kept.run(folder)
    one.rename(folder / "two.txt")
    whole = moves._with_hash

    def moved_on(file, control):
        if file.path.name == "two.txt":
            file.path.rename(folder / "three.txt")
        return whole(file, control)

    with monkeypatch.context() as patch:
        patch.setattr(moves, "_with_hash", moved_on)
        assert kept.run().removed == 0
    report = kept.run()
    assert (report.moved, report.encoded) == (1, 0)
    assert "two.txt" not in kept.documents()
    equals_fresh(kept, folder, tmp_path)


def test_a_copy_that_went_on_before_it_was_read_is_not_encoded_again(kept, folder, tmp_path, monkeypatch):
    one = folder / "one.txt"
    one.write_text("The bees of the hive make honey. " * 5)
    kept.run(folder)
    shutil.copy(one, folder / "two.txt")
    one.write_text("The harbour is full of ships. " * 5)
    whole = reading._settled

    def moved_on(file, control):
        if file.path.name == "two.txt" and file.path.exists():
            file.path.rename(folder / "three.txt")
        return whole(file, control)

    with monkeypatch.context() as patch:
        patch.setattr(reading, "_settled", moved_on)
        assert kept.run().encoded == 1
    assert kept.run().encoded == 0
    equals_fresh(kept, folder, tmp_path)
    (folder / "three.txt").unlink()
    kept.run()
    assert encoded(kept) == kept.rows("SELECT count(DISTINCT hash) FROM passage")[0][0]


def test_a_file_is_deleted_while_its_copy_is_half_read(kept, folder, tmp_path, monkeypatch):
    one = folder / "one.txt"
    one.write_text("The bees of the hive make honey. " * 5)
    kept.run(folder)
    shutil.copy(one, folder / "two.md")
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "store_document", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            kept.run()
    one.unlink()
    report = kept.run()
    assert (report.removed, report.encoded) == (1, 0)
    equals_fresh(kept, folder, tmp_path)
    (folder / "two.md").unlink()
    kept.run()
    assert encoded(kept) == kept.rows("SELECT count(DISTINCT hash) FROM passage")[0][0]


def test_what_was_removed_stays_removed_in_a_renamed_folder(kept, folder):
    (folder / "sub").mkdir()
    for name in ("bees-0000.txt", "bread-0002.txt"):
        (folder / name).rename(folder / "sub" / name)
    kept.run(folder)
    kept.remove(folder / "sub" / "bees-0000.txt")
    (folder / "sub").rename(folder / "new")
    report = kept.run()
    assert (report.moved, report.documents) == (1, 7)
    assert "bees-0000.txt" not in kept.documents()


def test_the_cache_of_a_file_moves_and_goes_with_it(kept, folder):
    kept.run(folder)
    base = str(kept.folder / "cache")
    old, new = folder / "bees-0000.txt", folder / "new.txt"
    made = Path(cache_of(base, str(old)))
    made.mkdir(parents=True)
    (made / "page").write_text("seen")
    old.rename(new)
    kept.run()
    assert not made.exists()
    assert (Path(cache_of(base, str(new))) / "page").read_text() == "seen"
    new.unlink()
    kept.run()
    assert not Path(cache_of(base, str(new))).exists()


def test_a_folder_that_was_added_is_found_under_its_new_name(kept, tmp_path):
    folder, new = tmp_path / "many", tmp_path / "elsewhere"
    for number in range(200):
        path = folder / f"{number % 10}" / f"note {number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Note {number}\n\nThe ship brought cargo {number}.\n")
    kept.run(folder)
    before, passages = ids(kept), kept.passage_ids()
    folder.rename(new)
    assert kept.run().away == (str(folder),)
    report = kept.run(new)
    assert (report.moved, report.encoded, report.documents, report.away) == (200, 0, 200, ())
    assert ids(kept) == before
    assert kept.passage_ids() == passages
    assert kept.read(lambda library: [root.path for root in library.roots()]) == [str(new)]
    equals_fresh(kept, new, tmp_path)
