"""Adapting as a job: one run at a time, its history, and the switch to what the gate accepted.

Training goes on beside reading and searching; the library's lock is taken for the switch alone. The folder
`jobs/adapt/NNNN/` of a run holds its plan (`run.json`) and what each stage left behind.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from core.base.errors import Cancelled, DiskFull, KnownError, LibraryLocked
from core.base.events import Control, Listener
from core.base.files import FileLock, read_json, write_json
from core.base.wire import from_plain, to_plain
from core.encode.encoder import Encoder
from core.encode.towers import queries_of
from core.index import generation
from core.models import adapted
from core.store import database, passages
from core.store.documents import now
from core.train.outcome import Outcome
from core.train.recipe_fields import Value
from core.train.recipe_fields import changed as with_changes
from core.train.recipes import Recipe, named
from core.worker import adapt_ending
from core.worker.adapt_writing import LocalWriter
from core.worker.finding import encoder_for

FOLDER = Path("jobs") / "adapt"
RUNNING, STOPPED, ACCEPTED, REFUSED = "running", "stopped", "accepted", "refused"
UNDECIDED, TAKEN_BACK, FAILED = "undecided", "taken-back", "failed"
_PLAN, GROUND = "run.json", "questions.json"


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. `present` names what served when it began (encoder, encoder of queries); `made` the accepted bundle;
    `previous` is the generation to take back to, 0 when there is none. `read` is what became of a reranker, None where
    none was tried, `headed` of token heads. `changes` are the fields of the recipe that the person set."""

    number: int
    recipe: str
    started: str
    state: str
    seconds: float = 0.0
    generation: int = 0
    previous: int = 0
    minutes: float | None = None
    reason: str = ""
    made: str = ""
    present: tuple[str, str] = ("", "")
    gate: dict[str, Any] | None = None
    read: dict[str, Any] | None = None
    headed: dict[str, Any] | None = None
    stages: tuple[dict[str, Any], ...] = ()
    up: tuple[dict[str, Any], ...] = ()
    down: tuple[dict[str, Any], ...] = field(default=())
    changes: dict[str, Any] = field(default_factory=dict)


def adapt(
    library: Path, recipe: str, minutes: float | None = None, changes: Mapping[str, Value] | None = None, *,
    control: Control, listener: Listener,
) -> dict[str, Any]:  # fmt: skip
    """Adapt the library's encoder by a recipe, or go on with the run of this recipe that was stopped.

    `changes` set fields of the recipe (`core.train.recipe_fields`); a run is gone on with by the same ones, or by none
    said. Accepted weights become a new generation; a refusal changes nothing. Returns the run as a plain dict.

    Raises:
        NotALibrary, ModelMissing, DiskFull
        LibraryLocked: another run is at work on this library.
        KnownError: there is no such recipe, it has no such field, or the library is too small.
        Cancelled: the run can go on.
    """
    database.require(library)
    chosen = with_changes(named(recipe), changes or {})
    with _alone(library):
        present = encoder_for(library)
        row = _begun(library, chosen, minutes, changes, present)
        chosen = with_changes(named(recipe), row.changes)
        started = time.monotonic()
        try:
            row = _run(library, row, chosen, present, control, listener)
        except (Cancelled, DiskFull, LibraryLocked):
            row = replace(row, state=STOPPED)
            raise
        except (KnownError, ValueError) as error:
            row = replace(row, state=FAILED, reason=getattr(error, "message", str(error)))
            _clear(library, row)
            raise
        finally:
            row = replace(row, seconds=round(row.seconds + time.monotonic() - started, 1))
            _write(library, row)
        _clear(library, row)
    return _told(row)


def history(library: Path) -> list[dict[str, Any]]:
    """All runs of a library, the oldest first; one that is in use no more is "taken-back"."""
    current = generation.current(library)
    serving = {current.encoder, current.queries, current.reranker} if current else set()
    rows = []
    for row in _living(library, _rows(library)):
        if row.state == ACCEPTED and row.made not in serving:
            row = replace(row, state=TAKEN_BACK)
        if row.state == RUNNING and _free(library):  # it was killed
            row = replace(row, state=STOPPED)
        rows.append(_told(row))
    return rows


def forget(library: Path) -> None:
    """Leave nothing in the runs' folders of passages that are gone: a run that was stopped begins anew.

    Raises:
        LibraryLocked: a run is at work.
    """
    if not (library / FOLDER).is_dir():
        return
    with _alone(library):
        for row in _living(library, _rows(library)):
            _write(library, row)
            _clear(library, row)


def _living(library: Path, rows: Sequence[RunRow]) -> list[RunRow]:
    """Without examples whose passage is gone."""
    shown = {int(one["passage"]) for row in rows for one in (*row.up, *row.down)}
    db = database.open_reader(library)
    try:
        there = passages.languages(db, sorted(shown)).keys()
    finally:
        db.conn.close()

    def kept(moved: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
        return tuple(one for one in moved if one["passage"] in there)

    return [replace(row, up=kept(row.up), down=kept(row.down)) for row in rows]


def _run(library: Path, row: RunRow, recipe: Recipe, present: Encoder, control: Control, listener: Listener) -> RunRow:
    folder = _folder(library, row.number)
    ending = adapt_ending.read(library, folder)
    if ending is None:
        outcome = _learnt(library, folder, row, recipe, present, control, listener)
        ending = adapt_ending.begin(library, folder, outcome)
    outcome = ending.outcome
    number = adapt_ending.take_over(library, ending, control, listener)
    taken, gate = adapt_ending.taken(ending), outcome.gate
    state = ACCEPTED if taken else REFUSED if gate.decided else UNDECIDED
    return replace(
        row, state=state, reason=adapt_ending.reason(ending), generation=number,
        previous=ending.before if number and number != ending.before else 0, made=taken, gate=to_plain(gate),
        read=to_plain(outcome.read) if outcome.read else None,
        headed=to_plain(outcome.headed) if outcome.headed else None, stages=tuple(to_plain(outcome.stages)),
        up=tuple(to_plain(outcome.up)), down=tuple(to_plain(outcome.down)),
    )  # fmt: skip


def _learnt(
    library: Path, folder: Path, row: RunRow, recipe: Recipe, present: Encoder, control: Control, listener: Listener
) -> Outcome:
    from core.train.adapt import Run
    from core.train.adapt import adapt as learn
    from core.train.loop import OtherTraining

    db = database.open_reader(library)
    try:
        run = Run(library, folder, recipe, row.minutes or recipe.minutes, control, listener)
        writer = LocalWriter(folder, recipe.writing, control, listener) if recipe.writing else None
        try:
            return learn(run, db, present, writer)
        except OtherTraining:  # what it learns from has changed under it: its questions stay, its stages begin anew
            _clear(library, row, but=GROUND)
            return learn(run, db, present, writer)
    finally:
        db.conn.close()


@contextmanager
def _alone(library: Path) -> Iterator[None]:
    lock = FileLock(library / adapted.LOCK, "adapt")
    try:
        lock.acquire()
    except LibraryLocked:
        raise LibraryLocked("This library is being adapted already.", "Wait until that is done, or stop it.") from None
    try:
        yield
    finally:
        lock.release()


def _free(library: Path) -> bool:
    try:
        with _alone(library):
            return True
    except LibraryLocked:
        return False


def _begun(
    library: Path, recipe: Recipe, minutes: float | None, changes: Mapping[str, Value] | None, present: Encoder
) -> RunRow:
    """The run to go on with, or a new one. What nobody can go on with is cleared away."""
    rows = _rows(library)
    serving = present.id, queries_of(present)
    resting = [row for row in rows if row.state in (RUNNING, STOPPED)]
    old = next((row for row in resting if row is rows[-1] and row.recipe == recipe.name), None)
    if old is not None and changes is not None and dict(changes) != old.changes:
        old = None  # the person wants another
    for row in resting:
        changed = row.present != serving and adapt_ending.read(library, _folder(library, row.number)) is None
        if row is not old or changed:  # another run was begun, or another encoder serves now
            _clear(library, row)
    if old is not None:
        row = replace(old, state=RUNNING, minutes=minutes)
        if adapt_ending.read(library, _folder(library, row.number)) is None:
            row = replace(row, present=serving)
    else:
        number = rows[-1].number + 1 if rows else 1
        row = RunRow(number, recipe.name, now(), RUNNING, minutes=minutes, present=serving, changes=dict(changes or {}))
    _write(library, row)
    return row


def _clear(library: Path, row: RunRow, but: str = "") -> None:
    """Checkpoints of a run that is over take room and serve nobody."""
    for path in _folder(library, row.number).iterdir():
        if path.name not in (_PLAN, but):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _rows(library: Path) -> list[RunRow]:
    """Those that can be read, the oldest first."""
    found = []
    for path in sorted((library / FOLDER).glob(f"*/{_PLAN}")):
        try:
            found.append(from_plain(RunRow, read_json(path)))
        except (OSError, ValueError, TypeError, KeyError):
            continue
    return found


def _write(library: Path, row: RunRow) -> None:
    write_json(_folder(library, row.number) / _PLAN, asdict(row))


def _folder(library: Path, number: int) -> Path:
    return library / FOLDER / f"{number:04d}"


def _told(row: RunRow) -> dict[str, Any]:
    told: dict[str, Any] = to_plain(row)
    return told
