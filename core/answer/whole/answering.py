"""Questions about the whole library, from start to end: map over all that matches, then reduce, with a count to see.

The map reads every passage (and lets a model write of it, where there is one); the reduce is code: it counts, groups
and sorts, and adds nothing. What is there so far is told again and again, so that one can stop at any moment.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from core.answer import records
from core.answer.backend import Backend
from core.answer.citations import Citer
from core.answer.evidence import content_words
from core.answer.scale import Scale
from core.answer.whole import grouping, scope, telling
from core.answer.whole.central import central
from core.answer.whole.grouping import Group
from core.answer.whole.kinds import Plan, Whole
from core.answer.whole.mapping import MOST_GROUPS, Mapper
from core.answer.whole.reading import Reader, Said
from core.answer.whole.telling import Quoting, Reach, Told
from core.base.errors import EndpointFailed
from core.base.events import Control
from core.base.types import Answer, AnswerRecord, Citation, Filters, SearchResult
from core.encode.encoder import Encoder
from core.search.every import MOST, Match, Matches, every
from core.search.searcher import Searcher
from core.text.language import detect

SECONDS = 0.25  # between two partial answers
_REST = 10.0  # times as long as making a partial answer took
NEAR_MISSES = 3
EXTRACTIVE = "extractive"
_SENTENCES, _ALONE = 3, 7  # of a summary: of one document among several, of a single one
_WRITES = (Whole.LIST, Whole.SUMMARY)  # where a model's words may stand in for quotes: each is about one document

Partial = Callable[[dict[str, Any]], None]


@dataclass
class WholeAnswerer:
    """Answers from all that matches in one library."""

    searcher: Searcher
    encoder: Encoder
    scale: Scale
    backend: Backend | None = None

    def answer(
        self, question: str, plan: Plan, result: SearchResult, *, mode: str = "auto",
        on_partial: Partial = lambda partial: None, control: Control | None = None, most: int = MOST,
    ) -> Answer:  # fmt: skip
        """`result` is the search for the question: its filters hold, its hits are told where nothing is found.

        `on_partial` gets `{"answer": Answer}` while passages are read and groups are written. At most `most` passages
        are read; the answer says how many match beside them.

        Raises:
            Cancelled: through `control`, between two passages.
            NotALibrary, LibraryDamaged, IndexDamaged
        """
        run = _Run(self, question, _settled(plan, question), result, mode, on_partial, control or Control(), most)
        return run.answer()


def _settled(plan: Plan, question: str) -> Plan:
    """A subject of nothing but small words is none."""
    language = detect(question, default="en")
    return plan if content_words(plan.subject, language) else replace(plan, subject="")


class _Run:
    """One question on its way."""

    def __init__(
        self, whole: WholeAnswerer, question: str, plan: Plan, result: SearchResult, mode: str, on_partial: Partial,
        control: Control, most: int,
    ) -> None:  # fmt: skip
        self._whole, self._question, self._result, self._mode = whole, question, result, mode
        self._on_partial, self._control, self._most = on_partial, control, most
        self._next = 0.0  # when the next partial answer may be told
        self._cost = 0.0  # seconds that making one takes
        db = whole.searcher.snapshot().db
        self._plan, self._filters = scope.named(db, plan, result.query.filters)
        self._reach = Reach(within=_within(self._filters, result.query.filters, plan))
        self._sides: dict[str, list[Said]] = {}

    def answer(self) -> Answer:
        for subject, found in self._gathered():
            for said in self._said(subject, found):
                self._reach.said += said
                self._sides.setdefault(subject, []).extend(said)
                if time.monotonic() >= self._next:
                    self._tell(self._quoted())
        groups = self._groups()
        if not groups:
            return telling.nothing(self._question, self._plan, self._reach, self._near(), self._record())
        quoted = self._quoted()
        backend = self._whole.backend
        # a small model takes two seconds a document, and what it made of them was no better or false each time
        if backend is None or backend.small or self._mode == EXTRACTIVE or self._plan.kind not in _WRITES:
            return quoted
        self._tell(quoted)
        return self._written(groups, quoted, backend)

    # the map

    def _gathered(self) -> list[tuple[str, Matches]]:
        """All that matches each thing that is asked about."""
        subjects = self._plan.sides or (self._plan.subject,)
        found = [(s, self._every(s)) for s in subjects]
        reach = self._reach
        reach.generation = found[0][1].generation
        reach.words = tuple(word for _, matches in found for word in matches.words)
        reach.matches = [match for _, matches in found for match in matches.matches]
        reach.unread = sum(max(0, matches.total - len(matches.matches)) for _, matches in found)
        self._tell(self._quoted())
        return found

    def _every(self, subject: str) -> Matches:
        found = every(self._whole.searcher, subject, self._filters, count=self._most, line=self._plan.line)
        held = tuple(match for match in found.matches if match.share > 0.0)
        if self._plan.kind is not Whole.SUMMARY or not held:
            return found
        # what was found by meaning alone does not tell a summary of what the words found: it is not read
        return replace(found, matches=held, total=found.total - len(found.matches) + len(held))

    def _said(self, subject: str, found: Matches) -> Iterable[list[Said]]:
        """What is said of the subject, passage by passage; in summaries document by document."""
        kind = self._plan.kind
        if kind is Whole.SUMMARY or (not subject and kind is not Whole.TIMELINE):
            yield from self._summed(subject, found)
            return
        whole = self._whole
        reader = Reader(
            subject, found.words, whole.encoder, whole.scale, self._control, self._plan.line,
            dated=kind is Whole.TIMELINE,
        )  # fmt: skip
        for match in found.matches:
            said = reader.read(match)
            self._reach.read.add(match.passage.id)
            yield said

    def _summed(self, subject: str, found: Matches) -> Iterable[list[Said]]:
        documents = _documents(found.matches)
        alone = self._plan.kind is Whole.SUMMARY
        count = (_ALONE if len(documents) == 1 else _SENTENCES) if alone else 1
        for passages in documents:
            said = central(passages, count, self._control)
            self._reach.read |= {match.passage.id for match in passages}
            yield said

    # the reduce

    def _groups(self) -> list[Group]:
        if self._plan.kind is Whole.TIMELINE:
            return grouping.by_year(self._reach.said)
        if self._plan.kind is Whole.COMPARE:
            sides = [(side, self._sides.get(side, [])) for side in self._plan.sides]
            if self._reach.done:
                self._reach.missing_sides = tuple(side for side, said in sides if not said)
            return grouping.by_side(sides)
        return grouping.by_document(self._reach.said, grouping.A_DOCUMENT if self._plan.subject else _ALONE)

    def _quoted(self) -> Answer:
        began = time.monotonic()
        groups, quoting = self._groups(), Quoting()
        made = self._made([quoting.quote(group) for group in groups[: telling.SHOWN]], len(groups))
        self._cost = time.monotonic() - began
        return made

    def _made(self, told: Sequence[Told], total: int, model: str = "", prompt: str = "") -> Answer:
        record = self._record()
        made = telling.answer(self._question, self._plan, self._reach, told, total, record, model=model)
        return records.kept(made, record, prompt)

    def _tell(self, answer: Answer) -> None:
        """Tell what is there; a long answer is told less often, so that telling stays a small part of the work."""
        self._on_partial({"answer": answer})
        self._next = time.monotonic() + max(SECONDS, _REST * self._cost)

    # the model

    def _written(self, groups: Sequence[Group], quoted: Answer, backend: Backend) -> Answer:
        """The quotes, with what the model wrote in their place where it is supported; told after each group."""
        mapper = Mapper(self._question, backend, self._whole.encoder, self._whole.scale, self._control)
        written: dict[int, Told] = {}
        prompts: list[str] = []
        answer = quoted
        for number, group in enumerate(groups[:MOST_GROUPS]):
            try:
                told, prompt = mapper.write(group)
            except EndpointFailed as error:  # what is there stands, and it is told why the rest is quoted
                return replace(answer, reason=f"{answer.reason} {error}", model=backend.id)
            prompts.append(prompt)
            if told is not None:
                written[number] = told
                answer = self._made(self._merged(groups, written), len(groups), backend.id, _hash(prompts))
                self._tell(answer)
        return answer

    def _merged(self, groups: Sequence[Group], written: dict[int, Told]) -> list[Told]:
        """All groups in order, their citations numbered through the whole answer."""
        quoting = Quoting()
        passages = {match.passage.id: match.passage for match in self._reach.matches}
        merged = []
        for number, group in enumerate(groups[: telling.SHOWN]):
            told = written.get(number) or quoting.quote(group)
            merged.append(quoting.renumbered(told, passages))
        return merged

    # what is told beside it

    def _record(self) -> AnswerRecord:
        passages = {m.passage.id: m.passage for m in self._reach.matches if m.passage.id in self._reach.read}
        searched = self._plan.sides or (self._plan.subject,)
        given = self._result.query.filters  # those that the question itself named come with it when it is asked again
        return records.read(given, searched, list(passages.values()), self._whole.encoder.id, self._mode)

    def _near(self) -> tuple[Citation, ...]:
        citer = Citer()
        return tuple(citer.cite_passage(hit.passage) for hit in self._result.hits[:NEAR_MISSES])


def _documents(matches: Sequence[Match]) -> list[list[Match]]:
    """The matches of each document in reading order; documents by path."""
    ordered = sorted(
        matches, key=lambda m: (m.passage.path, m.passage.external_id, m.passage.document_id, m.passage.ordinal)
    )
    return [list(found) for _, found in groupby(ordered, key=lambda m: m.passage.document_id)]


def _within(narrowed: Filters, given: Filters, plan: Plan) -> str:
    """The place that the question itself named."""
    return f"“{plan.subject}”" if narrowed != given else ""


def _hash(prompts: Sequence[str]) -> str:
    joined = "\n".join(prompt for prompt in prompts if prompt)
    return hashlib.sha256(joined.encode()).hexdigest() if joined else ""
