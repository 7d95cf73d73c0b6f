"""From a ranking to what is shown: hits with their parts, marked words and snippets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.base.types import BM25, LEXICAL, Hit, Passage, ScorePart, Span, TermMatch
from core.index.snapshot import Snapshot
from core.search import fuse, marks
from core.search.candidates import Prepared, Ranking
from core.search.fold import Folded
from core.text.analyze import QueryTerm
from core.text.snippets import window


def hits(snapshot: Snapshot, ranking: Ranking, prepared: Prepared, chosen: Sequence[Folded]) -> tuple[Hit, ...]:
    """The hits of the chosen candidates, each shown where it was chosen to be."""
    found = snapshot.passages([one.passage_id for one in chosen])
    made: list[Hit] = []
    for one in chosen:
        if one.passage_id not in found:  # deleted just now
            continue
        shown = one.shown
        passage = replace(
            found[one.passage_id], document_id=shown.document_id, path=shown.path, title=shown.title,
            external_id=shown.external_id,
        )  # fmt: skip
        by_channel = parts(ranking, {c: float(s[one.row]) for c, s in ranking.scores.items()}, passage.id)
        spans = marks.matched_spans(passage, prepared.terms)
        score = fuse.total([part.contribution for part in by_channel])
        snippet = window(passage.text, spans)
        made.append(Hit(len(made) + 1, passage, score, by_channel, spans, snippet, one.copies))
    return tuple(made)


def parts(ranking: Ranking, scores: dict[str, float], passage_id: int) -> tuple[ScorePart, ...]:
    """What each channel adds to the score of a passage with these raw `scores`; those not computed are left out."""
    made = []
    for channel, score in scores.items():
        rule, rank = ranking.rules[channel], ranking.ranks[channel].get(passage_id)
        if not math.isnan(score):
            made.append(ScorePart(channel, score, rank, rule.weight, rule.contribution(score, rank)))
    return tuple(made)


def word_matches(
    snapshot: Snapshot, prepared: Prepared, ranking: Ranking, passage: Passage
) -> tuple[TermMatch, ...]:  # fmt: skip
    """What the score of bm25 is made of, the weightiest first: the query's words, their parts, the words added to them.

    Each is in the passage's text, or in its title and headings (no spans).
    """
    own_spans, added_spans = marks.spans_of(passage, prepared.terms, ranking.added)
    own = _matches(snapshot, BM25, prepared.terms, own_spans, passage)
    parts = _matches(snapshot, BM25, prepared.parts, marks.part_spans(passage, prepared.parts), passage)
    added = _matches(snapshot, BM25, ranking.added, added_spans, passage)
    return tuple(sorted((*own, *parts, *(replace(t, added=True) for t in added)), key=lambda t: -t.weight))


def token_matches(snapshot: Snapshot, prepared: Prepared, passage: Passage) -> tuple[TermMatch, ...]:
    """The tokens of the lexical channel that query and passage share, with their parts of its score."""
    spans = marks.token_spans(passage, [token.text for token in prepared.lexical])
    return _matches(snapshot, LEXICAL, prepared.lexical, spans, passage)


def _matches(
    snapshot: Snapshot, channel: str, words: Sequence[QueryTerm], spans: Sequence[tuple[Span, ...]], passage: Passage
) -> tuple[TermMatch, ...]:
    ordinal = int(snapshot.ordinals(np.array([passage.id]))[0])
    found = []
    for word, places in zip(words, spans, strict=True):
        ordinals, weights = snapshot.term_scores(channel, word)
        at = int(np.searchsorted(ordinals, ordinal))
        if at < len(ordinals) and ordinals[at] == ordinal:
            found.append(TermMatch(word.text, float(weights[at]), places, part_of=word.part_of))
    return tuple(sorted(found, key=lambda match: -match.weight))
