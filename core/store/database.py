"""Opening a library's database, for one writer or for any number of readers."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import DiskFull, LibraryDamaged, LibraryLocked, LibraryTooNew, NoPermission, NotALibrary
from core.base.files import FileLock
from core.store.migrations import STEPS, applied, migrate

FILE = "library.db"
LOCK_FILE = "library.lock"
_LOW_SPACE = 4 << 20


def create(folder: Path) -> Database:
    """Open the database in `folder` for writing, made if it is not there, brought up to date if it is old.

    Raises:
        LibraryTooNew, LibraryDamaged, NoPermission, DiskFull, LibraryLocked
    """
    with known_errors(folder):
        db = _connect(folder / FILE, "rwc")
        _refuse_newer(db, folder)
        migrate(db)
        return db


def open_writer(folder: Path) -> Database:
    """Open an existing library for writing.

    Raises:
        NotALibrary: there is no library in `folder`; and all that `create` raises.
    """
    require(folder)
    return create(folder)


def lock(folder: Path, purpose: str) -> FileLock:
    """The lock that whoever changes the index or the documents of a library holds."""
    return FileLock(folder / LOCK_FILE, purpose)


def open_reader(folder: Path, *, any_thread: bool = False) -> Database:
    """Open read-only. Keep reads short: an open one keeps the write-ahead log from shrinking."""
    require(folder)
    with known_errors(folder):
        db = _connect(folder / FILE, "ro", any_thread=any_thread)
        _refuse_newer(db, folder)
        if len(applied(db)) < len(STEPS):  # an older library: bring it up to date once, then read
            db.conn.close()
            create(folder).conn.close()
            db = _connect(folder / FILE, "ro", any_thread=any_thread)
        return db


def require(folder: Path) -> None:
    if not (folder / FILE).is_file():
        raise NotALibrary(
            f"{folder} is not a Whymatch library.", "Choose a library folder, or add documents to make one."
        )


def _connect(path: Path, mode: str, *, any_thread: bool = False) -> Database:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=10.0, isolation_level=None,
        check_same_thread=not any_thread,
    )  # fmt: skip
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    if mode != "ro":
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    return Database(connection, recursive_triggers=False, strict=False)


def _refuse_newer(db: Database, folder: Path) -> None:
    known = {name for name, _ in STEPS}
    extra = [name for name in applied(db) if name not in known]
    if extra:
        db.conn.close()
        raise LibraryTooNew(
            f"The library in {folder} was made by a newer version of Whymatch.", "Update Whymatch, then open it again."
        )


@contextlib.contextmanager
def transaction(db: Database) -> Iterator[Database]:
    """One write transaction: all of it or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    try:
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def known_errors(folder: Path) -> Iterator[None]:
    """Turn what SQLite says into errors a person can act on."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "disk is full" in text or ("disk I/O" in text and _no_space(folder)):
            raise DiskFull(f"The disk with {folder} is full.", "Free some space, then try again.") from error
        if "locked" in text or "busy" in text:
            raise LibraryLocked(f"The library in {folder} is busy.", "Try again in a moment.") from error
        if "readonly" in text or "unable to open" in text:
            raise NoPermission(
                f"The library in {folder} cannot be opened.", "Check the rights of this folder."
            ) from error
        raise
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError):
            raise
        raise LibraryDamaged(
            f"The database of the library in {folder} is damaged ({error}).",
            "Restore it from a backup, or add the folders to a new library.",
        ) from error


def _no_space(folder: Path) -> bool:
    """SQLite reports a full disk as an I/O error when it meets it in the write-ahead log."""
    with contextlib.suppress(OSError):
        return shutil.disk_usage(folder).free < _LOW_SPACE
    return False
