"""What is read of an explanation in five seconds: the reasons of all ways of searching in one list, largest first.
Pure: no widgets, no colours but names."""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.i18n import plural, tr
from app.widgets.hit_channels import channel_title, channel_tone
from app.widgets.why_bar import Segment
from app.widgets.why_figures import additive, signed
from app.widgets.why_row import RowFigures
from app.widgets.why_sections import SCORE_DECIMALS, channel_tip
from core.base.types import DENSE, STEER, AccountLine, ConceptShare, Explanation, Span

FEW = 5
_KINDS = {
    "word": "A word of the question, in the passage.",
    "added": "A word that the best hits share; it counts beside those of the question.",
    "concept": "A concept that the question and the passage share.",
    "common": "What any passage of this library would get.",
    "token": "A term that the encoder weighs by what it has learned.",
    "others": "What further passages of it add.",
}
_STEERED = "What it adds or takes because you let it count more or less."
_REST = "The part of the meaning that the named concepts do not account for."


def reason_rows(e: Explanation, most: int = FEW) -> list[RowFigures]:
    """The largest reasons, the smaller ones together, what is no reason, and the sum. Shown numbers add up.

    Without an account: what each way of searching adds.
    """
    lines = e.account or tuple(
        AccountLine("channel", p.channel, channel_title(p.channel), p.contribution) for p in e.parts
    )
    rest = [line for line in lines if line.kind == "common" or _unexplained(e, line)]
    reasons = sorted((line for line in lines if line not in rest), key=lambda line: -abs(line.contribution))
    listed, others = reasons[:most], reasons[most:]
    if len(others) == 1:  # no row for "1 smaller reason": it can stand there itself
        listed, others = reasons, []
    values = [line.contribution for line in listed]
    if others:
        values.append(math.fsum(line.contribution for line in others))
    values += [line.contribution for line in rest]
    shown, total = additive(values, e.score, SCORE_DECIMALS)
    largest = max((abs(v) for v in values), default=0.0) or 1.0
    rows = [_row(e, line, value, largest) for line, value in zip(listed, shown, strict=False)]
    if others:
        label = plural(len(others), "{n} smaller reason", "{n} smaller reasons")
        value = shown[len(listed)]
        rows.append(RowFigures(label, _points(value), max(0.0, value) / largest, "outline", tip=_these(e, others)))
    rows += [_row(e, line, value, largest) for line, value in zip(rest, shown[len(shown) - len(rest) :], strict=True)]
    return [*rows, RowFigures(tr("Together"), _points(total), strong=True)]


def _unexplained(e: Explanation, line: AccountLine) -> bool:
    """Whether it is what concepts leave of the meaning; without any the meaning is one reason."""
    return line.kind == "unnamed" and line.channel == DENSE and bool(e.concepts)


def _row(e: Explanation, line: AccountLine, value: float, largest: float) -> RowFigures:
    share = _concept(e, line.id) if line.kind == "concept" else None
    return RowFigures(
        _label(e, line), _points(value), max(0.0, value) / largest,
        "outline" if line.kind == "common" else channel_tone(line.channel), _unexplained(e, line),
        line.spans or (share.spans if share else ()), _tip(e, line), concept=line.id if share else -1,
        words=share.words if share else (),
    )  # fmt: skip


def _tip(e: Explanation, line: AccountLine) -> str:
    if _unexplained(e, line):
        tip = tr(_REST)
    elif line.channel == STEER:
        tip = tr(_STEERED)
    elif line.kind in _KINDS:
        tip = tr(_KINDS[line.kind])
    else:
        tip = channel_tip(line.channel, next((p.rank for p in e.parts if p.channel == line.channel), None))
    return f"{tip} {tr('It speaks against the match.')}" if line.contribution < 0 else tip


def _label(e: Explanation, line: AccountLine) -> str:
    """Words and concepts are told apart as in the sentence above them."""
    if line.kind == "common":
        return tr("Common to all passages")
    if _unexplained(e, line):
        return tr("Not explained by concepts")
    if line.kind == "others":
        return tr("Further passages: {way}", way=channel_title(line.channel).lower())
    if line.kind == "concept":
        return f"«{line.label}»" + (f" · {tr('steered')}" if line.channel == STEER else "")
    return f"“{line.label}”" if line.kind in ("word", "added", "token") else line.label or channel_title(line.channel)


def _concept(e: Explanation, concept: int) -> ConceptShare | None:
    return next((c for c in e.concepts if c.id == concept), None)


def _these(e: Explanation, lines: Sequence[AccountLine]) -> str:
    return "\n".join(f"{_label(e, line)}  {_points(line.contribution)}" for line in lines[:12])


def _points(value: float) -> str:
    return signed(value, SCORE_DECIMALS)


def reason_segments(e: Explanation) -> list[Segment]:
    """The same as one bar: a segment a way of searching."""
    return [
        Segment(f"{channel_title(p.channel)} {_points(p.contribution)}", p.contribution, channel_tone(p.channel))
        for p in e.parts
    ]


def asked_words(e: Explanation) -> tuple[Span, ...]:
    """The question's own words in the passage."""
    return tuple(s for t in e.terms if not (t.added or t.part_of) for s in t.spans)


def meant_words(e: Explanation, most: int = 2) -> tuple[Span, ...]:
    """Where the strongest concepts stand in the passage: their words, else the sentence of the strongest."""
    helping = sorted((c for c in e.concepts if c.contribution > 0), key=lambda c: -c.contribution)[:most]
    words = tuple(s for c in helping for s in c.words)
    return words or tuple(s for c in helping[:1] for s in c.spans[:1])


def pair_rows(c: ConceptShare, most: int = 3) -> list[RowFigures]:
    """What of the question meets a concept of the passage, with its part of the closeness in meaning."""
    if not c.pairs:
        return []
    pairs = sorted(c.pairs, key=lambda p: -abs(p.contribution))[:most]
    left = math.fsum(p.contribution for p in c.pairs if p not in pairs) + c.rest
    rows = [_pair(tr("met by «{concept}»", concept=p.query_label), p.contribution) for p in pairs]
    return [*rows, _pair(tr("met by the rest of the question"), left)]


def _pair(label: str, value: float) -> RowFigures:
    return RowFigures(label, signed(value), inset=True, tip=tr("A part of the closeness in meaning."))
