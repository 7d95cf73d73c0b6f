"""Conversations found again by what was asked and answered in them, on any of their branches."""

from __future__ import annotations

from dataclasses import dataclass

from sqlite_utils import Database

from core.store.history import Conversation, conversations
from core.store.turns import revive as _revive
from core.store.turns import searchable, shown_texts

_ALL = -1  # no limit, to SQLite
AROUND = 60  # characters that are shown before what was found
MOST_WORDS = 50  # of what is looked for


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation that holds all words that were looked for. `turn_id` is the exchange that holds the most of them,
    `text` the sentence of it that does; 0 and empty where they stand in the title alone."""

    conversation: Conversation
    turn_id: int = 0
    text: str = ""


def find(db: Database, text: str, limit: int = 200) -> list[Found]:
    """Conversations in whose title and exchanges all words of `text` stand (parts of words count, case and accents do
    not), in the order of the list of conversations. Without a word: all of them."""
    words = list(dict.fromkeys(searchable(text).split()))[:MOST_WORDS]
    held = _held(db, words)
    found: list[Found] = []
    for one in conversations(db, _ALL):
        in_title = {word for word in words if word in searchable(one.title)}
        in_turns = held.get(one.id, {})
        if in_title.union(*in_turns.values()) >= set(words):
            found.append(_found(db, one, in_turns))
        if len(found) == limit:
            break
    return found


def _held(db: Database, words: list[str]) -> dict[int, dict[int, set[str]]]:
    """conversation -> exchange -> the words that it holds."""
    held: dict[int, dict[int, set[str]]] = {}
    if not words:
        return held
    either = " OR ".join(["instr(words, ?) > 0"] * len(words))
    for conversation_id, turn_id, text in db.execute(
        f"SELECT conversation_id, id, words FROM turn WHERE {either}", words
    ):
        held.setdefault(conversation_id, {})[turn_id] = {word for word in words if word in text}
    return held


def _found(db: Database, one: Conversation, in_turns: dict[int, set[str]]) -> Found:
    if not in_turns:
        return Found(one)
    best = max(in_turns, key=lambda turn: (len(in_turns[turn]), turn))
    words, question, answer = db.execute("SELECT words, question, answer FROM turn WHERE id = ?", (best,)).fetchone()
    at = _fullest(words.split("\n"), in_turns[best])
    piece = question if at == 0 else list(shown_texts(question, _revive(answer)))[at]
    return Found(one, best, _cut(piece, in_turns[best]))


def _fullest(lines: list[str], words: set[str]) -> int:
    """The line that holds the most words; the first of them."""
    return max(range(len(lines)), key=lambda at: (sum(word in lines[at] for word in words), -at))


def _cut(piece: str, words: set[str]) -> str:
    """`piece` from a little before the first word that was found on."""
    piece = " ".join(piece.split())
    plain = searchable(piece)
    first = min((at for word in words if (at := plain.find(word)) >= 0), default=0)
    start = piece.rfind(" ", 0, first - AROUND + 1) + 1 if first > AROUND else 0
    return f"…{piece[start:]}" if start else piece
