"""Two answers to one question, the earlier and the later: what came, went or changed, and under what circumstances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from enum import StrEnum

from sqlite_utils import Database

from core.base.types import Answer, AnswerMode, AnswerRecord, Citation, Filters, Passage, Support
from core.store import passages
from core.store.forgetting import citations
from core.store.turns import searchable


class Change(StrEnum):
    SAME = "same"
    CAME = "came"
    WENT = "went"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Circumstance:
    """Something of the way to the answer that is another than it was. `what` is "generation", "encoder", "model",
    "mode" (how the answer was made), "asked_mode", "filters", "searched", "prompt" or "seed"."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class SentenceChange:
    text: str
    change: Change


@dataclass(frozen=True, slots=True)
class PassageChange:
    """A passage that one of the answers was given and the other was not. One that CHANGED left the library and another
    one of its document came. `document_id` is 0 and `title` empty where it is not known any more; `stays`: it is still
    in the library, and was only not among the best."""

    change: Change
    passage_id: int
    document_id: int
    title: str
    page: int | None
    stays: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """`kept` is the number of passages that both answers were given."""

    circumstances: tuple[Circumstance, ...]
    sentences: tuple[SentenceChange, ...]
    passages: tuple[PassageChange, ...]
    kept: int

    @property
    def same_answer(self) -> bool:
        """Do both say the same?"""
        modes = all(one.what != "mode" for one in self.circumstances)
        return modes and all(one.change is Change.SAME for one in self.sentences)

    @property
    def same(self) -> bool:
        """Is nothing different, neither what is said nor what it was made of?"""
        return self.same_answer and not self.circumstances and not self.passages


def compare(db: Database, before: Answer, after: Answer) -> Comparison:
    """What is different in `after`. Where an answer has no record, its cited passages stand for those it was given."""
    changes, kept = _passages(db, before, after)
    return Comparison(_circumstances(before, after), _sentences(before, after), changes, kept)


def filters_text(filters: Filters) -> str:
    """Filters in one line, as the command line writes them; empty when there are none."""
    parts = []
    for field in fields(filters):
        value = getattr(filters, field.name)
        if isinstance(value, str):
            value = (value,) if value else ()
        texts = (f"({filters_text(one)})" if isinstance(one, Filters) else str(one) for one in value)
        parts += [f"{field.name}={' or '.join(texts)}"] if value else []
    return "; ".join(parts)


def _circumstances(before: Answer, after: Answer) -> tuple[Circumstance, ...]:
    pairs = [
        ("mode", before.mode.value, after.mode.value),
        ("model", before.model, after.model),
        ("generation", str(before.generation), str(after.generation)),
    ]
    if before.record is not None and after.record is not None:
        first, second = _told(before.record), _told(after.record)
        pairs += [(what, first[what], second[what]) for what in first]
    return tuple(Circumstance(*pair) for pair in pairs if pair[1] != pair[2])


def _told(record: AnswerRecord) -> dict[str, str]:
    return {
        "encoder": record.encoder, "filters": filters_text(record.filters), "asked_mode": record.asked_mode,
        "searched": "\n".join(record.searched), "prompt": record.prompt, "seed": str(record.seed),
    }  # fmt: skip


def _sentences(before: Answer, after: Answer) -> tuple[SentenceChange, ...]:
    """What the answers say, in the order of the later one, with what went in the place where it stood."""
    old, new = _said(before), _said(after)
    matcher = SequenceMatcher(None, [searchable(s) for s in old], [searchable(s) for s in new], autojunk=False)
    found: list[SentenceChange] = []
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag == "equal":
            found += [SentenceChange(text, Change.SAME) for text in new[start:end]]
            continue
        found += [SentenceChange(text, Change.WENT) for text in old[first:last]]
        found += [SentenceChange(text, Change.CAME) for text in new[start:end]]
    return tuple(found)


def _said(answer: Answer) -> list[str]:
    if answer.mode is AnswerMode.ABSTAINED:
        return []
    return [s.text for s in answer.sentences if s.support is Support.SUPPORTED]


def _passages(db: Database, before: Answer, after: Answer) -> tuple[tuple[PassageChange, ...], int]:
    old, new = _given(before), _given(after)
    if not (_has_hashes(before) and _has_hashes(after)):  # by id alone, then
        old, new = {p: str(p) for p in old}, {p: str(p) for p in new}
    # an id names one text for ever; its hash differs where another part of what stands around it was read, too
    held, holds = set(old.values()), set(new.values())
    came = [p for p, name in new.items() if name not in held and p not in old]
    went = [p for p, name in old.items() if name not in holds and p not in new]
    living = passages.passages(db, [*came, *went])
    cited = {c.passage_id: c for c in (*citations(before), *citations(after))}
    changes = [_change(Change.CAME, p, living, cited) for p in came]
    gone = [_change(Change.WENT, p, living, cited) for p in went]
    return tuple(_paired(gone, changes)), len(new) - len(came)


def _given(answer: Answer) -> dict[int, str]:
    """passage -> the hash of its text, of all that the answer was given."""
    record = answer.record
    if record is None or not record.passages:
        cited = [c for s in answer.sentences for c in s.citations]
        return {c.passage_id: "" for c in (*cited, *answer.near_misses) if c.passage_id}
    hashes = record.hashes or ("",) * len(record.passages)
    return dict(zip(record.passages, hashes, strict=False))


def _has_hashes(answer: Answer) -> bool:
    return answer.record is not None and bool(answer.record.hashes)


def _change(change: Change, passage_id: int, living: dict[int, Passage], cited: dict[int, Citation]) -> PassageChange:
    passage, citation = living.get(passage_id), cited.get(passage_id)
    if passage is not None:
        title, page = passage.title or passage.path, passage.first_page
        return PassageChange(change, passage_id, passage.document_id, title, page, True)
    if citation is not None:
        title = citation.title or citation.document
        return PassageChange(change, passage_id, citation.document_id, title, citation.page, False)
    return PassageChange(change, passage_id, 0, "", None, False)


def _paired(gone: Sequence[PassageChange], came: Sequence[PassageChange]) -> list[PassageChange]:
    """A passage that left the library, while another of its document came, is told as one that changed."""
    left, found = list(came), []
    for one in gone:
        other = next((c for c in left if not one.stays and c.document_id == one.document_id != 0), None)
        if other is None:
            found.append(one)
            continue
        left.remove(other)
        found.append(PassageChange(Change.CHANGED, other.passage_id, other.document_id, other.title, other.page, True))
    return [*found, *left]
