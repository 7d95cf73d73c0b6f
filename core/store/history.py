"""Conversations: questions asked and the answers given, kept in the library.

The exchanges of a conversation are a tree: one that was edited or asked again stands beside the old one, below the
same exchange before it. `leaf` names the end of the branch that is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from core.base.errors import BadSetting, NotFound
from core.base.types import Answer
from core.store import turns as rows
from core.store.documents import now
from core.store.forgetting import REMOVED_SENTENCE as REMOVED_SENTENCE
from core.store.forgetting import REMOVED_TITLE as REMOVED_TITLE
from core.store.forgetting import Replacement as Replacement
from core.store.forgetting import citations, purged, purges, without
from core.store.forgetting import forget as forget
from core.store.forgetting import purge as purge
from core.store.forgetting import quoting as quoting
from core.store.turns import COLUMNS, StoredTurn

LONGEST_TITLE = 120  # characters
_COLUMNS = "id, title, created, changed, pinned"
_KEPT = {
    "conversation": ("id", "title", "created", "changed", "pinned", "leaf"),
    "turn": ("id", "conversation_id", "parent", "question", "search_text", "answer", "asked", "words"),
}


class Last:
    """The place after all that is shown of a conversation."""


LAST = Last()


@dataclass(frozen=True, slots=True)
class Conversation:
    id: int
    title: str
    created: str
    changed: str
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deleted conversation was, to bring it back: rows by table. `purges`: how many there had been then."""

    rows: dict[str, list[tuple[Any, ...]]]
    purges: int = 0


def conversations(db: Database, limit: int = 200) -> list[Conversation]:
    """The pinned ones first, then the newest."""
    found = db.execute(
        f"SELECT {_COLUMNS} FROM conversation ORDER BY pinned DESC, changed DESC, id DESC LIMIT ?", (limit,)
    ).fetchall()
    return [_conversation(row) for row in found]


def conversation(db: Database, conversation_id: int) -> Conversation:
    """Raises NotFound."""
    row = db.execute(f"SELECT {_COLUMNS} FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
    if row is None:
        raise _not_found(conversation_id)
    return _conversation(row)


def turns(db: Database, conversation_id: int) -> list[StoredTurn]:
    """The branch that is shown, from its first exchange on; nothing of a conversation that is gone."""
    parents = _parents(db, conversation_id)
    return _read(db, conversation_id, parents, _leaf(db, conversation_id, parents) if parents else None)


def turns_before(db: Database, turn_id: int) -> list[StoredTurn]:
    """What was asked and answered before this exchange, on its own branch. Raises NotFound."""
    _, conversation_id = turn(db, turn_id)
    parents = _parents(db, conversation_id)
    return _read(db, conversation_id, parents, parents[turn_id])


def _read(db: Database, conversation_id: int, parents: dict[int, int | None], leaf: int | None) -> list[StoredTurn]:
    path = _path(parents, leaf)
    found = db.execute(f"SELECT {COLUMNS} FROM turn WHERE conversation_id = ?", (conversation_id,)).fetchall()
    by_id = {row[0]: row for row in found}
    return [rows.read(by_id[turn], _beside(parents, turn)) for turn in path]


def turn(db: Database, turn_id: int) -> tuple[StoredTurn, int]:
    """An exchange, on whichever branch, and its conversation. Raises NotFound."""
    row = db.execute(f"SELECT {COLUMNS}, conversation_id FROM turn WHERE id = ?", (turn_id,)).fetchone()
    if row is None:
        raise NotFound(f"Exchange {turn_id} is not in this library.", "Its conversation may have been deleted.")
    return rows.read(row[:5], _beside(_parents(db, row[5]), turn_id)), int(row[5])


def add_turn(
    db: Database, conversation_id: int | None, search_text: str, answer: Answer, after: int | Last | None = LAST
) -> int:
    """Store an exchange, starting a conversation when none is given or it was deleted. Returns the conversation's id.

    It follows the exchange `after` (None: it is a first one), by default the end of the branch that is shown, and is
    itself the end of the branch that is shown from now on.
    """
    moment = now()
    if conversation_id is None or not _exists(db, conversation_id):
        title = answer.question.strip().replace("\n", " ")[:LONGEST_TITLE]
        cursor = db.execute(
            "INSERT INTO conversation (title, created, changed) VALUES (?, ?, ?)", (title, moment, moment)
        )
        conversation_id, parents = int(cursor.lastrowid or 0), {}
    else:
        parents = _parents(db, conversation_id)
    parent = _leaf(db, conversation_id, parents) if isinstance(after, Last) else after
    if parent is not None and parent not in parents:
        parent = None  # what it followed was deleted meanwhile
    made = rows.insert(db, conversation_id, parent, search_text, answer, moment)
    db.execute("UPDATE conversation SET changed = ?, leaf = ? WHERE id = ?", (moment, made, conversation_id))
    return conversation_id


def show_branch(db: Database, turn_id: int) -> int:
    """Show the branch of this exchange, up to what was asked last on it. Returns the conversation. Raises NotFound."""
    _, conversation_id = turn(db, turn_id)
    parents = _parents(db, conversation_id)
    end: int = turn_id
    while (below := [one for one, parent in parents.items() if parent == end]) != []:
        end = max(below)
    db.execute("UPDATE conversation SET leaf = ? WHERE id = ?", (end, conversation_id))
    return conversation_id


def rename(db: Database, conversation_id: int, title: str) -> str:
    """Give a conversation another title. Returns the one before. Raises NotFound, BadSetting."""
    before, wanted = conversation(db, conversation_id).title, " ".join(title.split())[:LONGEST_TITLE]
    if not wanted:
        raise BadSetting("A conversation needs a title.", "Type one.")
    db.execute("UPDATE conversation SET title = ? WHERE id = ?", (wanted, conversation_id))
    return before


def pin(db: Database, conversation_id: int, on: bool) -> None:
    """Keep a conversation at the top of the list, or no longer. Raises NotFound."""
    conversation(db, conversation_id)
    db.execute("UPDATE conversation SET pinned = ? WHERE id = ?", (int(on), conversation_id))


def delete_conversation(db: Database, conversation_id: int) -> Deleted:
    """Delete a conversation with all its branches. Returns what brings it back, as long as somebody keeps it."""
    taken = Deleted({table: _rows(db, table, conversation_id) for table in _KEPT}, purges(db))
    # a chain of exchanges is longer than SQLite follows by itself
    db.execute("UPDATE turn SET parent = NULL WHERE conversation_id = ?", (conversation_id,))
    db.execute("DELETE FROM conversation WHERE id = ?", (conversation_id,))
    return taken


def restore_conversation(db: Database, deleted: Deleted) -> None:
    """Bring a deleted conversation back as it was. Documents that went meanwhile are quoted no longer, and what a
    purge took meanwhile stays gone."""
    for table, names in _KEPT.items():
        marks = ", ".join("?" * len(names))
        statement = f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})"
        db.conn.executemany(statement, deleted.rows[table])
    for row in deleted.rows["turn"]:
        answer = rows.revive(row[5])
        gone = {c.document_id: None for c in citations(answer) if not _is_there(db, c.document_id)}
        left = without(answer, gone) if gone else answer
        if purges(db) != deleted.purges:
            left = purged(db, left)
        if left != answer:
            rows.put(db, row[0], left)


def _rows(db: Database, table: str, conversation_id: int) -> list[tuple[Any, ...]]:
    key = "id" if table == "conversation" else "conversation_id"
    statement = f"SELECT {', '.join(_KEPT[table])} FROM {table} WHERE {key} = ? ORDER BY id"
    return [tuple(row) for row in db.execute(statement, (conversation_id,)).fetchall()]


def _is_there(db: Database, document_id: int) -> bool:
    return document_id == 0 or db.execute("SELECT 1 FROM document WHERE id = ?", (document_id,)).fetchone() is not None


def _exists(db: Database, conversation_id: int) -> bool:
    return db.execute("SELECT 1 FROM conversation WHERE id = ?", (conversation_id,)).fetchone() is not None


def _conversation(row: tuple[int, str, str, str, int]) -> Conversation:
    return Conversation(*row[:4], pinned=bool(row[4]))


def _not_found(conversation_id: int) -> NotFound:
    return NotFound(f"Conversation {conversation_id} is not in this library.", "It may have been deleted.")


def _parents(db: Database, conversation_id: int) -> dict[int, int | None]:
    """Each exchange of a conversation with the one that it follows, by id."""
    found = db.execute(
        "SELECT id, parent FROM turn WHERE conversation_id = ? ORDER BY id", (conversation_id,)
    ).fetchall()
    return dict(found)


def _leaf(db: Database, conversation_id: int, parents: dict[int, int | None]) -> int | None:
    row = db.execute("SELECT leaf FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
    if row is None:
        raise _not_found(conversation_id)
    return row[0] if row[0] in parents else max(parents, default=None)


def _path(parents: dict[int, int | None], leaf: int | None) -> list[int]:
    path: list[int] = []
    while leaf is not None:
        path.append(leaf)
        leaf = parents.get(leaf)
    return path[::-1]


def _beside(parents: dict[int, int | None], turn_id: int) -> tuple[int, ...]:
    return tuple(one for one, parent in parents.items() if parent == parents[turn_id])
