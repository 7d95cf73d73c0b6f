"""The report on what was read: totals, and a file that a spreadsheet opens."""

import csv

import pytest

from core.base.errors import KnownError
from core.base.types import DocumentState, Page, ReadDocument
from core.library import Library
from core.store import database, documents
from core.store.database import transaction


@pytest.fixture
def library(tmp_path):
    Library.create(tmp_path / "lib").close()
    db = database.open_writer(tmp_path / "lib")
    pages = (Page(1, 0, 4), Page(2, 4, 8))
    read = ReadDocument("textmore", pages, title="=1+1", ocr_pages=(2,), warnings=("Page 2 was odd.",), reader="pdf")
    locked = ReadDocument("", state=DocumentState.LOCKED, reason="It needs a password.")
    with transaction(db):
        root = documents.add_root(db, "/d", True)
        for name, document in (("b.pdf", read), ("ä.pdf", locked)):
            file_id = documents.put_file(db, root, f"/d/{name}", 8, 1, name)
            documents.put_document(db, file_id, f"/d/{name}", name, document, language="en", size=8)
            documents.finish_file(db, file_id, document.state, document.reason, 0.25)
    db.conn.close()
    opened = Library.open(tmp_path / "lib")
    yield opened
    opened.close()


def test_totals_count_pages_and_states(library):
    found = library.coverage()
    assert (found.documents, found.pages, found.ocr_pages, found.characters, found.warnings) == (2, 2, 1, 8, 1)
    assert found.states == {"locked": 1, "read": 1}


def test_the_report_has_a_line_a_document_and_no_formulas(library, tmp_path):
    target = tmp_path / "report.csv"
    assert library.write_report(target) == 2
    assert target.read_bytes().startswith(b"\xef\xbb\xbf")
    with target.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["path"] for row in rows] == ["/d/b.pdf", "/d/ä.pdf"]
    assert rows[0]["title"] == "'=1+1"
    assert (rows[0]["pages"], rows[0]["pages_by_ocr"], rows[0]["seconds"]) == ("2", "1", "0.25")
    assert rows[0]["warnings"] == "Page 2 was odd."
    assert (rows[1]["state"], rows[1]["reason"]) == ("locked", "It needs a password.")


def test_a_report_that_cannot_be_written_says_so(library, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(KnownError):
        library.write_report(tmp_path / "file" / "report.csv")
