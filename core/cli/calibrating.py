"""The command `calibrate`: how much each channel counts in a library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core.cli.output import out, print_json, progress


def calibrate(
    library: Annotated[Path, typer.Option("--library", help="The library's folder.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fit the weights of the channels to a library, on questions made of its own passages."""
    from core.worker.calibrating import calibrate_library

    with progress() as line:
        found = calibrate_library(library, line.control, line)
    if json:
        print_json(found)
        return
    out.print(f"{found.queries} questions, nDCG@10 {found.before:.4f} by default, {found.after:.4f} with new weights.")
    out.print(found.reason)
    for channel, weight in found.weights.items():
        out.print(f"  {channel}: {weight:g}")
