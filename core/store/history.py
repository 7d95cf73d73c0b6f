"""Conversations: questions asked and the answers given, kept in the library."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from sqlite_utils import Database

from core.base.types import Answer, Citation
from core.base.wire import from_plain, to_plain
from core.store.documents import now

REMOVED_TITLE = "Removed document"
REMOVED_SENTENCE = "(What stood here came from a document that was removed.)"
Replacement = tuple[int, str, str]  # document id, path, external id
_DOCUMENT_ID = re.compile(r'"document_id": (\d+)')  # as an answer is stored


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


def forget(db: Database, gone: Mapping[int, Replacement | None]) -> None:
    """Take the quotes of deleted documents out of all answers. Where an equal document is left, it is cited instead.

    `gone` maps ids of deleted documents to that equal one.
    """
    for turn_id, answer in _citing(db, gone):
        _put(db, turn_id, _each_citation(answer, lambda c: _without(c, gone)))


def quoting(db: Database, gone: Collection[int]) -> int:
    """How many citations of these documents are left."""
    return sum(c.document_id in gone for _, answer in _citing(db, gone) for c in _citations(answer))


def purge(db: Database) -> int:
    """Replace the sentences that rest on deleted documents alone. Returns how many conversations were changed.

    The person's own questions stay; stand-alone questions made with the help of earlier answers do not.
    """
    changed = set()
    for turn_id, conversation_id, plain in db.execute("SELECT id, conversation_id, answer FROM turn").fetchall():
        answer = from_plain(Answer, json.loads(plain))
        if any(_is_removed(c) for c in _citations(answer)):
            _put(db, turn_id, _neutral(answer))
            changed.add(conversation_id)
    db.conn.executemany("UPDATE turn SET search_text = question WHERE conversation_id = ?", ((c,) for c in changed))
    return len(changed)


def _citing(db: Database, gone: Collection[int]) -> list[tuple[int, Answer]]:
    """The turns with a citation of these documents."""
    found = []
    for turn_id, plain in db.execute("SELECT id, answer FROM turn").fetchall():
        cited = {int(number) for number in _DOCUMENT_ID.findall(plain)}
        if not cited.isdisjoint(gone):
            found.append((int(turn_id), from_plain(Answer, json.loads(plain))))
    return found


def _citations(answer: Answer) -> list[Citation]:
    return [*(c for s in answer.sentences for c in s.citations), *answer.near_misses]


def _each_citation(answer: Answer, change: Callable[[Citation], Citation]) -> Answer:
    sentences = tuple(replace(s, citations=tuple(map(change, s.citations))) for s in answer.sentences)
    return replace(answer, sentences=sentences, near_misses=tuple(map(change, answer.near_misses)))


def _without(citation: Citation, gone: Mapping[int, Replacement | None]) -> Citation:
    if citation.document_id not in gone:
        return citation
    other = gone[citation.document_id]
    if other is not None:
        return replace(citation, document_id=other[0], document=other[1], external_id=other[2])
    return Citation(citation.marker, 0, 0, "", REMOVED_TITLE, "", None, 0, 0, "")


def _is_removed(citation: Citation) -> bool:
    return citation.document_id == 0


def _neutral(answer: Answer) -> Answer:
    text, sentences = answer.text, []
    for sentence in answer.sentences:
        if all(_is_removed(c) for c in sentence.citations):
            text = text.replace(sentence.text, REMOVED_SENTENCE)
            sentence = replace(sentence, text=REMOVED_SENTENCE)
        sentences.append(sentence)
    near = tuple(c for c in answer.near_misses if not _is_removed(c))
    return replace(answer, text=text, sentences=tuple(sentences), near_misses=near)


def _put(db: Database, turn_id: int, answer: Answer) -> None:
    db.execute("UPDATE turn SET answer = ? WHERE id = ?", (json.dumps(to_plain(answer)), turn_id))
