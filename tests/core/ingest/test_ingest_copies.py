"""Copies share their passages, whoever of them goes, changes or comes first."""

import shutil
import zipfile

import pytest

from tests.kept import Kept

BODY = "The bees of this hive make honey in summer. " * 8
TEXTS = {"a.txt": BODY, "b.txt": "A storm in the harbour broke the anchor of the ship. " * 8}


@pytest.fixture
def kept(tmp_library, tiny_encoder):
    return Kept(tmp_library, tiny_encoder)


@pytest.fixture
def folder(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in TEXTS.items():
        (docs / name).write_text(text)
    return docs


def with_copy(kept, folder, name="z/a.txt"):
    kept.run(folder)
    (folder / name).parent.mkdir(exist_ok=True)
    shutil.copy(folder / "a.txt", folder / name)
    return kept.run()


def test_a_copy_has_no_passages_of_its_own(kept, folder):
    kept.run(folder)
    before = kept.passage_ids()
    report = with_copy(kept, folder)
    assert (report.documents, report.encoded) == (3, 0)
    assert kept.passage_ids() == before
    assert kept.rows("SELECT count(*) FROM document_text") == [(2,)]
    library_view = kept.seen()[0]
    texts = {path: (text[0], len(passages)) for (path, _), _, _, _, _, text, passages in library_view}
    owner, copy = str(folder / "a.txt"), str(folder / "z" / "a.txt")
    assert texts[copy] == texts[owner]
    assert texts[copy][0].strip() == BODY.strip()
    assert kept.rows("SELECT passages > 0, copy_of > 0 FROM document WHERE path = ?", copy) == [(1, 1)]


def test_a_file_of_known_content_is_not_read(kept, folder, tmp_path, monkeypatch):
    with zipfile.ZipFile(folder / "pack.zip", "w") as packed:
        packed.writestr("one.txt", BODY.replace("bees", "wasps"))
        packed.writestr("two.md", "# Ships\n\n" + TEXTS["b.txt"])
    kept.run(folder)
    before = kept.passage_ids()
    shutil.copy(folder / "pack.zip", folder / "again.zip")
    shutil.copy(folder / "a.txt", folder / "again.txt")
    with monkeypatch.context() as patch:
        patch.setattr("core.ingest.sandbox.Sandbox.read", lambda *args: pytest.fail("it was read"))
        report = kept.run()
    assert (report.failed, report.encoded) == ((), 0)
    copies = kept.rows("SELECT external_id FROM document WHERE copy_of IS NOT NULL ORDER BY path, external_id")
    assert copies == [("",), ("one.txt",), ("two.md",)]
    (folder / "pack.zip").unlink()
    (folder / "a.txt").unlink()
    kept.run()
    assert len(kept.passage_ids()) == len(before)
    shutil.copy(folder / "again.txt", folder / "again.md")  # another reader
    kept.run()
    assert kept.rows("SELECT reader FROM document WHERE path LIKE '%again.md'") == [("md",)]
    fresh = Kept(tmp_path / "fresh", kept.encoder)
    fresh.run(folder)
    assert fresh.seen() == kept.seen()


def test_a_copy_takes_over_when_the_owner_goes(kept, folder):
    with_copy(kept, folder)
    before = kept.passage_ids()
    (folder / "a.txt").unlink()
    shutil.rmtree(kept.folder / "generations" / "nothing", ignore_errors=True)
    report = kept.run()
    assert (report.documents, report.encoded) == (2, 0)
    assert kept.passage_ids() == before  # the same file name: nothing in the index changes
    assert kept.search("honey of bees")[0].passage.path == str(folder / "z" / "a.txt")


def test_a_copy_takes_over_when_the_owner_changes(kept, folder):
    with_copy(kept, folder)
    (folder / "a.txt").write_text("The doctor gave the patient a new drug against the fever. " * 8)
    kept.run()
    assert kept.search("honey of bees")[0].passage.path == str(folder / "z" / "a.txt")
    assert kept.search("fever drug")[0].passage.path == str(folder / "a.txt")
    assert [d.copy_of for d in kept.documents().values()] == [None] * 2  # two of the three share a name
    assert kept.rows("SELECT count(*) FROM document WHERE copy_of IS NOT NULL") == [(0,)]


def test_an_owner_that_becomes_equal_to_another_is_its_copy(kept, folder):
    kept.run(folder)
    (folder / "b.txt").write_text(TEXTS["a.txt"])
    report = kept.run()
    documents = kept.documents()
    assert report.encoded == 0
    assert documents["b.txt"].copy_of == documents["a.txt"].id
    assert kept.search("storm in the harbour", k=1)[0].passage.text.startswith("The bees")


def test_the_name_of_a_file_without_title_goes_with_it(kept, folder):
    with_copy(kept, folder, "zeppelin.txt")
    shutil.move(folder / "a.txt", folder.parent / "a.txt")
    report = kept.run()
    assert report.encoded == 0
    found = kept.search("zeppelin", k=1, channels=("bm25",))[0]
    assert found.passage.path.endswith("zeppelin.txt")
    assert found.parts[0].score > 0
    assert kept.passage_ids() == {row[0] for row in kept.rows("SELECT id FROM passage")}


def test_the_first_path_owns_whatever_came_first(kept, folder, tmp_path, tiny_encoder):
    with_copy(kept, folder)
    (folder / "0").mkdir()
    shutil.copy(folder / "a.txt", folder / "0" / "first.txt")
    kept.run()
    assert kept.rows("SELECT path FROM document d WHERE EXISTS (SELECT 1 FROM document c WHERE c.copy_of = d.id)") == [
        (str(folder / "0" / "first.txt"),)
    ]
    fresh = Kept(tmp_path / "fresh", tiny_encoder)
    fresh.run(folder)
    assert fresh.seen() == kept.seen()
    shutil.rmtree(folder / "0")
    (folder / "z" / "a.txt").write_text("Something else about trains and stations. " * 8)
    kept.run()
    again = Kept(tmp_path / "again", tiny_encoder)
    again.run(folder)
    assert again.seen() == kept.seen()


def test_a_filter_lets_a_passage_through_for_any_of_its_places(kept, folder):
    with_copy(kept, folder)
    hits = kept.search("honey of bees", folders=(str(folder / "z"),))
    assert [h.passage.path for h in hits] == [str(folder / "z" / "a.txt")]
    copy = next(d for d in kept.read(lambda library: library.documents()) if d.path.endswith("z/a.txt"))
    assert {h.passage.document_id for h in kept.search("bees", documents=(copy.id,), fold=False)} == {copy.id}
    kept.read(lambda library: library.set_tags(copy.id, ["kept"]))
    assert [h.passage.path for h in kept.search("honey", tags=("kept",))] == [copy.path]
    assert kept.search("honey", tags=("other",)) == []


def test_equal_lines_of_a_collection_share_too(kept, tmp_path):
    path = tmp_path / "corpus.jsonl"
    line = '{"_id": "%s", "title": "Bees", "text": "The bees make honey in the hive."}'
    path.write_text("\n".join(line % n for n in ("c", "a", "b")))
    assert (kept.run(path).documents, len(kept.passage_ids())) == (3, 1)
    documents = kept.documents()
    assert {d.copy_of for d in documents.values()} == {None, documents["a"].id}
    path.write_text(line % "b")
    assert kept.run().encoded == 0
    assert kept.search("honey")[0].passage.external_id == "b"
