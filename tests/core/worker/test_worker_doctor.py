"""The doctor on copies, families, texts and the cache: what is wrong is named, and mended by the next scan at most."""

import shutil

import pytest

from core.worker import doctor
from tests.kept import Kept

BODY = "The bees of this hive make honey in summer, and the queen keeps the brood of the colony. " * 8


@pytest.fixture
def kept(tmp_library, tmp_path, tiny_encoder, monkeypatch):
    monkeypatch.setattr(doctor, "encoder_for", lambda library: tiny_encoder)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text(BODY)
    (docs / "c.txt").write_text(BODY + "One remark more.")
    shutil.copy(docs / "a.txt", docs / "b.txt")
    made = Kept(tmp_library, tiny_encoder)
    made.run(docs)
    return made


def wrong(kept, *, repair=False):
    findings = doctor.examine(kept.folder, repair=repair)
    return {f.check: f.repaired for f in findings if f.severity != "ok"}


COPY = "(SELECT id FROM document WHERE copy_of IS NOT NULL)"
OWNER = "(SELECT copy_of FROM document WHERE copy_of IS NOT NULL)"


@pytest.mark.parametrize(
    ("check", "damage"),
    [
        ("copies", f"UPDATE document SET hash = 'else' WHERE id = {COPY}"),
        ("copies", f"INSERT INTO document_text SELECT {COPY}, text, pages, blocks FROM document_text LIMIT 1"),
        ("texts", f"DELETE FROM document_text WHERE document_id = {OWNER}"),
        ("passage counts", f"DELETE FROM passage WHERE document_id = {OWNER}"),
        ("families", "DELETE FROM band WHERE band = 3"),
    ],
)
def test_what_does_not_fit_is_named_and_mended(kept, check, damage):
    before = kept.seen()
    assert wrong(kept) == {}
    kept.written(lambda db: db.execute(damage))
    assert check in wrong(kept)
    assert wrong(kept, repair=True)[check]
    assert set(wrong(kept)) <= {"files"}
    report = kept.run()
    assert report.encoded == 0 or check == "passage counts"
    assert wrong(kept) == {}
    assert kept.seen() == before


def test_folders_of_unknown_files_leave_the_cache(kept):
    folder = kept.folder / "cache" / "0123"
    folder.mkdir(parents=True)
    assert wrong(kept) == {"cache": False}
    assert wrong(kept, repair=True) == {"cache": True}
    assert not folder.exists()
