"""The command `search`. What is heavy is imported when it runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from core.base.types import BM25, CONCEPT, DENSE, FUSED, LEXICAL, MULTI, Level, Query, SearchResult
from core.cli.filters import parse_filters, placed
from core.cli.options import FilterOption, Json, LibraryOption
from core.cli.output import print_json

_KNOWN = (BM25, DENSE, LEXICAL, MULTI, CONCEPT)


def search(
    library: LibraryOption,
    query: Annotated[str, typer.Argument(help="What to look for; may be left out with --like.")] = "",
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many hits.")] = 10,
    channels: Annotated[
        str,
        typer.Option(help="Channels, comma-separated: bm25, dense, lexical, multi, concept; the library's by default."),
    ] = "",
    filter: FilterOption = None,
    level: Annotated[Level, typer.Option(help="What a hit is.")] = Level.PASSAGE,
    rerank: Annotated[
        str, typer.Option(help="on (default) or off: whether the library's reranker, if any, reads the best hits.")
    ] = "",
    boost: Annotated[
        list[str] | None, typer.Option(metavar="ID=FACTOR", help="Let a concept count FACTOR times as much.")
    ] = None,
    mute: Annotated[list[int] | None, typer.Option(metavar="ID", help="Let a concept count nothing.")] = None,
    require: Annotated[list[int] | None, typer.Option(metavar="ID", help="A concept that every hit must have.")] = None,
    like: Annotated[int | None, typer.Option(metavar="PASSAGE", help="Find more like this passage.")] = None,
    because: Annotated[
        list[int] | None, typer.Option(metavar="ID", help="With --like: one of its concepts, which alone count.")
    ] = None,
    lens: Annotated[str, typer.Option(metavar="NAME", help="Look through a saved lens.")] = "",
    json: Json = False,
) -> None:
    """Search a library.

    In the query "a phrase" must stand as it is, -word and -"a phrase" must not, and type:pdf, in:folder, lang:de,
    tag:, title:, name:, author:, before:2024, after:2024-03 say where to look (-type:pdf: where not). Concepts and
    their numbers are listed by `concepts`.
    """
    from core.cli.present import show_hits
    from core.worker.finding import Finder

    if rerank not in ("", "on", "off"):
        raise typer.BadParameter(f"{rerank}: choose on or off")
    if channels and rerank == "on":
        raise typer.BadParameter("--rerank on reads what all channels find together, and goes without --channels")
    if because and like is None:
        raise typer.BadParameter("--because says what of a passage counts, and goes with --like")
    wanted = Query(
        query, k=k, filters=placed(parse_filters(filter or ()), library), level=level, rerank=rerank != "off",
        channels=channel_names(channels) if channels else (), boosts=factors(boost or (), mute or ()),
        required=tuple(require or ()), like=like, because=tuple(because or ()),
    )  # fmt: skip
    finder = Finder(library)
    try:
        result = finder.search(_through(wanted, library, lens) if lens else wanted)
    finally:
        finder.close()
    if json:
        print_json(_plain(result))
    else:
        show_hits(result)


def _plain(result: SearchResult) -> dict[str, Any]:
    from core.cli.present import hit_row

    return {
        "hits": [hit_row(hit) for hit in result.hits], "generation": result.generation,
        "milliseconds": result.milliseconds, "filtered_out": result.filtered_out, "notice": result.notice,
        "understood": result.understood,
    }  # fmt: skip


def factors(boosts: Sequence[str], muted: Sequence[int]) -> dict[int, float]:
    """Raises typer.BadParameter."""
    found = {}
    for text in boosts:
        concept, _, factor = text.partition("=")
        try:
            found[int(concept)] = float(factor)
        except ValueError:
            raise typer.BadParameter(f"{text}: write ID=FACTOR, as in 12=2") from None
        if not math.isfinite(found[int(concept)]):
            raise typer.BadParameter(f"{text}: the factor must be a number")
    return found | dict.fromkeys(muted, 0.0)


def _through(query: Query, library: Path, name: str) -> Query:
    """The query through a lens; what it says itself of a concept goes before. Raises NotFound."""
    from core.cli.lenses import named

    found = named(library, name)
    required = tuple(dict.fromkeys((*query.required, *found.required)))
    return replace(query, boosts=found.boosts | query.boosts, required=required)


def channel_names(text: str, known: tuple[str, ...] = _KNOWN) -> tuple[str, ...]:
    """Raises typer.BadParameter (exit code 2) for a name that is no channel."""
    names: tuple[str, ...] = tuple(dict.fromkeys(n.strip() for n in text.split(",") if n.strip()))
    if FUSED in names and FUSED not in known:
        names = tuple(dict.fromkeys((*(n for n in names if n != FUSED), BM25, DENSE)))
    wrong = [n for n in names if n not in known]
    if wrong or not names:
        raise typer.BadParameter(f"{', '.join(wrong) or 'nothing'}: choose from {', '.join(known)}")
    return names
