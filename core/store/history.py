"""Conversations: questions asked and the answers given, kept in the library."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlite_utils import Database

from core.base.types import Answer
from core.base.wire import from_plain, to_plain
from core.store.documents import now


@dataclass(frozen=True, slots=True)
class Conversation:
    id: int
    title: str
    created: str
    changed: str


@dataclass(frozen=True, slots=True)
class StoredTurn:
    id: int
    question: str
    search_text: str
    answer: Answer
    asked: str


def conversations(db: Database, limit: int = 200) -> list[Conversation]:
    """The newest first."""
    rows = db.execute(
        "SELECT id, title, created, changed FROM conversation ORDER BY changed DESC, id DESC LIMIT ?", (limit,)
    ).fetchall()
    return [Conversation(*row) for row in rows]


def turns(db: Database, conversation_id: int) -> list[StoredTurn]:
    rows = db.execute(
        "SELECT id, question, search_text, answer, asked FROM turn WHERE conversation_id = ? ORDER BY id",
        (conversation_id,),
    ).fetchall()
    return [StoredTurn(r[0], r[1], r[2], from_plain(Answer, json.loads(r[3])), r[4]) for r in rows]


def add_turn(db: Database, conversation_id: int | None, search_text: str, answer: Answer) -> int:
    """Append a turn, starting a conversation when none is given. Returns the conversation's id."""
    moment = now()
    if conversation_id is None:
        title = answer.question.strip().replace("\n", " ")[:120]
        cursor = db.execute(
            "INSERT INTO conversation (title, created, changed) VALUES (?, ?, ?)", (title, moment, moment)
        )
        conversation_id = int(cursor.lastrowid or 0)
    db.execute(
        "INSERT INTO turn (conversation_id, question, search_text, answer, asked) VALUES (?, ?, ?, ?, ?)",
        (conversation_id, answer.question, search_text, json.dumps(to_plain(answer)), moment),
    )
    db.execute("UPDATE conversation SET changed = ? WHERE id = ?", (moment, conversation_id))
    return conversation_id


def delete_conversation(db: Database, conversation_id: int) -> None:
    db.execute("DELETE FROM conversation WHERE id = ?", (conversation_id,))
