"""The table of documents over a real library: paged, filtered, sorted, refreshed."""

from __future__ import annotations

from pathlib import Path

import pytest
from app_helpers import fill
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.models import documents as documents_model
from app.models.documents import NAME, PASSAGES, REASON, STATE, DocumentModel, DocumentRole
from app.models.states import PROBLEMS, READABLE, SKIPPED, WORDS
from core.base.types import DocumentState
from core.library import Library
from core.store import database

MANY = [
    (f"file {n:04d}.txt", "en", DocumentState.READ if n % 10 else DocumentState.BROKEN, "", 1, n) for n in range(1230)
]


@pytest.fixture
def library(tmp_path: Path):
    fill(tmp_path / "library", MANY)
    opened = Library.open(tmp_path / "library")
    yield opened
    opened.close()


@pytest.fixture
def model(qapp, library: Library) -> DocumentModel:
    made = DocumentModel(library)
    made.reload()
    return made


def names(model: DocumentModel, count: int = 3) -> list[str]:
    return [model.index(row, NAME).data() for row in range(count)]


def delete(library: Library, where: str) -> None:
    db = database.open_writer(library.folder)
    with database.transaction(db):
        db.execute(f"DELETE FROM document WHERE {where}")
    db.conn.close()


def test_every_state_has_words_and_exactly_one_place() -> None:
    assert set(WORDS) == set(DocumentState)
    for state in DocumentState:
        groups = [state in READABLE, state in PROBLEMS and state != DocumentState.TRUNCATED, state in SKIPPED]
        assert sum(groups) == (0 if state == DocumentState.WAITING else 1), state


def test_model_keeps_qt_rules(model: DocumentModel) -> None:
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    model.sort(PASSAGES, Qt.SortOrder.DescendingOrder)
    model.filter([DocumentState.BROKEN], "")
    model.refresh()
    assert tester is not None


def test_only_looked_at_pages_are_read(model: DocumentModel, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    real = model._library.documents
    monkeypatch.setattr(model._library, "documents", lambda **kw: read.append(kw["offset"]) or real(**kw))
    assert model.rowCount() == 1230
    assert names(model) == ["file 0000.txt", "file 0001.txt", "file 0002.txt"]
    assert model.index(1229, NAME).data() == "file 1229.txt"
    assert read == [0, 1200]


def test_memory_stays_bounded(model: DocumentModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_model, "_KEPT", 3)
    for row in range(0, 1230, 50):
        model.index(row, NAME).data()
    assert len(model._pages) <= 3


def test_sort_is_over_all_rows(model: DocumentModel) -> None:
    model.sort(PASSAGES, Qt.SortOrder.DescendingOrder)
    assert names(model) == ["file 1229.txt", "file 1228.txt", "file 1227.txt"]
    model.sort(NAME, Qt.SortOrder.DescendingOrder)
    assert names(model, 1) == ["file 1229.txt"]
    assert not model.sortable(REASON)


def test_filter_by_state_and_text(model: DocumentModel) -> None:
    counted: list[int] = []
    model.counted.connect(counted.append)
    model.filter([DocumentState.BROKEN], "")
    assert model.rowCount() == 123
    assert model.index(0, STATE).data() == "Damaged"
    model.filter([DocumentState.BROKEN], "file 01")
    assert model.rowCount() == 10
    model.filter([], "100%_")
    assert model.rowCount() == 0
    assert counted == [123, 10, 0]


def test_refresh_follows_the_library(model: DocumentModel, library: Library) -> None:
    resets: list[bool] = []
    model.modelReset.connect(lambda: resets.append(True))
    model.index(0, NAME).data()
    delete(library, "path LIKE '%file 0000%' OR path LIKE '%file 12%'")
    model.refresh()
    assert model.rowCount() == 1230 - 31
    assert names(model, 1) == ["file 0001.txt"]
    assert not resets  # the list keeps its place


def test_row_that_went_away_in_the_meantime_is_empty(model: DocumentModel, library: Library) -> None:
    delete(library, "path LIKE '%file 12%'")
    assert model.index(1229, NAME).data() is None
    assert model.index(1229, NAME).data(DocumentRole) is None
    assert model.data(QModelIndex()) is None


def test_screen_reader_hears_column_and_value(model: DocumentModel) -> None:
    assert model.index(0, STATE).data(Qt.ItemDataRole.AccessibleTextRole) == "State: Damaged"
