"""One account of a hit's score: the reasons of all channels in units of the score, which they add up to.

The fusion adds weight · (raw - floor) / spread of every channel (`core.search.fuse`). A raw score that is a sum (of
words, of tokens, of concepts) is taken apart in these units; the floor of meaning goes against what all passages have
in common with the question. What steering changes is told by concept, beside what these do by themselves. What is left
of a channel is told as unnamed, so nothing is lost and nothing made up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.base.types import BM25, DENSE, LEXICAL, MULTI, RERANK, STEER, AccountLine, ConceptShare, ScorePart, TermMatch
from core.search.fuse import Rule, Scale
from core.search.searcher import MatchContext

WORD, ADDED, CONCEPT, COMMON, UNNAMED, TOKEN, OTHERS = (
    "word", "added", "concept", "common", "unnamed", "token", "others",
)  # fmt: skip
_WHOLE = {MULTI: "multi", RERANK: "rerank"}  # channels that are one reason
_NOTHING = 1e-9  # what rounding leaves


def account(
    match: MatchContext, concepts: Sequence[ConceptShare], common: float, labels: Mapping[int, str]
) -> tuple[AccountLine, ...]:
    """The lines of a match, the largest first. `concepts` and `common` are parts of its dense score; without a
    `common` part the dense score is one line. `labels` names the concepts that it is steered by.

    A hit that is a section or document has a line of kind `others` for what its further passages add.
    """
    lines = [line for part in match.parts for line in _of_part(match, part, concepts, common, labels)]
    return tuple(sorted(lines, key=lambda line: -abs(line.contribution)))


def _of_part(
    match: MatchContext, part: ScorePart, concepts: Sequence[ConceptShare], common: float, labels: Mapping[int, str]
) -> Iterator[AccountLine]:
    rule = match.rules.get(part.channel)
    own = part.contribution if rule is None else rule.contribution(part.score, part.rank)
    lines = _reasons(match, part, rule, concepts, common, labels)
    yield from lines
    left = own - sum(line.contribution for line in lines)
    if abs(left) > _NOTHING:
        kind = UNNAMED if part.channel in (BM25, DENSE, LEXICAL) else _WHOLE.get(part.channel, part.channel)
        yield AccountLine(kind, part.channel, "", left)
    if abs(part.contribution - own) > _NOTHING:
        yield AccountLine(OTHERS, part.channel, "", part.contribution - own)


def _reasons(
    match: MatchContext, part: ScorePart, rule: Rule | None, concepts: Sequence[ConceptShare], common: float,
    labels: Mapping[int, str],
) -> list[AccountLine]:  # fmt: skip
    """What the channel tells by itself. Ranks alone (`Reciprocal`) cannot be taken apart."""
    if not isinstance(rule, Scale):
        return []
    unit = rule.weight / rule.spread
    if part.channel == BM25:
        return [_word(term, unit) for term in match.terms]
    if part.channel == LEXICAL:
        return [AccountLine(TOKEN, LEXICAL, t.term, unit * t.weight, t.spans) for t in match.tokens]
    if part.channel == STEER:
        changes = ((c, unit * value) for c, value in match.steering.items() if value)
        return [AccountLine(CONCEPT, STEER, labels.get(c, ""), value, (), c) for c, value in changes]
    if part.channel == DENSE and common:  # exactly 0 where there are no concepts
        shared = AccountLine(COMMON, DENSE, "", unit * (common - rule.floor))
        return [*(AccountLine(CONCEPT, DENSE, c.label, unit * c.contribution, c.spans, c.id) for c in concepts), shared]
    return []


def _word(term: TermMatch, unit: float) -> AccountLine:
    return AccountLine(ADDED if term.added else WORD, BM25, term.term, unit * term.weight, term.spans)
