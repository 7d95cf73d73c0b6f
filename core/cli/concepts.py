"""The command `concepts`: list, look at, name, hide and merge them. What is heavy is imported when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from core.base.errors import NotFound
from core.base.types import Concept, ConceptDetail, ConceptWeight, Difference, Filters
from core.base.types.records import EFFICIENT, MAX
from core.cli.concept_tests import judging, naming
from core.cli.filters import placed
from core.cli.lenses import concepts_of
from core.cli.options import Json, LibraryOption
from core.cli.output import out, print_json, progress

_LIKELY = 2.0  # a difference of so many standard errors is chance one time in twenty


def concepts(
    library: LibraryOption,
    fit: Annotated[bool, typer.Option("--fit", help="Find the concepts anew.")] = False,
    detail: Annotated[int | None, typer.Option(metavar="ID", help="Show one of them.")] = None,
    profile: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="What sets a folder or a file apart from the library.")
    ] = None,
    difference: Annotated[
        tuple[Path, Path] | None, typer.Option(metavar="FOLDER FOLDER", help="How two folders differ.")
    ] = None,
    map: Annotated[bool, typer.Option("--map", help="Where each lies on the map.")] = False,
    rename: Annotated[
        tuple[int, str] | None, typer.Option(metavar="ID NAME", help='Give one a name; "" takes it back.')
    ] = None,
    hide: Annotated[int | None, typer.Option(metavar="ID", help="Show one no more as a reason.")] = None,
    merge: Annotated[
        tuple[int, int] | None, typer.Option(metavar="ID ID", help="Let the first count as the second.")
    ] = None,
    unmark: Annotated[
        int | None, typer.Option(metavar="ID", help="Take back its name, its hiding and its merge.")
    ] = None,
    write_names: Annotated[
        float | None, typer.Option(metavar="MINUTES", min=0.1, help="Let the local language model write better names.")
    ] = None,
    judge: Annotated[
        int | None, typer.Option(metavar="COUNT", min=1, help="Find the passage that does not belong, so many times.")
    ] = None,
    codes: Annotated[
        str | None,
        typer.Option(metavar="SETTING", help="How many stand for a passage in search: efficient (24) or max (65)."),
    ] = None,
    by_model: Annotated[bool, typer.Option("--by-model", help="Let the local language model judge.")] = False,
    json: Json = False,
) -> None:
    """List the concepts of a library, and how much they explain; or one of the options."""
    wishes = [
        detail, profile, difference, map or None, rename, hide, merge, unmark, fit or None, write_names, judge, codes,
    ]  # fmt: skip
    if sum(wish is not None for wish in wishes) > 1:
        raise typer.BadParameter("choose one of the options at a time")
    if by_model and judge is None:
        raise typer.BadParameter("--by-model says who judges, and goes with --judge")
    if rename or merge or hide is not None or unmark is not None:
        _mark(library, rename, hide, merge, unmark, json=json)
    elif detail is not None:
        _show_detail(_asked(library, "concept", {"id": detail}), json=json)
    elif profile is not None:
        _show_weights(_asked(library, "profile", {"filters": _within(library, profile)})["concepts"], json=json)
    elif difference is not None:
        first, second = (_within(library, folder) for folder in difference)
        found = _asked(library, "difference", {"first": first, "second": second})["concepts"]
        _show_differences(found, difference, json=json)
    elif write_names is not None:
        naming(library, write_names, json=json)
    elif codes is not None:
        _keep_codes(library, codes, json=json)
    elif judge is not None:
        judging(library, judge, by_model=by_model, json=json)
    elif map:
        _show_map(_asked(library, "concept_map", {})["points"], json=json)
    else:
        _list(library, fit, json=json)


def _asked(library: Path, operation: str, args: dict[str, Any]) -> Any:
    from core.worker.concept_asking import ask
    from core.worker.finding import Finder

    finder = Finder(library)
    try:
        return ask(finder, operation, args)
    finally:
        finder.close()


def _within(library: Path, folder: Path) -> dict[str, Any]:
    """The filter of a folder or file, in plain form."""
    return asdict(placed(Filters(folders=(str(folder),)), library))


def _mark(
    library: Path, rename: tuple[int, str] | None, hide: int | None, merge: tuple[int, int] | None, unmark: int | None,
    *, json: bool,
) -> None:  # fmt: skip
    with concepts_of(library) as (reader, model):
        if rename:
            concept = rename[0]
            reader.rename_concept(model, concept, rename[1])
        elif merge:
            concept = merge[1]
            reader.merge_concepts(model, *merge)
        elif hide is not None:
            concept = hide
            reader.hide_concept(model, hide)
        else:
            concept = unmark if unmark is not None else -1
            reader.unmark_concept(model, concept)
        found = next((c for c in reader.concepts(model) if concept in (c.id, *c.merged)), None)
    if found is None:
        raise NotFound(f"There is no concept {concept} here.", "List them: whymatch concepts.")
    print_json(row(found)) if json else out.print(_said(found), markup=False)


def row(concept: Concept) -> dict[str, Any]:
    """A concept in the form of the command line's contract."""
    return asdict(concept)


def _said(concept: Concept) -> str:
    notes = [f"with {', '.join(map(str, concept.merged))}"] if concept.merged else []
    notes += ["hidden"] if concept.hidden else []
    return f"{concept.id} {concept.label}" + (f" ({', '.join(notes)})" if notes else "")


def _keep_codes(library: Path, codes: str, *, json: bool) -> None:
    from core.worker.generations import keep_codes

    if codes not in (EFFICIENT, MAX):
        raise typer.BadParameter(f"choose from {EFFICIENT}, {MAX}")
    number = keep_codes(library, codes)
    if json:
        print_json({"generation": number, "codes": codes})
    else:
        out.print(f"Generation {number} keeps codes of the setting {codes}.")


def _list(library: Path, fit: bool, *, json: bool) -> None:
    from core.worker.generations import concept_overview
    from core.worker.ingesting import refit

    if fit:
        with progress() as line:
            refit(library, line.control, line)
    rows, fidelity = concept_overview(library)
    if json:
        print_json({"concepts": [row(c) for c in rows], "fidelity": fidelity})
        return
    if not rows:
        out.print("This library has no concepts yet: they come with enough passages.")
        return
    table = Table("Id", "Concept", "Passages", "Told apart")
    for concept in rows:
        label = escape(concept.label) + (" [dim](hidden)[/dim]" if concept.hidden else "")
        quality = f"{concept.quality:.0%}" if concept.quality >= 0 else ""
        table.add_row(str(concept.id), label, str(concept.passages), quality)
    out.print(table)
    figures = {key: value for key, value in fidelity.items() if isinstance(value, (int, float))}
    out.print("  ".join(f"{key} {value:.3g}" for key, value in figures.items()))


def _show_detail(found: ConceptDetail, *, json: bool) -> None:
    if json:
        print_json(found)
        return
    concept = found.concept
    out.print(_said(concept), style="bold", markup=False)
    out.print(
        f"In {concept.passages} passages of {found.documents} documents. {', '.join(concept.terms)}", markup=False
    )
    for example in found.examples:
        passage, spans = example.passage, example.spans
        text = " … ".join(passage.text[s.start : s.end] for s in spans) or passage.text[:200]
        out.print(f"  {example.activation:.2f}  {' '.join(text.split())}", markup=False)
        out.print(f"        {passage.path} (passage {passage.id})", style="dim", markup=False)
    for name, weights in (("Stands with", found.together), ("Near to it", found.near)):
        if weights:
            out.print(f"{name}: {', '.join(f'{w.label} ({w.id})' for w in weights)}", markup=False)
    if found.growth:
        out.print("Growth: " + ", ".join(f"{month} {count}" for month, count in found.growth))


def _show_weights(found: Sequence[ConceptWeight], *, json: bool) -> None:
    if json:
        print_json({"concepts": found})
        return
    if not found:
        out.print("Nothing stands out there, or no document of the library is there: whymatch documents lists them.")
        return
    table = Table("Id", "Concept", "Passages", "Share", "Of the library's")
    for one in found:
        table.add_row(str(one.id), escape(one.label), str(one.passages), f"{one.weight:.0%}", f"{one.lift:.1f} times")
    out.print(table)


def _show_differences(found: Sequence[Difference], sets: tuple[Path, Path], *, json: bool) -> None:
    if json:
        print_json({"concepts": found})
        return
    likely = [one for one in found if abs(one.z) >= _LIKELY]
    if not likely:
        out.print("They do not differ by more than chance, or no document of the library is in one of them.")
        return
    table = Table("Id", "Concept", escape(str(sets[0])), escape(str(sets[1])), "z")
    for one in likely:
        table.add_row(str(one.id), escape(one.label), f"{one.first:.0%}", f"{one.second:.0%}", f"{one.z:+.1f}")
    out.print(table)


def _show_map(points: Sequence[Any], *, json: bool) -> None:
    if json:
        print_json({"points": points})
        return
    table = Table("Id", "Concept", "Group", "x", "y")
    for one in points:
        table.add_row(str(one.id), escape(one.label), str(one.group), f"{one.x:.2f}", f"{one.y:.2f}")
    out.print(table)
