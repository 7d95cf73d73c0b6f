"""What deleted documents leave in stored answers: their quotes at once, what rests on them alone at the purge."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from sqlite_utils import Database

from core.base.types import Answer, AnswerGroup, AnswerSentence, Citation, Support
from core.store import turns

REMOVED_TITLE = "Removed document"
REMOVED_SENTENCE = "(What stood here came from a document that was removed.)"
Replacement = tuple[int, str, str]  # document id, path, external id
_DOCUMENT_ID = re.compile(r'"document_id": (\d+)')  # as an answer is stored


def forget(db: Database, gone: Mapping[int, Replacement | None]) -> None:
    """Take the quotes of deleted documents out of all answers. Where an equal document is left, it is cited instead.

    `gone` maps ids of deleted documents to that equal one.
    """
    for turn_id, answer in _citing(db, gone):
        turns.put(db, turn_id, without(answer, gone))


def without(answer: Answer, gone: Mapping[int, Replacement | None]) -> Answer:
    """`answer` without the quotes of deleted documents."""
    return _each_citation(answer, lambda citation: _without(citation, gone))


def quoting(db: Database, gone: Collection[int]) -> int:
    """How many citations of these documents are left."""
    return sum(c.document_id in gone for _, answer in _citing(db, gone) for c in citations(answer))


def purge(db: Database) -> int:
    """Replace the sentences that rest on deleted documents alone. Returns how many conversations were changed.

    The person's own questions stay; stand-alone questions made with the help of earlier answers do not.
    """
    changed = set()
    for turn_id, conversation_id, plain in db.execute("SELECT id, conversation_id, answer FROM turn").fetchall():
        answer = turns.revive(plain)
        if any(_is_removed(c) for c in citations(answer)):
            turns.put(db, turn_id, _neutral(answer))
            changed.add(conversation_id)
    for conversation_id in changed:
        _forget_searched(db, conversation_id)
    return len(changed)


def citations(answer: Answer) -> list[Citation]:
    """All places that an answer names."""
    return [*(c for s in answer.sentences for c in s.citations), *answer.near_misses]


def _forget_searched(db: Database, conversation_id: int) -> None:
    """An earlier answer of the conversation may stand in any of its stand-alone questions."""
    db.execute("UPDATE turn SET search_text = question WHERE conversation_id = ?", (conversation_id,))
    rows = db.execute("SELECT id, answer FROM turn WHERE conversation_id = ?", (conversation_id,)).fetchall()
    for turn_id, plain in rows:
        answer = turns.revive(plain)
        if answer.record is not None and answer.record.searched:
            turns.put(db, turn_id, replace(answer, record=replace(answer.record, searched=())))


def _citing(db: Database, gone: Collection[int]) -> list[tuple[int, Answer]]:
    """The turns with a citation of these documents."""
    found = []
    for turn_id, plain in db.execute("SELECT id, answer FROM turn").fetchall():
        cited = {int(number) for number in _DOCUMENT_ID.findall(plain)}
        if not cited.isdisjoint(gone):
            found.append((int(turn_id), turns.revive(plain)))
    return found


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
        if all(_is_removed(c) for c in sentence.citations) and not _counted(answer, sentence):
            text = text.replace(sentence.text, REMOVED_SENTENCE)
            sentence = replace(sentence, text=REMOVED_SENTENCE)
        sentences.append(sentence)
    near = tuple(c for c in answer.near_misses if not _is_removed(c))
    groups = tuple(_neutral_group(group, [s.text for s in sentences]) for group in answer.groups)
    for before, after in zip(answer.groups, groups, strict=True):
        if after != before:  # headings stand in the text on lines of their own
            text = f"\n{text}\n".replace(f"\n{before.heading}\n", f"\n{after.heading}\n")[1:-1]
    # the hashes are of texts that are gone
    record = None if answer.record is None else replace(answer.record, hashes=(), passages=())
    return replace(answer, text=text, sentences=tuple(sentences), near_misses=near, groups=groups, record=record)


def _counted(answer: Answer, sentence: AnswerSentence) -> bool:
    """Is it a figure that the app gave above the groups of its answer? It says nothing that a document said."""
    return bool(answer.groups) and not sentence.citations and sentence.support is Support.SUPPORTED


def _neutral_group(group: AnswerGroup, texts: list[str]) -> AnswerGroup:
    """The name of a document may head what came from it."""
    if any(text == REMOVED_SENTENCE for text in texts[group.first : group.last]):
        return replace(group, heading=REMOVED_TITLE)
    return group
