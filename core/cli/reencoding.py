"""`whymatch reencode`: another encoder for a library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core.cli.output import out, print_json, progress


def reencode(
    library: Annotated[Path, typer.Option("--library", help="The library's folder.")],
    model: Annotated[str | None, typer.Option("--model", help="Encoder; by default the active one.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make the index anew with another encoder; the present one answers until then."""
    from core.worker.reencoding import reencode as run

    with progress() as line:
        made = run(library, model, control=line.control, listener=line)
    if json:
        print_json(made)
        return
    out.print(f"Generation {made.generation} with {made.encoder}: {made.passages} passages, {made.encoded} encoded.")
    if made.before:
        out.print(f"Back to the encoder before: whymatch rollback --library {library}", markup=False)
