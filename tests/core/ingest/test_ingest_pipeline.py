"""Ingestion as a whole, in this process: what is read, what is left, what changes, what goes."""

import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from core.base.errors import Cancelled, LibraryLocked, NotFound, PathMissing
from core.base.events import Changed, Control, Progress
from core.base.types import DocumentState
from core.index import generation
from core.index.snapshot import Snapshot
from core.ingest.pipeline import Ingest
from core.ingest.removal import remove
from core.library import Library
from core.store import database
from tests.corpus import make_folder, sections, write_document


class Box:
    """A library with what its runs reported."""

    def __init__(self, folder, encoder):
        self.folder = folder
        self.encoder = encoder
        self.events = []
        Library.create(folder).close()

    def run(self, *paths, retry=False, control=None, listener=None):
        db = database.open_writer(self.folder)
        try:
            run = Ingest(self.folder, db, self.encoder, control or Control(), listener or self.events.append)
            return run.run(paths, retry=retry)
        finally:
            db.conn.close()

    def texts(self):
        """(document, passage text) of all that the index can find."""
        with Snapshot.open(self.folder) as snapshot:
            found = snapshot.passages(snapshot.ids().tolist())
            return sorted((Path(p.path).name, p.text) for p in found.values())

    def states(self):
        library = Library.open(self.folder)
        try:
            return {Path(d.path).name: d.state for d in library.documents()}
        finally:
            library.close()

    def remove(self, path):
        db = database.open_writer(self.folder)
        try:
            return remove(db, path)
        finally:
            db.conn.close()


@pytest.fixture
def box(tmp_library, tiny_encoder):
    return Box(tmp_library, tiny_encoder)


@pytest.fixture
def folder(tmp_path):
    make_folder(tmp_path / "docs", 10)
    return tmp_path / "docs"


def test_every_kind_of_document_is_read_and_found(box, folder):
    report = box.run(folder)
    assert (report.documents, report.skipped, report.failed) == (10, 0, ())
    assert report.passages == len(box.texts()) >= 20
    assert set(box.states().values()) == {DocumentState.READ}
    for number in range(10):
        assert any(f"code{number:04d}x" in text for _, text in box.texts()), number
    stages = [e.stage for e in box.events if isinstance(e, Progress)]
    assert stages[0] == "scanning"
    assert "reading" in stages


def test_passages_are_exact_parts_of_their_document(box, folder):
    box.run(folder)
    library = Library.open(box.folder)
    for document in library.documents():
        text, pages, _ = library.document_text(document.id)
        for passage in library.document_passages(document.id):
            assert text[passage.start : passage.end] == passage.text
            if pages:
                page = next(p for p in pages if p.number == passage.first_page)
                assert page.start <= passage.start < page.end
    library.close()


def test_a_second_run_reads_and_encodes_nothing(box, folder):
    first = box.run(folder)
    again = box.run(folder)
    assert (again.skipped, again.encoded, again.documents) == (10, 0, 10)
    assert again.generation == first.generation


def test_a_touched_file_is_not_encoded_again(box, folder):
    box.run(folder)
    for path in folder.iterdir():
        os.utime(path, ns=(time.time_ns(), time.time_ns()))
    again = box.run()
    assert (again.skipped, again.encoded) == (10, 0)
    assert box.run().skipped == 10


def test_only_what_changed_is_encoded(box, folder):
    box.run(folder)
    path = folder / "bees-0000.txt"
    path.write_text(path.read_text() + "\n\nPart 3\n\nA wholly new paragraph about zebras and their stripes.\n")
    report = box.run()
    assert report.skipped == 9
    assert 1 <= report.encoded <= 2
    assert any("zebras" in text for _, text in box.texts())
    assert sum("code0000x" in text for _, text in box.texts()) == 1


def test_a_deleted_file_leaves_the_index(box, folder):
    box.run(folder)
    (folder / "bees-0000.txt").unlink()
    report = box.run()
    assert (report.documents, report.removed) == (9, 1)
    assert not any("code0000x" in text for _, text in box.texts())


def test_a_root_that_is_away_keeps_its_documents(box, folder):
    box.run(folder)
    folder.rename(folder.with_name("unplugged"))
    assert box.run().documents == 10
    assert len(box.texts()) >= 20
    folder.with_name("unplugged").rename(folder)
    assert box.run().skipped == 10


def test_bad_files_end_in_a_named_state_and_stop_nothing(box, folder):
    (folder / "empty.txt").write_bytes(b"")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\n" + os.urandom(3000))
    (folder / "program.txt").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(500))
    (folder / "link.txt").symlink_to("/nowhere/at/all")
    (folder / "loop").symlink_to(folder)
    report = box.run(folder)
    states = box.states()
    assert states["empty.txt"] is DocumentState.EMPTY
    assert states["broken.pdf"] is DocumentState.BROKEN
    assert states["program.txt"] is DocumentState.UNSUPPORTED
    assert {Path(f.path).name for f in report.failed} == {"empty.txt", "broken.pdf", "program.txt"}
    assert all(f.reason for f in report.failed)
    assert report.documents == 13
    again = box.run()
    assert (again.skipped, again.failed) == (13, ())
    retried = box.run(retry=True)
    assert (retried.skipped, len(retried.failed)) == (10, 3)


def test_a_file_without_permission_is_read_once_it_may_be(box, folder):
    if os.geteuid() == 0:
        pytest.skip("the superuser may read everything")
    path = folder / "bees-0000.txt"
    path.chmod(0)
    box.run(folder)
    assert box.states()[path.name] is DocumentState.DENIED
    path.chmod(0o644)
    box.run()
    assert box.states()[path.name] is DocumentState.READ


def test_a_missing_path_changes_nothing(box, folder):
    with pytest.raises(PathMissing):
        box.run(folder, folder / "nowhere")
    library = Library.open(box.folder)
    assert library.roots() == []
    library.close()


def test_a_collection_gives_a_document_a_line(box, tmp_path):
    lines = [f'{{"_id": "d{n}", "title": "Title {n}", "text": "The bees of hive {n} make honey."}}' for n in range(30)]
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(lines))
    assert box.run(path).documents == 30
    path.write_text("\n".join(lines[5:]))
    report = box.run()
    assert (report.documents, report.encoded) == (25, 0)
    library = Library.open(box.folder)
    assert {d.external_id for d in library.documents()} == {f"d{n}" for n in range(5, 30)}
    library.close()


def test_the_first_documents_are_found_while_others_are_read(box, tmp_path):
    make_folder(tmp_path / "many", 60, suffixes=("txt", "md"))
    seen = []

    def listen(event):
        if isinstance(event, Changed):
            with Snapshot.open(box.folder) as snapshot:
                seen.append((event.generation, snapshot.passage_count))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.ingest.indexing._FIRST_COMMIT_SECONDS", 0.0)
        patch.setattr("core.ingest.indexing._LONGEST_COMMIT_SECONDS", 0.0)
        patch.setattr("core.ingest.indexing.ENCODE_AT_ONCE", 16)
        report = box.run(tmp_path / "many", listener=listen)
    counts = [count for _, count in seen]
    assert len(seen) > 3
    assert counts == sorted(counts)
    assert 0 < counts[0] < counts[-1] == report.passages


def test_cancel_keeps_what_was_done_and_the_next_run_ends_it(box, tmp_path):
    make_folder(tmp_path / "many", 40, suffixes=("txt",))
    control = Control()

    def listen(event):
        if isinstance(event, Progress) and event.counts.get("files", 0) >= 10:
            control.cancel()

    with pytest.raises(Cancelled):
        box.run(tmp_path / "many", control=control, listener=listen)
    assert [t.name for t in threading.enumerate() if t.name == "reading"] == []
    part = len(box.states())
    assert 10 <= part < 40
    report = box.run()
    assert report.documents == 40
    assert len(box.texts()) == report.passages


def test_an_interrupted_index_is_completed(box, folder, monkeypatch):
    def fail(self):
        raise RuntimeError("killed here")

    monkeypatch.setattr("core.ingest.indexing.Indexer.flush", fail)
    with pytest.raises(RuntimeError):
        box.run(folder)
    monkeypatch.undo()
    assert generation.current(box.folder) is None
    report = box.run()
    assert len(box.texts()) == report.passages >= 20


def test_removal_is_complete_and_lasts(box, folder):
    box.run(folder)
    receipt = box.remove(folder / "bees-0000.txt")
    assert receipt.documents == 1
    assert receipt.passages >= 2
    assert set(receipt.channels.values()) == {0}
    assert not any("code0000x" in text for _, text in box.texts())
    assert box.run().documents == 9  # although the file still lies in the folder
    assert box.run(folder / "bees-0000.txt").documents == 10
    library = Library.open(box.folder)
    assert [root.path for root in library.roots()] == [str(folder)]
    library.close()
    with pytest.raises(NotFound):
        box.remove(folder / "nothing.txt")
    assert box.remove(folder).documents == 10
    assert box.texts() == []
    assert box.run().documents == 0


def test_the_same_content_elsewhere_is_not_encoded_again(box, folder):
    box.run(folder)
    (folder / "backup").mkdir()
    for path in [p for p in folder.iterdir() if p.is_file()]:
        shutil.copy(path, folder / "backup")
    report = box.run()
    assert (report.documents, report.skipped, report.encoded) == (20, 10, 0)
    assert len(box.texts()) == report.passages


def test_a_file_that_keeps_changing_is_named(box, folder):
    path = folder / "bees-0000.txt"
    stop = threading.Event()

    def write():
        while not stop.is_set():
            with path.open("a") as file:
                file.write("more\n")
            time.sleep(0.001)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        box.run(folder)
    finally:
        stop.set()
        writer.join()
    assert box.states()[path.name] is DocumentState.CHANGING
    box.run()
    assert box.states()[path.name] is DocumentState.READ


def test_two_jobs_cannot_write_at_once(tmp_library, folder, tiny_home):
    from core.worker.ingesting import ingest

    Library.create(tmp_library).close()
    with database.lock(tmp_library, "test"), pytest.raises(LibraryLocked):
        ingest(tmp_library, [folder], control=Control(), listener=lambda e: None)


def test_document_order_of_writing_does_not_matter_for_the_texts(box, folder, tmp_path, tiny_encoder):
    box.run(folder)
    other = Box(tmp_path / "other", tiny_encoder)
    for path in sorted(folder.iterdir(), reverse=True):
        other.run(path)
    assert other.texts() == box.texts()


def test_sections_are_made_the_same_each_time(tmp_path):
    import random

    parts = sections("bees", random.Random(1), 3)
    write_document(tmp_path / "a.txt", "A", parts)
    assert "code0003x" in (tmp_path / "a.txt").read_text()


def test_a_collection_with_broken_lines_and_names_that_cannot_be_stored(box, tmp_path):
    lines = [
        '{"_id": "1", "text": "The first bee."}', "{broken", '{"_id": "1", "text": "The same id."}', "[]",
        '{"_id": "\\ud800", "title": "a \\udfff", "text": "A lone \\ud800 surrogate."}',
        '{"_id": "n\\u0000l", "text": "A null \\u0000 in it."}', '{"_id": "9", "text": "The last bee."}',
    ]  # fmt: skip
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(lines))
    assert box.run(path).failed == ()
    found = " ".join(text for _, text in box.texts())
    assert "The last bee." in found
    assert "surrogate." in found


def test_a_library_among_its_documents_does_not_read_itself(tiny_encoder, folder):
    box = Box(folder, tiny_encoder)
    for _ in range(2):
        report = box.run(folder)
        assert (report.documents, report.failed) == (10, ())
    assert report.skipped == 10
