"""Opening libraries: fresh, foreign, newer, damaged; migrations are all or nothing."""

import sqlite3

import pytest

from core.base.errors import LibraryDamaged, LibraryTooNew, NotALibrary
from core.store import database, migrations
from core.store.database import transaction


def test_create_then_read(tmp_path):
    db = database.create(tmp_path)
    with transaction(db):
        db.execute("INSERT INTO meta VALUES ('a', 'b')")
    db.conn.close()
    reader = database.open_reader(tmp_path)
    assert reader.execute("SELECT value FROM meta").fetchone() == ("b",)
    with pytest.raises(sqlite3.OperationalError):
        reader.execute("INSERT INTO meta VALUES ('c', 'd')")
    reader.conn.close()


def test_a_folder_without_a_library(tmp_path):
    with pytest.raises(NotALibrary):
        database.open_reader(tmp_path)
    with pytest.raises(NotALibrary):
        database.open_writer(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_a_newer_library_is_refused_and_stays_as_it_is(tmp_path):
    db = database.create(tmp_path)
    with transaction(db):
        db.execute("INSERT INTO migration (name, applied) VALUES ('9999-future', 'x')")
    db.conn.close()
    for opening in (database.open_reader, database.open_writer, database.create):
        with pytest.raises(LibraryTooNew, match="newer version"):
            opening(tmp_path)


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / database.FILE).write_bytes(b"this is no database at all, but some text" * 100)
    with pytest.raises(LibraryDamaged):
        database.open_reader(tmp_path)


def test_a_transaction_is_all_or_nothing(tmp_path):
    db = database.create(tmp_path)

    def half():
        with transaction(db):
            db.execute("INSERT INTO meta VALUES ('a', 'b')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert db.execute("SELECT count(*) FROM meta").fetchone() == (0,)
    db.conn.close()


def test_a_failing_migration_leaves_the_schema_before_it(tmp_path, monkeypatch):
    database.create(tmp_path).conn.close()

    def half(db):
        db.execute("CREATE TABLE half (x)")
        db.execute("CREATE TABLE half (x)")

    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, ("0002-half", half)))
    with pytest.raises(sqlite3.OperationalError):
        database.create(tmp_path)
    monkeypatch.undo()
    db = database.create(tmp_path)
    assert "half" not in db.table_names()
    assert migrations.applied(db) == [name for name, _ in migrations.STEPS]
    db.conn.close()


def test_a_reader_brings_an_older_library_up_to_date(tmp_path, monkeypatch):
    database.create(tmp_path).conn.close()

    def more(db):
        db.execute("CREATE TABLE more (x)")

    steps = (*migrations.STEPS, ("0002-more", more))
    monkeypatch.setattr(migrations, "STEPS", steps)
    monkeypatch.setattr(database, "STEPS", steps)
    reader = database.open_reader(tmp_path)
    assert "more" in reader.table_names()
    reader.conn.close()


def test_a_transaction_that_sqlite_has_ended_itself_tells_why(tmp_path):
    db = database.create(tmp_path)
    with db.conn:
        db.execute("CREATE TABLE t (x INTEGER PRIMARY KEY)")
        db.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(sqlite3.IntegrityError), database.transaction(db):
        db.execute("INSERT OR ROLLBACK INTO t VALUES (1)")  # ends the transaction, as a full disk does
    assert db.execute("SELECT count(*) FROM t").fetchone()[0] == 1
    db.conn.close()
