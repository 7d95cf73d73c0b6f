"""From groups to an answer: its sentences with their citations, its text, and what is told of how far it reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.answer import phrases
from core.answer.citations import Citer
from core.answer.evidence import Sentence
from core.answer.whole.grouping import SHOWN, Group
from core.answer.whole.kinds import Plan, Whole
from core.answer.whole.reading import Said
from core.base.types import Answer, AnswerGroup, AnswerMode, AnswerRecord, AnswerSentence, Citation, Passage, Support
from core.search.every import Match, Word


@dataclass
class Reach:
    """What was looked for and how far the reading has come. `unread` are matches beyond what is read at most."""

    words: tuple[Word, ...] = ()
    matches: list[Match] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    read: set[int] = field(default_factory=set)  # passage ids
    unread: int = 0
    missing_sides: tuple[str, ...] = ()
    within: str = ""
    generation: int = 0

    @property
    def total(self) -> int:
        return len({match.passage.id for match in self.matches}) + self.unread

    @property
    def done(self) -> bool:
        return len(self.read) + self.unread >= self.total


@dataclass(frozen=True, slots=True)
class Told:
    """What stands under one heading: quotes, or what the model wrote of them."""

    heading: str
    sentences: tuple[AnswerSentence, ...]


class Quoting:
    """Quotes with the citations of one answer."""

    def __init__(self) -> None:
        self._citer = Citer()

    def quote(self, group: Group) -> Told:
        sentences = tuple(
            AnswerSentence(said.text, Support.SUPPORTED, (self.cite(said.passage, said.start, said.end),))
            for said in group.said
        )
        return Told(group.heading, sentences)

    def renumbered(self, told: Told, passages: Mapping[int, Passage]) -> Told:
        """With the markers that the passages have in this answer."""
        return Told(told.heading, tuple(
            replace(s, citations=tuple(self._again(c, passages[c.passage_id]) for c in s.citations))
            for s in told.sentences
        ))  # fmt: skip

    def _again(self, citation: Citation, passage: Passage) -> Citation:
        return self.cite(passage, citation.start - passage.start, citation.end - passage.start)

    def cite(self, passage: Passage, start: int, end: int) -> Citation:
        """`start`/`end` count in the passage's text."""
        return self._citer.cite(Sentence(passage, 0, 0, start, end, passage.text[start:end], frozenset()))


def answer(
    question: str, plan: Plan, reach: Reach, told: Sequence[Told], total: int, record: AnswerRecord, *, model: str = ""
) -> Answer:
    """`told` are the first `SHOWN` of `total` groups."""
    sentences = list(_lead(plan, reach))
    groups: list[AnswerGroup] = []
    lines = [sentence.text for sentence in sentences]
    for one in told:
        groups.append(AnswerGroup(one.heading, len(sentences), len(sentences) + len(one.sentences)))
        sentences += one.sentences
        lines += ["", one.heading, *(f"- {s.text} {_markers(s)}" for s in one.sentences)]
    return Answer(
        question, AnswerMode.GENERATED if model else AnswerMode.EXTRACTIVE, "\n".join(lines).strip(), tuple(sentences),
        reason=_reason(plan, reach, total, model), model=model, generation=reach.generation, record=record,
        groups=tuple(groups), read=len(reach.read), matching=reach.total,
    )  # fmt: skip


def nothing(question: str, plan: Plan, reach: Reach, near: tuple[Citation, ...], record: AnswerRecord) -> Answer:
    """Everything that matches was read, and none of it says what was asked."""
    return Answer(
        question, AnswerMode.ABSTAINED, phrases.say(phrases.NOT_IN_DOCUMENTS), (), near, _reason(plan, reach, 0, ""),
        generation=reach.generation, record=record, read=len(reach.read), matching=reach.total,
    )  # fmt: skip


def _markers(sentence: AnswerSentence) -> str:
    return "".join(f"[{marker}]" for marker in dict.fromkeys(c.marker for c in sentence.citations))


def _lead(plan: Plan, reach: Reach) -> list[AnswerSentence]:
    """What the app counted itself: its proof is the list under it."""
    if plan.kind not in (Whole.COUNT, Whole.LIST):
        return []
    everything = [match.passage for match in reach.matches]
    sure = [said.passage for said in reach.said if said.by_words] if plan.subject else everything
    surely = {passage.document_id for passage in sure}
    maybe = {said.passage.document_id for said in reach.said} - surely
    phrase = phrases.WHOLE_COUNT if plan.kind is Whole.COUNT else phrases.WHOLE_HELD
    if reach.unread or (plan.subject and not reach.done):  # a person may stop here: this is what stays then
        phrase = phrases.WHOLE_AT_LEAST
    passages = {passage.id for passage in sure}
    lines = [phrases.say(phrase, documents=_documents(len(surely)), passages=_passages(len(passages)))]
    if maybe:
        lines.append(phrases.say(phrases.WHOLE_OTHER_WORDS, documents=_documents(len(maybe))))
    copies = {copy.document_id for said in reach.said for copy in said.match.copies} - surely - maybe
    if copies:
        lines.append(phrases.say(phrases.WHOLE_COPIES, number=str(len(copies))))
    return [AnswerSentence(" ".join(lines), Support.SUPPORTED)]


def _reason(plan: Plan, reach: Reach, groups: int, model: str) -> str:
    """The limits of the answer: what was read, what counts as a match, what is not shown."""
    so_far = phrases.say(phrases.WHOLE_SO_FAR, read=str(len(reach.read)), matching=str(reach.total))
    lines = [*([] if reach.done else [so_far]), *_what_matches(plan, reach)]
    if reach.within:
        lines.append(phrases.say(phrases.WHOLE_WITHIN, place=reach.within))
    nowhere = [word.text for word in reach.words if not word.passages]
    if nowhere:
        lines.append(phrases.say(phrases.WHOLE_NOWHERE, words=", ".join(dict.fromkeys(nowhere))))
    lines += [phrases.say(phrases.WHOLE_NO_SIDE, side=f"“{side}”") for side in reach.missing_sides]
    if plan.kind is Whole.TIMELINE:
        lines.append(phrases.say(phrases.WHOLE_DATED))
    if reach.unread:
        lines.append(phrases.say(phrases.WHOLE_MOST, number=str(reach.unread)))
    if groups > SHOWN:
        lines.append(phrases.say(phrases.WHOLE_SHOWN, number=str(SHOWN), total=str(groups)))
    if model:
        lines.append(phrases.say(phrases.WHOLE_WRITTEN))
    return " ".join(lines)


def _what_matches(plan: Plan, reach: Reach) -> list[str]:
    if not plan.subject:
        documents = {match.passage.document_id for match in reach.matches}
        return [phrases.say(phrases.WHOLE_ALL, documents=_documents(len(documents)))]
    subject = " / ".join(f"“{side}”" for side in plan.sides or (plan.subject,))
    lines = [phrases.say(phrases.WHOLE_BY_WORDS, share=f"{plan.line:.0%}", subject=subject)]
    nearest = len({match.passage.id for match in reach.matches if match.share == 0.0})
    if nearest:
        lines.append(phrases.say(phrases.WHOLE_BY_MEANING, number=str(nearest)))
    return lines


def _documents(number: int) -> str:
    return phrases.counted(phrases.DOCUMENTS, number)


def _passages(number: int) -> str:
    return phrases.counted(phrases.PASSAGES, number)
