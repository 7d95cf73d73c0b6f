"""What a library offers of its conversations: reading, finding, changing, exporting and comparing them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from sqlite_utils import Database

from core.base.types import Answer
from core.store import comparing, documents, history, history_search
from core.store.comparing import Comparison
from core.store.exports import formats
from core.store.exports.formats import Format
from core.store.history import LAST, Conversation, Deleted, StoredTurn
from core.store.history_search import Found


class HistoryLibrary:
    """A part of `core.library.Library`, which gives it a connection to read by and one to write by."""

    _db: Database

    def _writer(self) -> AbstractContextManager[Database]:
        raise NotImplementedError

    def conversations(self, limit: int = 200) -> list[Conversation]:
        return history.conversations(self._db, limit)

    def conversation(self, conversation_id: int) -> Conversation:
        """Raises NotFound."""
        return history.conversation(self._db, conversation_id)

    def find_conversations(self, text: str, limit: int = 200) -> list[Found]:
        """The conversations in whose title, questions and answers all words of `text` stand, the pinned ones first."""
        return history_search.find(self._db, text, limit)

    def turns(self, conversation_id: int) -> list[StoredTurn]:
        """The branch of a conversation that is shown."""
        return history.turns(self._db, conversation_id)

    def turn(self, turn_id: int) -> tuple[StoredTurn, int]:
        """An exchange and its conversation. Raises NotFound."""
        return history.turn(self._db, turn_id)

    def turns_before(self, turn_id: int) -> list[StoredTurn]:
        """What was asked and answered before this exchange, on its own branch. Raises NotFound."""
        return history.turns_before(self._db, turn_id)

    def save_turn(
        self, conversation_id: int | None, search_text: str, answer: Answer, after: int | history.Last | None = LAST
    ) -> int:
        """Keep an answered question; returns the conversation's id (a new one when None was given).

        It follows the exchange `after` (None: it is a first one), by default the last one that is shown; beside what
        followed that already, it is a branch of its own, which is shown from now on.
        """
        with self._writer() as db:
            return history.add_turn(db, conversation_id, search_text, answer, after)

    def show_branch(self, turn_id: int) -> int:
        """Show the branch of this exchange from now on; returns its conversation. Raises NotFound."""
        with self._writer() as db:
            return history.show_branch(db, turn_id)

    def rename_conversation(self, conversation_id: int, title: str) -> str:
        """Returns the title before. Raises NotFound, BadSetting."""
        with self._writer() as db:
            return history.rename(db, conversation_id, title)

    def pin_conversation(self, conversation_id: int, on: bool = True) -> None:
        """Keep a conversation at the top of the list, or no longer. Raises NotFound."""
        with self._writer() as db:
            history.pin(db, conversation_id, on)

    def delete_conversation(self, conversation_id: int) -> Deleted:
        """Returns what `restore_conversation` brings it back from."""
        with self._writer() as db:
            return history.delete_conversation(db, conversation_id)

    def restore_conversation(self, deleted: Deleted) -> None:
        """Undo a deletion. What was removed of the documents meanwhile stays removed."""
        with self._writer() as db:
            history.restore_conversation(db, deleted)

    def exported(self, kind: Format, title: str, turns: Sequence[StoredTurn]) -> bytes:
        """These exchanges as a file for other programs, or what they cite as a list of references."""
        cited = {c.document_id for t in turns for s in t.answer.sentences for c in s.citations}
        found = {i: documents.document(self._db, i) for i in cited}
        return formats.written(kind, title, turns, {i: one for i, one in found.items() if one is not None})

    def compare(self, before: Answer, after: Answer) -> Comparison:
        """What is different in a later answer to the same question, and in what it was made of."""
        return comparing.compare(self._db, before, after)
