"""One account of a hit's score: the reasons of all channels in units of the score, which they add up to.

The fusion adds weight · (raw - floor) / spread of every channel (`core.search.fuse`). A raw score that is a sum (of
words, of tokens, of concepts) is taken apart in these units; the floor of meaning goes against what all passages have
in common with the question. What steering changes is told by concept, beside what these do by themselves. What is left
of a channel is told as unnamed, so nothing is lost and nothing made up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from core.base.types import (
    BM25,
    CONCEPT,
    DENSE,
    LEXICAL,
    STEER,
    AccountLine,
    ConceptShare,
    ScorePart,
    TermMatch,
)
from core.explain.decompose import NOTHING as NO_MERGES
from core.search.fuse import Rule, Scale
from core.search.searcher import MatchContext

WORD, ADDED, COMMON, UNNAMED, TOKEN, OTHERS = "word", "added", "common", "unnamed", "token", "others"  # kinds of lines
_SUMS = frozenset({BM25, DENSE, LEXICAL, CONCEPT, STEER})  # the others (multi, rerank, a level's own) are one reason
_NOTHING = 1e-9  # what rounding leaves
NOTHING: Mapping[int, str] = MappingProxyType({})


def account(
    match: MatchContext, concepts: Sequence[ConceptShare], common: float, labels: Mapping[int, str] = NOTHING,
    merged: Mapping[int, int] = NO_MERGES,
) -> tuple[AccountLine, ...]:  # fmt: skip
    """The lines of a match, the largest first. `concepts` and `common` are parts of its dense score; without a
    `common` part the dense score is one line. `labels` and `merged` as `explain` has them.

    A hit that is a section or document has a line of kind `others` for what its further passages add.
    """
    lines: list[AccountLine] = []
    for part in match.parts:
        rule = match.rules.get(part.channel)
        lines += _of_part(part, rule, _reasons(match, part, rule, concepts, common, _Names(labels, merged)))
    return tuple(sorted(lines, key=lambda line: -abs(line.contribution)))


@dataclass(frozen=True, slots=True)
class _Names:
    labels: Mapping[int, str]
    merged: Mapping[int, int]

    def lines(self, channel: str, unit: float, adds: Mapping[int, float]) -> list[AccountLine]:
        """One line for each named concept that adds something to a raw score."""
        found: dict[int, float] = {}
        for latent, value in adds.items():
            if latent in self.labels:
                concept = self.merged.get(latent, latent)
                found[concept] = found.get(concept, 0.0) + value
        return [AccountLine(CONCEPT, channel, self.labels[i], unit * v, id=i) for i, v in found.items() if v]


def _of_part(part: ScorePart, rule: Rule | None, lines: list[AccountLine]) -> Iterator[AccountLine]:
    """The reasons of one channel, what they leave of its part, and what other passages of the hit add to it."""
    own = part.contribution if rule is None else rule.contribution(part.score, part.rank)
    yield from lines
    left = own - sum(line.contribution for line in lines)
    if abs(left) > _NOTHING:
        yield AccountLine(UNNAMED if part.channel in _SUMS else part.channel, part.channel, "", left)
    if abs(part.contribution - own) > _NOTHING:
        yield AccountLine(OTHERS, part.channel, "", part.contribution - own)


def _reasons(
    match: MatchContext, part: ScorePart, rule: Rule | None, concepts: Sequence[ConceptShare], common: float,
    names: _Names,
) -> list[AccountLine]:  # fmt: skip
    """What the channel tells by itself. Ranks alone (`Reciprocal`) cannot be taken apart."""
    if not isinstance(rule, Scale):
        return []
    unit = rule.weight / rule.spread
    if part.channel == BM25:
        return [_word(term, unit) for term in match.terms]
    if part.channel == LEXICAL:
        return [AccountLine(TOKEN, LEXICAL, t.term, unit * t.weight, t.spans) for t in match.tokens]
    if part.channel in (CONCEPT, STEER):
        return names.lines(part.channel, unit, match.concepts if part.channel == CONCEPT else match.steering)
    if part.channel == DENSE and common:  # exactly 0 where there are no concepts
        own = [AccountLine(CONCEPT, DENSE, c.label, unit * c.contribution, c.spans, c.id) for c in concepts]
        return [*own, AccountLine(COMMON, DENSE, "", unit * (common - rule.floor))]
    return []


def _word(term: TermMatch, unit: float) -> AccountLine:
    return AccountLine(ADDED if term.added else WORD, BM25, term.term, unit * term.weight, term.spans)
