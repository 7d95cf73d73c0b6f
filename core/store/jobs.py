"""The record of jobs: what ran, how it ended. A job found `running` at a start was cut off."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from core.store.documents import now

RUNNING, DONE, FAILED, CANCELLED, INTERRUPTED = "running", "done", "failed", "cancelled", "interrupted"


@dataclass(frozen=True, slots=True)
class JobRow:
    id: int
    kind: str
    arguments: dict[str, Any]
    state: str
    started: str
    ended: str
    outcome: dict[str, Any]


def start(db: Database, kind: str, arguments: dict[str, Any]) -> int:
    """Record a job that begins now; jobs still marked running had no end of their own."""
    db.execute("UPDATE job SET state = ?, ended = ? WHERE state = ?", (INTERRUPTED, now(), RUNNING))
    cursor = db.execute(
        "INSERT INTO job (kind, arguments, state, started) VALUES (?, ?, ?, ?)",
        (kind, json.dumps(arguments), RUNNING, now()),
    )
    return int(cursor.lastrowid or 0)


def end(db: Database, job_id: int, state: str, outcome: dict[str, Any]) -> None:
    db.execute(
        "UPDATE job SET state = ?, ended = ?, outcome = ? WHERE id = ?", (state, now(), json.dumps(outcome), job_id)
    )


def recent(db: Database, limit: int = 50) -> list[JobRow]:
    rows = db.execute(
        "SELECT id, kind, arguments, state, started, ended, outcome FROM job ORDER BY id DESC LIMIT ?", (limit,)
    ).fetchall()
    return [JobRow(r[0], r[1], json.loads(r[2]), r[3], r[4], r[5], json.loads(r[6])) for r in rows]


def interrupted(db: Database) -> JobRow | None:
    """The newest job, if it was cut off: the one to resume."""
    newest = recent(db, 1)
    return newest[0] if newest and newest[0].state in (RUNNING, INTERRUPTED) else None


def forget_paths(db: Database, known: Callable[[str], bool]) -> None:
    """Take the paths that are not `known`, and messages that may name one, out of the records of jobs."""
    rows = db.execute("SELECT id, arguments, outcome FROM job").fetchall()
    for job_id, arguments, outcome in rows:
        given, told = json.loads(arguments), json.loads(outcome)
        if "paths" in given:
            given["paths"] = [path for path in given["paths"] if known(path)]
        told.pop("message", None)
        for name in ("failed", "away"):
            if name in told:
                told[name] = [one for one in told[name] if known(_path_of(one))]
        db.execute("UPDATE job SET arguments = ?, outcome = ? WHERE id = ?", (*map(json.dumps, (given, told)), job_id))


def _path_of(entry: str | dict[str, str]) -> str:
    return entry["path"] if isinstance(entry, dict) else entry
