"""The figures of an explanation as rows: score, concepts, words, alignment. Pure: no widgets, no colours but names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from app.i18n import plural, tr
from app.widgets.hit_channels import channel_title, channel_tone
from app.widgets.why_bar import Segment
from app.widgets.why_figures import additive, percent, signed
from app.widgets.why_row import RowFigures
from core.base.types import RERANK, ConceptShare, Explanation, Level, TermMatch

SCORE_DECIMALS = 2
_OF_LEVEL = {
    Level.SENTENCE: "The sentence counts beside its passage. What follows is about the passage.",
    Level.SECTION: "All passages of the section that were found count. What follows is about the best one.",
    Level.DOCUMENT: "All passages of the document that were found count. What follows is about the best one.",
}
_NEAR_NOTHING = 0.05  # closeness in meaning below which shares of it say nothing
CONCEPT_TONES = ("series_1", "series_3", "series_4", "series_5", "series_6", "series_2")


def score_segments(e: Explanation) -> list[Segment]:
    return [
        Segment(f"{channel_title(p.channel)} {_points(p.contribution)}", p.contribution, channel_tone(p.channel))
        for p in e.parts
    ]


def score_rows(e: Explanation) -> list[RowFigures]:
    """One row a channel and their sum; the numbers shown add up to the score shown."""
    values, total = additive([p.contribution for p in e.parts], e.score, SCORE_DECIMALS)
    rows = [
        RowFigures(
            channel_title(p.channel),
            _points(value),
            tone=channel_tone(p.channel),
            tip=channel_tip(p.channel, p.rank),
            swatch=True,
        )
        for p, value in zip(e.parts, values, strict=True)
    ]
    return [*rows, RowFigures(tr("Together"), _points(total), strong=True)]


def score_text(level: Level = Level.PASSAGE) -> str:
    """What the points mean, for a hit of this size."""
    same = tr("Points only compare the hits of one search.")
    return f"{tr(_OF_LEVEL[level])} {same}" if level in _OF_LEVEL else same


def _points(value: float) -> str:
    return signed(value, SCORE_DECIMALS)


def channel_tip(channel: str, rank: int | None) -> str:
    """How a way of searching by itself ranks the passage."""
    if channel == RERANK and rank is not None:
        return tr("Place {rank} among the best hits, which were read together with the question.", rank=rank)
    if rank is None:
        return tr("This way of searching did not find the passage by itself; it was scored afterwards.")
    return tr("Place {rank} when searching this way alone.", rank=rank)


def concept_rows(e: Explanation, most: int) -> list[RowFigures]:
    """Parts of the closeness in meaning: the strongest concepts, the other ones, what all share, and the rest.

    Shares of it in percent; where parts for and against cancel out, shares mislead, and the parts themselves are shown.
    """
    if not e.concepts:
        return []
    by_size = sorted(e.concepts, key=lambda c: -abs(c.contribution))
    listed, others = by_size[:most], by_size[most:]
    rows = [
        RowFigures(c.label, "", tone=CONCEPT_TONES[i % 6], spans=tuple(c.spans), concept=c.id, words=tuple(c.words))
        for i, c in enumerate(listed)
    ]
    values = [c.contribution for c in listed]
    if others:
        rows.append(RowFigures(plural(len(others), "{n} weaker concept", "{n} weaker concepts"), ""))
        values.append(math.fsum(c.contribution for c in others))
    rows.append(RowFigures(tr("Common to all passages"), "", tone="outline", tip=_COMMON))
    rows.append(RowFigures(tr("Not explained by concepts"), "", open_=True, tip=_REST))
    values += [e.common, e.residual]
    cancel = cancels(e)
    whole = max(map(abs, values)) if cancel else e.dense_score
    shares = [value / whole if whole else 0.0 for value in values]
    figures, _ = additive(values, e.dense_score) if cancel else additive(shares, math.fsum(shares), 2)
    said = [_added(f) if cancel else percent(f) for f in figures]
    return [
        replace(row, value=figure, share=max(0.0, share), tip=row.tip or (_AGAINST if share < 0 else ""))
        for row, share, figure in zip(rows, shares, said, strict=True)
    ]


def cancels(e: Explanation) -> bool:
    """Whether parts for and against the match outweigh what is left of them."""
    largest = max((abs(v) for v in (*(c.contribution for c in e.concepts), e.common, e.residual)), default=0.0)
    return e.dense_score < max(_NEAR_NOTHING, largest)


def _added(value: float) -> str:
    return f"+{signed(value)}" if value > 0 else signed(value)


_COMMON = "The part of the meaning score that any passage of this library would get."
_AGAINST = "Speaks against the match: strong in one of the two, weak or opposite in the other."
_REST = "The part of the meaning score that the named concepts do not account for."


def concepts_text(e: Explanation) -> str:
    """How far the concepts go, said openly."""
    if not e.concepts:
        return tr("No named concept is shared by the question and this passage.")
    closeness = signed(e.dense_score, 2)
    if cancels(e):
        return tr(
            "Closeness in meaning: {closeness} of 1. What speaks for the match, and what against it:",
            closeness=closeness,
        )
    return tr(
        "Closeness in meaning: {closeness} of 1. Named concepts account for {share} of what sets this passage apart.",
        closeness=closeness,
        share=percent(e.explained_share),
    )


def term_rows(e: Explanation) -> list[RowFigures]:
    """Words of the question in the passage, the strongest first; bars are relative to the strongest of all."""
    return _term_rows(e, [t for t in e.terms if not (t.added or t.part_of)])


def part_rows(e: Explanation, most: int) -> list[RowFigures]:
    """The strongest parts of the question's long words that words of the passage have, too."""
    return _term_rows(e, [replace(t, term=f"{t.term}  ←  {t.part_of}") for t in e.terms if t.part_of])[:most]


def added_rows(e: Explanation, most: int) -> list[RowFigures]:
    """The strongest words that the search added to those of the question."""
    return _term_rows(e, [t for t in e.terms if t.added])[:most]


def token_rows(e: Explanation, most: int) -> list[RowFigures]:
    """The strongest terms to which the encoder gives a weight in question and passage; some a passage need not say."""
    strongest = max((t.weight for t in e.tokens), default=0.0)
    return [
        RowFigures(
            t.term, _times(len(t.spans)) if t.spans else tr("not in the text"), t.weight / strongest,
            channel_tone("lexical"), spans=t.spans,
            tip=tr("Adds {weight} to the score of learned words", weight=signed(t.weight)),
        )
        for t in sorted(e.tokens, key=lambda t: -t.weight)[:most] if t.weight > 0
    ]  # fmt: skip


def _term_rows(e: Explanation, some: Sequence[TermMatch]) -> list[RowFigures]:
    terms = sorted(some, key=lambda t: -t.weight)
    most = max((t.weight for t in e.terms), default=0.0)
    return [
        RowFigures(
            t.term, _times(len(t.spans)), t.weight / most if most > 0 else 0.0, channel_tone("bm25"), spans=t.spans,
            tip=tr("Adds {weight} to the word score", weight=signed(t.weight)),
        )
        for t in terms
    ]  # fmt: skip


def _times(number: int) -> str:
    return plural(number, "once", "{n} times")


def alignment_rows(e: Explanation, most: int) -> list[RowFigures]:
    """Each word of the question with the word of the passage nearest to it in meaning."""
    pairs = sorted(e.alignment, key=lambda a: -a.score)[:most]
    return [
        RowFigures(
            f"{a.query_token}  →  {a.passage_token}", signed(a.score, 2), spans=(a.span,),
            tip=tr("Closeness in meaning: 1 is the same, 0 is unrelated"),
        )
        for a in pairs
    ]  # fmt: skip


def all_figures(e: Explanation) -> list[tuple[str, list[tuple[str, str]]]]:
    """Every raw number, in groups of (name, value)."""
    parts = [(f"{p.channel}: score", f"{p.score:.6f}") for p in e.parts]
    parts += [(f"{p.channel}: rank", "–" if p.rank is None else str(p.rank)) for p in e.parts]
    parts += [(f"{p.channel}: weight", f"{p.weight:.6f}") for p in e.parts]
    parts += [(f"{p.channel}: contribution", f"{p.contribution:.6f}") for p in e.parts]
    groups = [
        (tr("Score"), [*sorted(parts), (tr("score"), f"{e.score:.6f}")]),
        (tr("Meaning score"), [
            (tr("query · passage"), f"{e.dense_score:.6f}"), (tr("common to all passages"), f"{e.common:.6f}"),
            (tr("not explained"), f"{e.residual:.6f}"), (tr("explained share"), f"{e.explained_share:.4f}"),
        ]),
        (tr("Reasons"), [
            (f"{line.channel}: {line.label or line.kind}", f"{line.contribution:.6f}") for line in e.account
        ]),
        (tr("Concepts"), [row for c in e.concepts for row in _concept_figures(c)]),
        (tr("Words"), [(t.term, f"{t.weight:.6f}") for t in e.terms]),
        (tr("Learned words"), [(t.term, f"{t.weight:.6f}") for t in e.tokens]),
        (tr("Nearest words"), [(f"{a.query_token} → {a.passage_token}", f"{a.score:.4f}") for a in e.alignment]),
    ]  # fmt: skip
    return [(title, rows) for title, rows in groups if rows]


def _concept_figures(c: ConceptShare) -> list[tuple[str, str]]:
    return [
        (f"{c.id} {c.label}", f"{c.contribution:.6f}"),
        (tr("  active in the question"), f"{c.query_activation:.4f}"),
        (tr("  active in the passage"), f"{c.passage_activation:.4f}"),
        *((f"  · {p.query_id} {p.query_label}", f"{p.contribution:.6f}") for p in c.pairs),
        *(((tr("  · rest of the question"), f"{c.rest:.6f}"),) if c.pairs else ()),
    ]
