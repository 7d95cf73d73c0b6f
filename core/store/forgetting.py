"""What deleted documents leave in stored answers: their quotes at once, what rests on them alone at the purge."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from sqlite_utils import Database

from core.base.types import Answer, AnswerGroup, AnswerMode, AnswerSentence, Citation, Support
from core.store import living, turns

REMOVED_TITLE = "Removed document"
REMOVED_SENTENCE = "(What stood here came from a document that was removed.)"
Replacement = tuple[int, str, str]  # document id, path, external id
_PURGES = "purges"
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
    for turn_id in turns.ids(db):  # one at a time: together they may be more than the memory holds
        conversation_id, plain = db.execute(
            "SELECT conversation_id, answer FROM turn WHERE id = ?", (turn_id,)
        ).fetchone()
        answer = turns.revive(plain)
        left = purged(db, answer)
        if left is not answer:
            turns.put(db, turn_id, left)
        if any(map(_is_removed, citations(answer))):
            changed.add(conversation_id)
    for conversation_id in changed:
        _forget_searched(db, conversation_id)
    living.set_meta(db, _PURGES, str(purges(db) + 1))
    return len(changed)


def purges(db: Database) -> int:
    """How often the conversations of this library were purged."""
    return int(living.meta(db, _PURGES) or 0)


def purged(db: Database, answer: Answer) -> Answer:
    """What a purge leaves of `answer`; itself where it leaves all."""
    if any(map(_is_removed, citations(answer))):
        return _neutral(answer)
    return _without_drafts(answer) if _read_what_is_gone(db, answer) else answer


def citations(answer: Answer) -> list[Citation]:
    """All places that an answer names."""
    return [*(c for s in answer.sentences for c in s.citations), *answer.near_misses, *answer.hidden]


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
    for turn_id, plain in db.execute("SELECT id, answer FROM turn"):
        cited = {int(number) for number in _DOCUMENT_ID.findall(plain)}
        if not cited.isdisjoint(gone):
            found.append((int(turn_id), turns.revive(plain)))
    return found


def _each_citation(answer: Answer, change: Callable[[Citation], Citation]) -> Answer:
    sentences = tuple(replace(s, citations=tuple(map(change, s.citations))) for s in answer.sentences)
    near, hidden = tuple(map(change, answer.near_misses)), tuple(map(change, answer.hidden))
    return replace(answer, sentences=sentences, near_misses=near, hidden=hidden)


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
    rests = [all(map(_is_removed, s.citations)) and not _counted(answer, s) for s in answer.sentences]
    text = _taken_out(answer.text, {s.text for s, gone in zip(answer.sentences, rests, strict=True) if gone})
    sentences = [
        replace(s, text=REMOVED_SENTENCE) if gone else s for s, gone in zip(answer.sentences, rests, strict=True)
    ]
    near, hidden = (tuple(c for c in some if not _is_removed(c)) for some in (answer.near_misses, answer.hidden))
    groups = tuple(_neutral_group(group, [s.text for s in sentences]) for group in answer.groups)
    for before, after in zip(answer.groups, groups, strict=True):
        if after != before:  # headings stand in the text on lines of their own
            text = f"\n{text}\n".replace(f"\n{before.heading}\n", f"\n{after.heading}\n")[1:-1]
    made = replace(answer, text=text, sentences=tuple(sentences), near_misses=near, groups=groups, hidden=hidden)
    return _without_hashes(made)


def _taken_out(text: str, gone: Collection[str]) -> str:
    """At once, the longest first: one sentence may stand within another."""
    either = "|".join(re.escape(one) for one in sorted(filter(None, gone), key=len, reverse=True))
    return re.sub(either, lambda _: REMOVED_SENTENCE, text) if either else text


def _without_hashes(answer: Answer) -> Answer:
    """They are of texts that are gone. What an endpoint said of its failure may repeat what it was sent."""
    if answer.record is None:
        return answer
    told = answer.record.sent_to and answer.mode is not AnswerMode.GENERATED
    reason = "" if told else answer.reason
    return replace(answer, reason=reason, record=replace(answer.record, hashes=(), passages=()))


def _read_what_is_gone(db: Database, answer: Answer) -> bool:
    """Was it made of passages, cited or not, that the library has no longer?"""
    if answer.record is None or not answer.record.passages:
        return False
    gone = db.execute(
        "SELECT 1 FROM json_each(?) j LEFT JOIN passage p ON p.id = j.value WHERE p.id IS NULL LIMIT 1",
        (json.dumps(answer.record.passages),),
    )
    return gone.fetchone() is not None


def _without_drafts(answer: Answer) -> Answer:
    """Without what a model wrote and nothing supports: it was never shown, and may repeat what is gone."""
    sentences = tuple(
        s if s.citations or s.support is Support.SUPPORTED else replace(s, text=REMOVED_SENTENCE)
        for s in answer.sentences
    )
    return _without_hashes(replace(answer, sentences=sentences))


def _counted(answer: Answer, sentence: AnswerSentence) -> bool:
    """Is it a figure that the app gave above the groups of its answer? It says nothing that a document said."""
    return bool(answer.groups) and not sentence.citations and sentence.support is Support.SUPPORTED


def _neutral_group(group: AnswerGroup, texts: list[str]) -> AnswerGroup:
    """The name of a document may head what came from it."""
    if any(text == REMOVED_SENTENCE for text in texts[group.first : group.last]):
        return replace(group, heading=REMOVED_TITLE)
    return group
