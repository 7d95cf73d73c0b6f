"""What would bring a passage up, in words, and how it changes what is asked. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.i18n import tr
from app.widgets.hit_channels import channel_name
from app.widgets.hit_understood import meaning
from core.base.types import Filters, Lift, Span

_FIELDS = {  # as a filter is written: the field of `Filters`
    "type": "types", "folder": "folders", "in": "folders", "lang": "languages", "tag": "tags", "document": "documents",
    "title": "titles", "author": "authors", "name": "names",
}  # fmt: skip


def lift_text(lift: Lift) -> str:
    """The change that is proposed."""
    match lift.kind:
        case "word":
            return tr("Add the word “{word}”", word=lift.what)
        case "concept":
            return tr("Count «{concept}» more", concept=lift.what)
        case "filter":
            return tr("Search without {what}", what=lift.what)
        case _:
            return tr("Search only by {way}", way=channel_name(lift.what))


def excluded_text(piece: str) -> str:
    """A filter or piece of syntax that keeps a passage out, in plain words where it is one that the box knows."""
    return meaning(piece)


def freed(
    text: str, pieces: Sequence[str], spans: Sequence[Span], filters: Filters, excluded: Sequence[str]
) -> tuple[str, Filters]:
    """The query without what keeps a passage out: `pieces` of its text at `spans`, and filters. A phrase leaves its
    words."""
    for piece, span in sorted(zip(pieces, spans, strict=True), key=lambda pair: -pair[1].start):
        if piece in excluded:
            kept = piece.strip('"') if piece.startswith('"') else ""
            text = f"{text[: span.start]}{kept}{text[span.end :]}"
    cleared: dict[str, Any] = {}
    for written in (one for one in excluded if one not in pieces):
        name = written.partition(":")[0]
        if name in ("after", "before"):
            cleared[name] = ""
        elif name in _FIELDS:
            cleared[_FIELDS[name]] = ()
    return " ".join(text.split()), replace(filters, **cleared)
