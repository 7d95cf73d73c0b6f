"""Opening a library's database, for one writer or for any number of readers."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import (
    DiskFull,
    KnownError,
    LibraryDamaged,
    LibraryLocked,
    LibraryTooNew,
    NoPermission,
    NotALibrary,
    from_os_error,
)
from core.base.files import FileLock
from core.store.migrations import STEPS, applied, migrate

FILE = "library.db"
LOCK_FILE = "library.lock"
_LOW_SPACE = 4 << 20
_CACHE_KB = 64 << 10  # of a writer: indexes are written at random places
_LOG_PAGES = 8_000  # of the write-ahead log before it is brought into the database: 32 MB
_BUGS = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.NotSupportedError, sqlite3.DataError)


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


def folder_of(db: Database) -> Path:
    """The folder of the library that this connection is open on."""
    return Path(db.execute("PRAGMA database_list").fetchone()[2]).parent


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
        connection.execute(f"PRAGMA cache_size = {-_CACHE_KB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
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
        db.execute("COMMIT")
    except BaseException:
        if db.conn.in_transaction:  # a full disk has ended it already
            db.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def known_errors(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the file system say into errors a person can act on."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        known = explained(error, folder)
        if known is None:
            raise
        raise known from error


def explained(error: OSError | sqlite3.Error, folder: Path | None = None) -> KnownError | None:
    """What `error` says of the library in `folder` or of a file; None when it is a bug of ours."""
    where = f" in {folder}" if folder else ""
    if isinstance(error, BrokenPipeError):  # of whoever listens to the work
        return None
    if isinstance(error, OSError):
        return from_os_error(error, error.filename or folder or "A file")
    if isinstance(error, sqlite3.OperationalError):
        return _of_operation(str(error), where, folder)
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, _BUGS):
        return LibraryDamaged(
            f"The database of the library{where} is damaged ({error}).",
            "Restore it from a backup, or add the folders to a new library.",
        )
    return None


def _of_operation(text: str, where: str, folder: Path | None) -> KnownError | None:
    if "disk is full" in text or ("disk I/O" in text and _no_space(folder)):
        return DiskFull(f"The disk with the library{where} is full.", "Free some space, then try again.")
    if "locked" in text or "busy" in text:
        return LibraryLocked(f"The library{where} is busy.", "Try again in a moment.")
    if "readonly" in text or "unable to open" in text:
        return NoPermission(f"The library{where} cannot be opened.", "Check the rights of this folder.")
    if "disk I/O" in text:
        return KnownError(f"The disk with the library{where} does not work as it should.", "Check the disk.")
    return None


def _no_space(folder: Path | None) -> bool:
    """SQLite reports a full disk as an I/O error when it meets it in the write-ahead log."""
    with contextlib.suppress(OSError):
        return folder is not None and shutil.disk_usage(folder).free < _LOW_SPACE
    return False
