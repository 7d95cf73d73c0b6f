"""Is the library whole? Each check says what it found; with `repair` it mends what can be mended."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import IndexDamaged, KnownError, LibraryLocked, NoPermission
from core.base.types import Finding
from core.encode.encoder import input_text
from core.encode.load import languages
from core.index import generation
from core.index.check import check as check_index
from core.index.writer import rebuild
from core.ingest.indexing import Indexer
from core.library import Library
from core.models import adapted
from core.models.bundles import RERANKER, find, verify
from core.search import foreign
from core.store import database, passages
from core.store.database import explained
from core.worker import documents_check
from core.worker.finding import encoder_for

_OF_THE_INDEX = frozenset(
    {
        "index manifest",
        "dense files",
        "token files",
        "segments",
        "concept codes",
        "words",
        "indexed passages",
        "waiting passages",
        "vectors",
        "learned weights",
        "index leftovers",
        "passage counts",
    }
)

_MANY_STRANGE = 0.05  # of the passages: fewer are mostly names and tables whose language was told wrongly


def examine(library: Path, *, repair: bool = False) -> list[Finding]:
    """All findings; an untouched library gives only such of severity `ok`.

    Raises:
        NotALibrary, LibraryTooNew, LibraryLocked (with `repair`)
    """
    database.require(library)
    if not repair:
        db = database.open_reader(library)
        try:
            return [*_checks(library, db), _jobs(library)]
        finally:
            db.conn.close()
    jobs = _jobs(library)
    with database.lock(library, "doctor"):
        db = database.open_writer(library)
        try:
            before = _checks(library, db)
            if all(f.severity == "ok" for f in before) or before[0].severity != "ok":
                return [*before, jobs]
            return [*_repaired(library, db, before), jobs]
        finally:
            db.conn.close()


def _checks(library: Path, db: Database) -> list[Finding]:
    """Of a damaged database nothing more can be said: what it holds is not to be trusted."""
    state = _database(db)
    if state.severity != "ok":
        return [state]
    return [
        state,
        *documents_check.check(library, db),
        _languages(library, db),
        _concepts(library),
        _encoders(library),
        _reranker(library),
        *check_index(library, db),
    ]


def _database(db: Database) -> Finding:
    try:
        problems = [row[0] for row in db.execute("PRAGMA quick_check").fetchall() if row[0] != "ok"]
        problems += [
            f"{row[0]} row {row[1]} points to nothing" for row in db.execute("PRAGMA foreign_key_check").fetchall()
        ]
    except sqlite3.DatabaseError as error:
        known = explained(error)
        if known is None:
            raise
        return Finding("database", "error", str(known))
    if problems:
        return Finding("database", "error", "; ".join(problems[:5]))
    return Finding("database", "ok", "The database is consistent.")


def _languages(library: Path, db: Database) -> Finding:
    """Whether the encoder was made for the languages of the passages: no fault of the library, so always `ok`."""
    with contextlib.suppress(IndexDamaged):
        current = generation.current(library)
        counts = passages.languages_counted(db)
        spoken = languages(current.encoder, adapted.folder(library)) if current else frozenset()
        unknown = foreign.strange(spoken, list(counts))
        share = sum(counts[code] for code in unknown) / max(sum(counts.values()), 1)
        if current and share > _MANY_STRANGE:
            return Finding(
                "languages", "ok", f"{share:.0%} of the passages are in languages that {current.encoder} was not made "
                f"for ({', '.join(sorted(unknown))}): their words count more than their meaning. An encoder of many "
                "languages serves them better: see `whymatch models list` and `whymatch reencode`.",
            )  # fmt: skip
    return Finding("languages", "ok", "The encoder was made for them, or does not say for which it was.")


def _concepts(library: Path) -> Finding:
    from core.index.concept_model import ConceptModel

    try:
        current = generation.current(library)
        if current is None or not current.concepts:
            return Finding("concepts", "ok", "There are none yet.")
        ConceptModel.load(library / "models" / current.concepts, verify=True)
    except IndexDamaged:
        return Finding("concepts", "warning", "Which ones are in use is not known: the index is damaged.")
    except (KnownError, OSError, ValueError) as error:
        return Finding("concepts", "error", f"The concept model cannot be loaded: {error}")
    return Finding("concepts", "ok", f"{current.concepts} is whole.")


def _encoders(library: Path) -> Finding:
    """Whether the encoders that were adapted to the library are whole: installed ones are the app's affair."""
    named = {id for g in generation.history(library) for id in (g.encoder, g.queries)}
    own = {id for id in named if adapted.is_adapted(id)}
    try:
        for name in sorted(own):
            verify(find(name, adapted.folder(library)))
    except KnownError as error:
        way = "Use another one: `whymatch rollback` or `whymatch reencode`."
        return Finding("encoder", "error", f"{error.message} {way}")
    return Finding("encoder", "ok", f"Its own ones are whole: {', '.join(sorted(own)) or 'there are none'}.")


def _reranker(library: Path) -> Finding:
    """Whether what reads the best hits closely is whole, the library's own or an installed one; search does without."""
    name = ""
    try:
        current = generation.current(library)
        name = current.reranker if current else ""
        if not name:
            return Finding("reranker", "ok", "There is none.")
        bundle = find(name, adapted.folder(library))
        verify(bundle)
    except IndexDamaged:
        return Finding("reranker", "warning", "Which one is in use is not known: the index is damaged.")
    except (KnownError, OSError) as error:
        return _lost_reranker(name, error.message if isinstance(error, KnownError) else f"{name}: {error}.")
    if bundle.kind != RERANKER:
        return _lost_reranker(name, f"{name} is no reranker but of the kind {bundle.kind}.")
    return Finding("reranker", "ok", f"{name} is whole.")


def _lost_reranker(name: str, what: str) -> Finding:
    again = f"Install it again (`whymatch models add {name}`)"
    again = "Learn again (`whymatch adapt`)" if adapted.is_adapted(name) else again
    way = f"The best hits are not read closely now. {again}, or go back: `whymatch rollback`."
    return Finding("reranker", "warning", f"{what} {way}")


def _jobs(library: Path) -> Finding:
    reader = Library.open(library)
    try:
        cut_off = reader.interrupted_job()
    finally:
        reader.close()
    if cut_off is None:
        return Finding("jobs", "ok", "The last job came to its end.")
    try:
        with database.lock(library, "doctor"):
            pass
    except LibraryLocked:
        return Finding("jobs", "ok", "A job is running.")
    except NoPermission:  # a library that may only be read: nothing runs here
        pass
    way = "start `whymatch reencode` again" if cut_off.kind == "reencode" else "the next ingest resumes it"
    return Finding("jobs", "warning", f"The last job was cut off; {way}.")


def _repaired(library: Path, db: Database, before: list[Finding]) -> list[Finding]:
    wrong = {f.check for f in before if f.severity != "ok"}
    documents_check.repair(library, db, wrong)
    if wrong & _OF_THE_INDEX:
        rebuild(library, db, encoder_for(library), input_text)
    if any(f.check == "concepts" and f.severity == "error" for f in before):
        _drop_concepts(library, db)
    after = {f.check: f for f in _checks(library, db)}
    return [
        Finding(f.check, f.severity, f.detail, f.severity != "ok" and after[f.check].severity == "ok") for f in before
    ]


def _drop_concepts(library: Path, db: Database) -> None:
    """A broken concept model is only a view of the vectors: without it the next ingest fits a new one."""
    from core.base.events import Control, ignore

    Indexer(library, db, encoder_for(library), Control(), ignore).commit(concepts="")
