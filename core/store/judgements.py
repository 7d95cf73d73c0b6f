"""What the person showed or said of passages: results opened, thumbs, pinned questions, and questions judged by hand.

A row names its passage by id and by the hash of what the encoder sees, so that it is found again when the document is
read anew and its passages get other ids. Where the words changed, too, it follows the passage of the same document
that holds most of them. It goes when no passage of the library says what it was made for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from core.store.documents import now
from core.store.living import meta, set_meta

OPENED, LIKED, DISLIKED, PINNED, JUDGED = "opened", "liked", "disliked", "pinned", "judged"
ANSWERS, PARTLY, NOT = 2, 1, 0  # gains of a judged passage
RECORD_KEY = "record-opened"
_OFF = "off"
_BATCH = 500
_RUN = 8  # characters: what two texts have in common is counted in runs of as many, in any script
_SAME = 0.5  # share of the shorter text's runs
_LIVING = (
    "coalesce((SELECT id FROM passage WHERE id = j.passage_id AND hash = j.hash), "
    "(SELECT min(id) FROM passage WHERE hash = j.hash))"
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """`passage_id` is that of the passage as it is now. `gain` is 2 (answers), 1 (in part) or 0 (does not)."""

    id: int
    kind: str
    question: str
    passage_id: int
    hash: str
    gain: int
    made: str


def put(db: Database, kind: str, question: str, passage_id: int, gain: int = ANSWERS) -> bool:
    """Record it in place of what was said of the same question and passage; call inside a transaction.

    A thumb up takes the place of one down, and the other way round. False when there is no such passage (any more) or
    no question.
    """
    question = " ".join(question.split())
    row = db.execute("SELECT hash FROM passage WHERE id = ?", (passage_id,)).fetchone()
    if row is None or not question:
        return False
    if kind in (LIKED, DISLIKED):
        take_back(db, LIKED if kind == DISLIKED else DISLIKED, question, passage_id)
    db.execute(
        "INSERT OR REPLACE INTO judgement (kind, question, passage_id, hash, gain, made) VALUES (?, ?, ?, ?, ?, ?)",
        (kind, question, passage_id, row[0], gain, now()),
    )
    return True


def take_back(db: Database, kind: str, question: str, passage_id: int) -> None:
    db.execute(
        "DELETE FROM judgement WHERE kind = ? AND question = ? AND hash = (SELECT hash FROM passage WHERE id = ?)",
        (kind, " ".join(question.split()), passage_id),
    )


def judge(db: Database, question: str, gains: Mapping[int, int]) -> int:
    """The gains of all passages looked at for a question, in place of earlier ones. Returns how many were kept."""
    db.execute("DELETE FROM judgement WHERE kind = ? AND question = ?", (JUDGED, " ".join(question.split())))
    return sum(put(db, JUDGED, question, passage_id, gain) for passage_id, gain in gains.items())


def delete(db: Database, ids: Iterable[int]) -> None:
    db.conn.executemany("DELETE FROM judgement WHERE id = ?", [(i,) for i in ids])


def delete_kind(db: Database, kind: str) -> int:
    """Returns how many there were."""
    return int(db.execute("DELETE FROM judgement WHERE kind = ?", (kind,)).rowcount)


def judgements(db: Database, kinds: Sequence[str] = ()) -> list[Judgement]:
    """What the library knows of these kinds (of all without any) whose passage is there, oldest first."""
    where = f"WHERE kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    rows = db.execute(
        f"SELECT id, kind, question, {_LIVING}, hash, gain, made FROM judgement j {where} ORDER BY id", tuple(kinds)
    ).fetchall()
    return [Judgement(*row) for row in rows if row[3] is not None]


def records_opened(db: Database) -> bool:
    """Whether opened results are recorded: yes, unless the person turned it off."""
    return meta(db, RECORD_KEY) != _OFF


def set_records_opened(db: Database, on: bool) -> None:
    set_meta(db, RECORD_KEY, "" if on else _OFF)


def follow(db: Database, document_id: int, gone: Sequence[int]) -> None:
    """The passages `gone` are about to be deleted, those in their place are stored: what was said of them goes over."""
    for passage_id in _said_of(db, gone):
        (before,) = db.execute("SELECT text FROM passage WHERE id = ?", (passage_id,)).fetchone()
        heir = _heir(db, document_id, before, set(gone))
        if heir is not None:
            db.execute("UPDATE OR REPLACE judgement SET passage_id = ?, hash = ? WHERE passage_id = ?",
                       (*heir, passage_id))  # fmt: skip


def _said_of(db: Database, ids: Sequence[int]) -> list[int]:
    found: list[int] = []
    for at in range(0, len(ids), _BATCH):
        part = tuple(ids[at : at + _BATCH])
        marks = ", ".join("?" * len(part))
        rows = db.execute(f"SELECT DISTINCT passage_id FROM judgement WHERE passage_id IN ({marks})", part).fetchall()
        found += [int(row[0]) for row in rows]
    return found


def _heir(db: Database, document_id: int, before: str, gone: set[int]) -> tuple[int, str] | None:
    rows = db.execute(
        "SELECT id, hash, text FROM passage WHERE document_id = ? ORDER BY ordinal", (document_id,)
    ).fetchall()
    runs = _runs(before)
    best: tuple[int, str] | None = None
    most = _SAME
    for passage_id, content, text in rows:
        other = _runs(text)
        share = len(runs & other) / min(len(runs), len(other))
        if passage_id not in gone and share > most:
            best, most = (int(passage_id), str(content)), share
    return best


def _runs(text: str) -> set[str]:
    plain = " ".join(text.casefold().split())
    return {plain[i : i + _RUN] for i in range(max(len(plain) - _RUN + 1, 1))}


def forget(db: Database, hashes: Iterable[str]) -> int:
    """Passages of these hashes were deleted: what was said of them goes, unless an equal one is left.

    Returns how many such rows are left (zero).
    """
    left = 0
    for content in set(hashes):
        if db.execute("SELECT 1 FROM passage WHERE hash = ?", (content,)).fetchone() is None:
            db.execute("DELETE FROM judgement WHERE hash = ?", (content,))
            left += int(db.execute("SELECT count(*) FROM judgement WHERE hash = ?", (content,)).fetchone()[0])
    return left


def drop_orphans(db: Database) -> int:
    """Delete what was said of passages that are no longer there. Returns how many rows that were."""
    return int(db.execute("DELETE FROM judgement WHERE hash NOT IN (SELECT hash FROM passage)").rowcount)
