"""The commands `lens`: saved ways of looking. What is heavy is imported when one runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from core.base.errors import NotFound
from core.base.types import Lens
from core.cli.options import Json, LibraryOption
from core.cli.output import out, print_json
from core.library import Library

lenses = typer.Typer(no_args_is_help=True, help="Saved lenses: concepts that count more or less, or must be there.")


@contextmanager
def concepts_of(library: Path) -> Iterator[tuple[Library, str]]:
    """The library, and the name of the model that its concepts are of.

    Raises:
        NotFound: it has none. NotALibrary, LibraryDamaged, IndexDamaged
    """
    from core.index import generation

    reader = Library.open(library)
    try:
        current = generation.current(library)
        if current is None or not current.concepts:
            raise NotFound("This library has no concepts yet.", "Fit them: whymatch concepts --fit.")
        yield reader, current.concepts
    finally:
        reader.close()


def named(library: Path, name: str) -> Lens:
    """Raises NotFound."""
    with concepts_of(library) as (reader, model):
        known = reader.lenses(model)
    found = next((lens for lens in known if lens.name.casefold() == name.casefold()), None)
    if found is None:
        raise NotFound(f"There is no lens “{name}”.", f"Saved: {', '.join(lens.name for lens in known) or 'none'}.")
    return found


@lenses.command("list")
def show(library: LibraryOption, json: Json = False) -> None:
    """List the saved lenses."""
    with concepts_of(library) as (reader, model):
        found = reader.lenses(model)
        labels = {i: c.label for c in reader.concepts(model) for i in (c.id, *c.merged)}
    if json:
        print_json({"lenses": found})
        return
    table = Table("Lens", "Counts", "Must be there")
    for lens in found:
        counts = ", ".join(f"{labels.get(i, i)} × {factor:g}" for i, factor in lens.boosts.items())
        required = ", ".join(str(labels.get(i, i)) for i in lens.required)
        table.add_row(escape(lens.name), escape(counts), escape(required))
    out.print(table)


@lenses.command()
def save(
    name: str,
    library: LibraryOption,
    boost: Annotated[
        list[str] | None, typer.Option(metavar="ID=FACTOR", help="Let a concept count FACTOR times as much.")
    ] = None,
    mute: Annotated[list[int] | None, typer.Option(metavar="ID", help="Let a concept count nothing.")] = None,
    require: Annotated[list[int] | None, typer.Option(metavar="ID", help="A concept that every hit must have.")] = None,
    json: Json = False,
) -> None:
    """Save a lens, in place of one of the same name."""
    from core.cli.searching import factors

    with concepts_of(library) as (reader, model):
        known = {i for c in reader.concepts(model) for i in (c.id, *c.merged)}
        lens = Lens(0, name, factors(boost or (), mute or ()), tuple(require or ()))
        strange = [str(i) for i in (*lens.boosts, *lens.required) if i not in known]
        if strange:
            raise NotFound(f"There is no concept {', '.join(strange)} here.", "List them: whymatch concepts.")
        number = reader.save_lens(model, lens)
    print_json({"id": number}) if json else out.print(f"Saved “{name}”.", markup=False)


@lenses.command()
def delete(name: str, library: LibraryOption, json: Json = False) -> None:
    """Delete a lens."""
    lens = named(library, name)
    with concepts_of(library) as (reader, _):
        reader.delete_lens(lens.id)
    print_json({"id": lens.id}) if json else out.print(f"Deleted “{lens.name}”.", markup=False)
