"""`whymatch adapt`: the encoder of a library learns from its documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from core.cli.output import out, print_json, progress
from core.train.recipe_fields import Value, of, parsed
from core.train.recipes import QUICK, RECIPES, named


def adapt(
    library: Annotated[Path, typer.Option("--library", help="The library's folder.")],
    recipe: Annotated[str, typer.Option(help=f"How thoroughly: {', '.join(RECIPES)}.")] = QUICK,
    minutes: Annotated[float | None, typer.Option(help="Longest time of each stage of training.", min=0.1)] = None,
    set: Annotated[list[str] | None, typer.Option("--set", help="FIELD=VALUE: change a setting of the recipe.")] = None,
    settings: Annotated[bool, typer.Option("--settings", help="Only list the recipe's settings.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only tell what it would take.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Let search learn from the documents; what is not better beyond doubt on questions held out changes nothing.

    A run that was stopped goes on where it was. `whymatch rollback` takes an accepted one back.
    """
    changes = dict(map(parsed, set or ()))
    if settings:
        _settings(recipe, changes, json)
        return
    if estimate:
        _estimate(library, recipe, changes, json)
        return
    from core.worker.adapting import adapt as run

    with progress() as line:
        made = run(library, recipe, minutes, changes if set else None, control=line.control, listener=line)
    print_json(made) if json else _show(made)


def _settings(recipe: str, changes: Mapping[str, Value], json: bool) -> None:
    """With the values that the recipe would have."""
    found = of(named(recipe), changes)
    if json:
        print_json({"settings": found})
        return
    table = Table("Setting", "Value", "By itself", "What it does", "Source")
    for field in found:
        table.add_row(field.name, _said(field.value), _said(field.default), field.text, field.source)
    out.print(table)


def _said(value: Value) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value}"


def _estimate(library: Path, recipe: str, changes: Mapping[str, Value], json: bool) -> None:
    from core.worker.adapt_estimate import estimate

    found = estimate(library, recipe, changes)
    if json:
        print_json(found)
    elif found.reason:
        out.print(found.reason, markup=False)
    else:
        low, high = (max(1, round(seconds / 60)) for seconds in found.seconds)
        memory, disk = (round(size / 1e6) for size in (found.memory, found.disk))
        out.print(f"About {low} to {high} minutes, {memory} MB of memory, {disk} MB of disk while it runs.")


def _show(made: dict[str, Any]) -> None:
    gate = made["gate"]
    table = Table("", "Before", "After")
    table.add_row("nDCG@10 by meaning", f"{gate['before']:.3f}", f"{gate['after']:.3f}")
    table.add_row("nDCG@10 of the search", f"{gate['fused_before']:.3f}", f"{gate['fused_after']:.3f}")
    out.print(table)
    out.print(f"{gate['queries']} held-out questions; by meaning {gate['delta']:+.3f} "
              f"({gate['low']:+.3f} to {gate['high']:+.3f}).")  # fmt: skip
    out.print(escape(gate["reason"]))
    if made["generation"]:
        out.print(f"Generation {made['generation']} is in use. To take it back: whymatch rollback")
