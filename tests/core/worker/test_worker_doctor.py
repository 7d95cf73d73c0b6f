"""The doctor on copies, families, texts and the cache: what is wrong is named, and mended by the next scan at most."""

import shutil
from dataclasses import replace

import pytest

from core.base.events import Control, ignore
from core.index import generation
from core.index.snapshot import Snapshot
from core.text.analyze import ANALYSIS, query_terms
from core.worker import doctor, ingesting
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


def made_by_an_older_version(kept):
    """The index in use says so in its manifest; its words are gone, as if they had been other ones."""
    current = generation.current(kept.folder)
    generation.write(kept.folder, replace(current, analysis=ANALYSIS - 1))
    kept.written(lambda db: db.execute("UPDATE posting SET term = term || '_' WHERE channel = 'bm25'"))
    return current.number


@pytest.mark.parametrize("by_doctor", [True, False])
def test_words_of_an_older_version_are_made_anew_without_encoding(kept, by_doctor):
    before = kept.seen()
    number = made_by_an_older_version(kept)
    assert wrong(kept) == {"words": False}
    if by_doctor:
        assert wrong(kept, repair=True) == {"words": True}
    assert ingesting.ingest(kept.folder, [], encoder=kept.encoder, control=Control(), listener=ignore).encoded == 0
    made = generation.current(kept.folder)
    assert made.number > number
    assert made.analysis == ANALYSIS
    assert wrong(kept) == {}
    assert kept.seen() == before
    with Snapshot.open(kept.folder) as snapshot:
        assert len(snapshot.sparse("bm25", query_terms("honey", ["en"]), 5)[0]) == 2


def test_languages_that_the_encoder_was_not_made_for_are_told_of(kept, monkeypatch):
    """No fault of the library: nothing is to be mended."""

    def told():
        return next(f for f in doctor.examine(kept.folder) if f.check == "languages")

    monkeypatch.setattr(doctor, "languages", lambda *encoder: frozenset({"en"}))
    assert "not made for" not in told().detail
    kept.written(lambda db: db.execute("UPDATE passage SET language = 'is'"))
    assert "100% of the passages" in told().detail
    assert "not made for (is)" in told().detail
    assert wrong(kept) == {}
