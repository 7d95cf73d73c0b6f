"""The command `explain`: why a passage matches, or why it is not among the hits."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from core.base.types import Lift, Query, WhyNot
from core.cli.filters import parse_filters, placed
from core.cli.options import FilterOption, Json, LibraryOption
from core.cli.output import out, print_json

_LIFTS = {
    "word": "with the word {what} in the question", "concept": "with the concept «{what}» counting twice",
    "filter": "without {what}", "channel": "by {what} alone",
}  # fmt: skip


def explain(
    query: str,
    passage_id: Annotated[int, typer.Argument(min=1, max=2**63 - 1, help="From `search`.")],
    library: LibraryOption,
    why_not: Annotated[
        bool, typer.Option("--why-not", help="Say why it is not among the hits, and what would bring it up.")
    ] = False,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many hits it is compared with.")] = 10,
    filter: FilterOption = None,
    json: Json = False,
) -> None:
    """Say why a passage matches a query, or with --why-not why it is not among its hits."""
    from core.cli.present import show_explanation
    from core.worker.finding import Finder

    asked = Query(query, k=k, filters=placed(parse_filters(filter or ()), library))
    finder = Finder(library)
    try:
        if why_not:
            absent = finder.why_not(asked, passage_id)
            print_json(absent) if json else show_why_not(absent)
            return
        found = finder.explain(asked, passage_id)
    finally:
        finder.close()
    print_json(found) if json else show_explanation(found)


def show_why_not(found: WhyNot) -> None:
    out.print(found.sentence, style="bold", markup=False)
    table = Table("Channel", "Rank", "Score", "Contribution", "Of the first hit", "Of the last")
    for one in found.standings:
        numbers = (f"{value:+.4f}" for value in (one.contribution, one.best, one.last))
        table.add_row(one.channel, "-" if one.rank is None else f"{one.rank:,}", f"{one.score:.4f}", *numbers)
    place = "-" if found.rank is None else f"{found.rank:,}"
    table.add_row("total", place, "", f"{found.score:+.4f}", "", f"{found.last:+.4f}")
    out.print(table)
    for lift in found.lifts:
        out.print(f"  {_lifted(lift)}", markup=False)


def _lifted(lift: Lift) -> str:
    place = "still no hit" if lift.rank is None else f"place {lift.rank}"
    return f"{place} {_LIFTS[lift.kind].format(what=lift.what)}"
