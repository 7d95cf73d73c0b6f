"""Names by the language model, and the intruder test by a person or the model: options of the command `concepts`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from core.cli.output import err, out, print_json, progress


def naming(library: Path, minutes: float, *, json: bool) -> None:
    """Let the local language model name concepts for so many minutes, and say what came of it."""
    from core.worker.concept_naming import name_concepts

    with progress() as line:
        told = name_concepts(library, minutes, control=line.control, listener=line)
    if json:
        print_json(asdict(told))
        return
    if not told.asked:
        out.print("There was no time for a name." if told.left else "The model was asked about all concepts before.")
        return
    out.print(f"{told.kept} of {told.asked} names that the model wrote lead to the passages better, and are kept.")
    if not told.capable:
        out.print("The model was given up: names by contrast are better than those that it writes.")
    elif told.left:
        out.print(f"{told.left} concepts are left: go on with the same command.")


def judging(library: Path, puzzles: int, *, by_model: bool, json: bool) -> None:
    """Ask for the passage that does not belong, the person or the model, and say how often it was found."""
    from core.worker.concept_judging import judge_concepts

    if by_model:
        with progress() as line:
            told = judge_concepts(library, puzzles, control=line.control, listener=line)
    else:
        told = judge_concepts(library, puzzles, _ask)
    if json:
        print_json(asdict(told))
        return
    out.print(f"{told.found:g} of {told.asked} were found; guessing finds about one in ten.")
    if told.by_words is not None:
        out.print(f"By their words alone, {told.by_words:.0%} of such passages are found.")


def _ask(excerpts: Sequence[str]) -> int | None:
    """On standard error: what is printed at the end may be read by a program."""
    err.print("\nAll of these but one have something in common. Which one does not belong?\n")
    for number, text in enumerate(excerpts, 1):
        err.print(f"{number}. {text}", markup=False)
    said = -1
    while not 0 <= said <= len(excerpts):
        said = typer.prompt("Number, or 0 when you cannot tell", type=int, err=True)
    return said - 1 if said else None
