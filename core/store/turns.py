"""Exchanges of conversations as rows: a question, the answer given, and the words by which both are found again."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from sqlite_utils import Database

from core.base.types import Answer, Support
from core.base.wire import from_plain, to_plain

COLUMNS = "id, question, search_text, answer, asked"
_UNSEEN = re.compile("[\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufeff]")  # accents, soft hyphens, zero widths


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """`branches` are the ids of all exchanges that stand in this place, this one among them, the oldest first: a
    question that was edited or asked again has more than one."""

    id: int
    question: str
    search_text: str
    answer: Answer
    asked: str
    branches: tuple[int, ...] = ()


def searchable(text: str) -> str:
    """`text` without case, compatibility forms, accents and invisible characters, its white space single blanks."""
    if not text.isascii():
        text = _UNSEEN.sub("", unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold()))
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.lower().split())


def shown_texts(question: str, answer: Answer) -> Iterator[str]:
    """What an exchange says, piece by piece: the question, then what the answer shows as supported."""
    yield question
    supported = [s.text for s in answer.sentences if s.support is Support.SUPPORTED]
    yield from supported or (answer.text,)


def words_of(question: str, answer: Answer) -> str:
    """What an exchange is searched by: a piece a line, as `searchable` makes it."""
    return "\n".join(searchable(text) for text in shown_texts(question, answer))


def revive(plain: str) -> Answer:
    return from_plain(Answer, json.loads(plain))


def plain(answer: Answer) -> str:
    return json.dumps(to_plain(answer))


def read(row: tuple[int, str, str, str, str], branches: tuple[int, ...] = ()) -> StoredTurn:
    """A row of `COLUMNS`."""
    return StoredTurn(row[0], row[1], row[2], revive(row[3]), row[4], branches)


def insert(db: Database, conversation: int, parent: int | None, search_text: str, answer: Answer, asked: str) -> int:
    """Store an exchange; returns its id."""
    cursor = db.execute(
        "INSERT INTO turn (conversation_id, parent, question, search_text, answer, asked, words)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            conversation, parent, answer.question, search_text, plain(answer), asked,
            words_of(answer.question, answer),
        ),
    )  # fmt: skip
    return int(cursor.lastrowid or 0)


def put(db: Database, turn: int, answer: Answer) -> None:
    """Store another answer in place of the one of this exchange; what it is found by follows."""
    question = str(db.execute("SELECT question FROM turn WHERE id = ?", (turn,)).fetchone()[0])
    db.execute("UPDATE turn SET answer = ?, words = ? WHERE id = ?", (plain(answer), words_of(question, answer), turn))


def ids(db: Database) -> list[int]:
    """Of all exchanges."""
    return [int(row[0]) for row in db.execute("SELECT id FROM turn ORDER BY id").fetchall()]


def fill_words(db: Database) -> None:
    """Write the words of all exchanges: they were stored before there was a place for them."""
    for turn in ids(db):
        question, answer = db.execute("SELECT question, answer FROM turn WHERE id = ?", (turn,)).fetchone()
        db.execute("UPDATE turn SET words = ? WHERE id = ?", (words_of(question, revive(answer)), turn))
