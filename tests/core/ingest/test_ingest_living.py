"""Folders as living things: rules of what to pass by, what is away, what is not here, what is not done yet."""

import os
import threading
import time

import pytest

from core.base.types import DocumentState
from core.ingest import cloud, reading
from core.ingest.ignore import Rules
from core.store import living
from core.store.database import transaction
from tests.kept import Kept


@pytest.fixture
def kept(tmp_library, tiny_encoder):
    return Kept(tmp_library, tiny_encoder)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "docs", "a.txt", "b.md", "old/c.txt", "old/keep/d.txt", "old/keep/e.log")
    return tmp_path / "docs"


def write(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"What {name} says: the bees of hive {len(name)} make honey.")


def names(kept):
    return set(kept.documents())


def test_ignore_files_count_for_their_folder_and_the_deepest_decides(kept, folder):
    kept.run(folder)
    assert names(kept) == {"a.txt", "b.md", "c.txt", "d.txt", "e.log"}
    (folder / ".whymatchignore").write_text("*.md\n/old/c.txt\n*.log\n")
    report = kept.run()
    assert names(kept) == {"a.txt", "d.txt"}
    assert report.removed == 3
    (folder / "old" / "keep" / ".whymatchignore").write_text("!*.log\n")
    kept.run()
    assert names(kept) == {"a.txt", "d.txt", "e.log"}
    (folder / ".whymatchignore").write_text("old/\n")
    kept.run()
    assert names(kept) == {"a.txt", "b.md"}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_ignore_files_may_come_from_any_editor(kept, folder, encoding):
    (folder / ".whymatchignore").write_bytes("old/\r\n*.md\r\n".encode(encoding))
    kept.run(folder)
    assert names(kept) == {"a.txt"}


def test_an_ignore_file_that_is_no_text_is_told(kept, folder):
    (folder / ".whymatchignore").write_bytes("old/\n".encode("utf-16-be"))
    assert [f.state for f in kept.run(folder).failed] == [DocumentState.BROKEN]


def test_defaults_can_be_taken_back_and_a_library_has_patterns_of_its_own(kept, folder):
    write(folder, ".notes/f.txt", "node_modules/g.txt", "~$a.txt", "Thumbs.db")
    kept.run(folder)
    assert names(kept) == {"a.txt", "b.md", "c.txt", "d.txt", "e.log"}
    (folder / ".whymatchignore").write_text("!.notes/\n")

    def own(db):
        with transaction(db):
            living.set_meta(db, living.IGNORE_KEY, "*.log\nold/c.txt\n")

    kept.written(own)
    kept.run()
    assert names(kept) == {"a.txt", "b.md", "d.txt", "f.txt"}


@pytest.mark.parametrize(
    ("name", "is_folder", "ignored"),
    [
        ("a.txt", False, False), (".git", True, True), ("x~", False, True), ("copy.part", False, True),
        ("part", False, False),
    ],
)  # fmt: skip
def test_defaults(name, is_folder, ignored):
    assert Rules().ignores(f"/d/{name}", name, is_folder=is_folder) is ignored


def test_links_in_circles_and_special_files_are_passed_by(kept, folder):
    (folder / "old" / "loop").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    (folder / "lost.txt").symlink_to(folder / "nowhere.txt")
    os.mkfifo(folder / "pipe.txt")
    report = kept.run(folder)
    assert (report.documents, report.failed) == (5, ())


def test_an_empty_mount_point_is_not_an_emptied_folder(kept, folder, tmp_path):
    kept.run(folder)
    folder.rename(tmp_path / "unplugged")
    folder.mkdir()  # what stays where a drive was mounted
    report = kept.run()
    assert report.away == (str(folder),)
    assert len(names(kept)) == 5
    assert kept.search("honey")
    folder.rmdir()
    assert kept.run().away == (str(folder),)
    (tmp_path / "unplugged").rename(folder)
    report = kept.run()
    assert (report.away, report.skipped, report.documents) == ((), 5, 5)


def test_an_emptied_folder_is_empty(kept, folder):
    kept.run(folder)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    report = kept.run()
    assert (report.away, report.removed, report.documents) == ((), 5, 0)


def test_a_drive_inside_a_folder_may_be_away(kept, folder):
    """Its mount point was noted when it was there; nothing can be mounted in a test, so the note is made here."""
    kept.run(folder)

    def note(db):
        with transaction(db):
            living.set_mounts(db, [str(folder / "old" / "keep")])

    kept.written(note)
    for path in (folder / "old" / "keep").iterdir():
        path.unlink()
    for _ in range(2):
        report = kept.run()
        assert report.away == (str(folder / "old" / "keep"),)
        assert names(kept) == {"a.txt", "b.md", "c.txt", "d.txt", "e.log"}
    write(folder, "old/keep/d.txt")
    report = kept.run()
    assert (report.away, report.removed) == ((), 1)


def test_a_single_file_that_was_deleted_is_gone(kept, folder):
    kept.run(folder / "a.txt")
    (folder / "a.txt").unlink()
    report = kept.run()
    assert (report.away, report.documents) == ((), 0)


def test_a_folder_that_cannot_be_listed_keeps_its_documents(kept, folder):
    if os.geteuid() == 0:
        pytest.skip("the superuser may list everything")
    kept.run(folder)
    (folder / "old").chmod(0)
    report = kept.run()
    (folder / "old").chmod(0o755)
    assert len(names(kept)) == 5
    assert [f.state for f in report.failed] == [DocumentState.DENIED]


def test_placeholders_are_listed_and_not_opened(kept, folder, monkeypatch):
    write(folder, ".far.txt.icloud", "there.pdf.nextcloud")
    report = kept.run(folder)
    found = kept.documents()
    assert found["far.txt"].state is found["there.pdf"].state is DocumentState.ONLINE_ONLY
    assert {f.state for f in report.failed} == {DocumentState.ONLINE_ONLY}
    assert kept.run().skipped == 7
    (folder / ".far.txt.icloud").unlink()
    write(folder, "far.txt")  # it was pulled in
    known = found["far.txt"].id
    kept.run()
    assert kept.documents()["far.txt"].state is DocumentState.READ
    assert kept.documents()["far.txt"].id == known
    (folder / "far.txt").unlink()
    write(folder, ".far.txt.icloud")  # and sent away again: what was read of it stays
    report = kept.run()
    assert kept.documents()["far.txt"].state is DocumentState.READ
    assert (report.removed, report.skipped) == (0, 7)


def test_what_the_system_says_of_placeholders():
    class Status:
        st_file_attributes = 0x400000 | 0x20
        st_flags = 0

    assert cloud.is_online_only(Status())
    Status.st_file_attributes = 0x20
    assert not cloud.is_online_only(Status())
    Status.st_flags = 0x40000000
    assert cloud.is_online_only(Status())
    assert cloud.real_name(".icloud") == ".icloud"
    assert cloud.real_name(".a b.pdf.icloud") == "a b.pdf"


def test_a_file_that_is_being_copied_is_read_when_it_is_whole(kept, folder, monkeypatch):
    monkeypatch.setattr(reading, "SETTLE_SECONDS", 0.6)
    whole = "The ship brings cargo to the harbour. " * 400 + "And the last word is zanzibar."
    path = folder / "copied.txt"
    path.write_text(whole[:200])

    def copy():
        for at in range(200, len(whole), 4000):
            time.sleep(0.1)
            with path.open("a") as file:
                file.write(whole[at : at + 4000])

    writer = threading.Thread(target=copy)
    writer.start()
    states = []
    kept.run(folder)
    states.append(kept.documents()["copied.txt"].state)
    writer.join()
    if states != [DocumentState.READ]:
        kept.run()
    assert kept.documents()["copied.txt"].characters == len(whole)


def test_an_edit_at_work_leaves_the_older_text_to_be_found(kept, folder, monkeypatch):
    kept.run(folder)
    monkeypatch.setattr(reading, "SETTLE_SECONDS", 1.5)  # longer than a busy machine lets the writer wait
    begun, stop = threading.Event(), threading.Event()

    def write_on():
        while not stop.is_set():
            with (folder / "a.txt").open("a") as file:
                file.write("more ")
            begun.set()
            time.sleep(0.001)

    writer = threading.Thread(target=write_on)
    writer.start()
    begun.wait()
    try:
        report = kept.run()
    finally:
        stop.set()
        writer.join()
    assert [f.state for f in report.failed] == [DocumentState.CHANGING]
    assert kept.documents()["a.txt"].state is DocumentState.READ
    assert kept.run().failed == ()
    assert kept.documents()["a.txt"].characters == len((folder / "a.txt").read_text().rstrip())
