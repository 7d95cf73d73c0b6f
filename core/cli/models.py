"""`whymatch models`: what is installed, what is in use."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from core.cli.output import out, print_json

models = typer.Typer(no_args_is_help=True, help="Encoders and language models.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@models.command("list")
def list_models(json: Json = False) -> None:
    """List the known models."""
    _show(json)


@models.command()
def add(
    spec: Annotated[str, typer.Argument(help="A starter's id, a model folder or a GGUF file.")], json: Json = False
) -> None:
    """Install a model."""
    from core.encode.install import add as install

    install(spec)
    _show(json)


@models.command()
def use(id: str, json: Json = False) -> None:
    """Make an installed model the one in use."""
    from core.models import catalogue

    catalogue.use(id)
    _show(json)


@models.command()
def remove(id: str, json: Json = False) -> None:
    """Delete an installed model."""
    from core.models import catalogue

    catalogue.remove(id)
    _show(json)


def _show(json: bool) -> None:
    from core.models.catalogue import listing

    rows = listing()
    if json:
        print_json({"models": rows})
        return
    table = Table("Model", "Kind", "Size", "Licence", "State")
    for row in rows:
        state = "in use" if row.active else "installed" if row.installed else "not installed"
        table.add_row(row.id, row.kind, f"{row.size / 1e6:.0f} MB", escape(row.licence), state)
    out.print(table)
