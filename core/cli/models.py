"""`whymatch models`: what there is, what is installed, what is in use; adding with what it takes told first."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from core.base.errors import Cancelled, DiskFull, KnownError
from core.cli.output import err, out, print_json, progress

if TYPE_CHECKING:
    from core.base.events import Control
    from core.models.catalogue import ModelNeeds
    from core.models.endpoint import Endpoint

models = typer.Typer(no_args_is_help=True, help="Encoders, rerankers and language models.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@models.command("list")
def list_models(json: Json = False) -> None:
    """List the known models."""
    _show(json)


@models.command()
def add(
    spec: Annotated[
        str, typer.Argument(help="A model's id of the list, owner/name of the hub, a model folder or a GGUF file.")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Install a model. What it takes is told first; Ctrl+C stops, and the next time goes on from there."""
    from core.models.catalogue import needs
    from core.worker.probing import add as install

    with progress() as line:
        found = needs(spec)
        line.control.check()
    _tell(found)
    if found.free < found.download + found.disk:
        raise DiskFull(f"{found.id} does not fit on the disk.", "Free some space, then try again.")
    if not (yes or json) and sys.stdin.isatty() and sys.stderr.isatty():
        _ask()
    with progress() as line:
        install(spec, control=line.control, listener=line)
    _show(json)


@models.command()
def use(
    id: Annotated[str, typer.Argument(help="An installed model; none, with --kind reranker, for no reranker.")],
    kind: Annotated[str, typer.Option(help="With none: of which kind none is wanted; reranker.")] = "",
    json: Json = False,
) -> None:
    """Make an installed model the one in use: an encoder for new libraries, an LLM for all answers, a reranker to be
    tried when adapting."""
    from core.models import bundles, catalogue

    if kind:
        if (id, kind) != ("none", bundles.RERANKER):
            raise typer.BadParameter(f"{id} --kind {kind}: --kind goes with none, and is reranker")
        bundles.unset_active(kind)
        _show(json)
        return
    bundle = catalogue.use(id)
    if bundle.kind == bundles.RERANKER:
        err.print("Adapting tries it, and a library uses it where it finds more: whymatch adapt", markup=False)
    if bundle.kind == bundles.ENCODER:
        err.print("New libraries use it. For one that is there: whymatch reencode --library DIR", markup=False)
    _show(json)


@models.command()
def measure(id: str, json: Json = False) -> None:
    """Tell how many tokens a second an installed language model reads and writes on this machine."""
    from core.worker.probing import measure as run

    with progress() as line:
        speed = run(id, control=line.control)
    if json:
        print_json(speed)
        return
    out.print(f"{id}: writes {speed.write:.1f} and reads {speed.read:.0f} tokens a second", markup=False)


@models.command()
def endpoint(
    url: Annotated[str, typer.Argument(help="Such as http://127.0.0.1:8080/v1; without, what is set is told.")] = "",
    model: Annotated[str, typer.Option(help="Which of its models; by default the only one it offers.")] = "",
    anywhere: Annotated[
        bool, typer.Option("--anywhere", help="Allow an address outside of this machine and its private networks.")
    ] = False,
    context: Annotated[int, typer.Option(help="Tokens that it gives question and answer together.")] = 0,
    off: Annotated[bool, typer.Option("--off", help="Switch it off; answers are written here again.")] = False,
    json: Json = False,
) -> None:
    """Let an OpenAI-compatible endpoint on your own machine or network write the answers.

    Questions and the passages found for them are sent to it. There is none until you name one. A key, where one is
    wanted, is read from the environment variable WHYMATCH_ENDPOINT_KEY.
    """
    from dataclasses import asdict, replace

    from core.models import endpoint as endpoints

    if url:
        with progress() as line:
            endpoints.keep(_endpoint(url, model, anywhere, context, line.control))
    kept = endpoints.kept()
    if off and kept is not None:
        kept = replace(kept, in_use=False)
        endpoints.keep(kept)
    if json:
        print_json({"endpoint": kept and {**asdict(kept), "host": kept.host}})
    elif kept is None:
        out.print("No endpoint is named: answers are written on this computer.", markup=False)
    else:
        state = "writes the answers: questions and passages are sent to it" if kept.in_use else "is switched off"
        out.print(f"{kept.title} {state}.", markup=False)


def _endpoint(url: str, model: str, anywhere: bool, context: int, control: Control) -> Endpoint:
    """The endpoint in use from now on. Raises KnownError when it offers several models and none is named."""
    from core.answer.remote import offered
    from core.models.endpoint import made

    named = made(url, model, in_use=True, anywhere=anywhere, context=context)
    if model:
        return named
    names = offered(named, control)
    if len(names) != 1:
        said = ", ".join(names[:20]) or "none"
        raise KnownError(f"{named.host} offers these models: {said}.", "Name one of them with --model.")
    return made(url, names[0], in_use=True, anywhere=anywhere, context=context)


@models.command()
def renew(id: str, json: Json = False) -> None:
    """Export an encoder that an older version installed again, for speed. Nothing is fetched; its vectors stay good."""
    from core.encode.renew import renew as run

    with progress() as line:
        run(id, control=line.control, listener=line)
    _show(json)


@models.command()
def remove(id: str, json: Json = False) -> None:
    """Delete an installed model, or what was fetched of one."""
    from core.models import catalogue

    catalogue.remove(id)
    _show(json)


def _tell(needs: ModelNeeds) -> None:
    err.print(f"{needs.id} ({needs.source})", markup=False)
    err.print(f"  licence   {needs.licence or 'not told: look at its page before you use it'}", markup=False)
    if needs.about:
        err.print(f"  good for  {needs.about}", markup=False)
    err.print(
        f"  takes     {_megabytes(needs.download)} to fetch, {_megabytes(needs.disk)} on the disk "
        f"({_megabytes(needs.free)} free), {_megabytes(needs.memory)} of memory while it serves",
        markup=False,
    )


def _ask() -> None:
    try:
        agreed = typer.confirm("Install it?", default=True, err=True)
    except typer.Abort:
        raise Cancelled("cancelled") from None
    if not agreed:
        raise Cancelled("cancelled")


def _show(json: bool) -> None:
    from core.models.bundles import RERANKER
    from core.models.catalogue import listing

    rows = listing()
    if json:
        print_json({"models": rows})
        return
    table = Table("Model", "Kind", "Size", "Licence", "Languages", "State")
    for row in rows:
        used = "tried when adapting" if row.kind == RERANKER else "in use"
        state = used if row.active else "installed" if row.installed else "not installed"
        state = "damaged" if row.damaged else "fetched in part" if row.partial else state
        state += ", of an older version" if row.outdated else ""
        state += f", writes {row.write_speed:.0f} tokens/s" if row.write_speed else ""
        languages = ", ".join(row.languages[:4]) + (" …" if len(row.languages) > 4 else "")
        table.add_row(escape(row.id), row.kind, _megabytes(row.size), escape(row.licence), escape(languages), state)
    out.print(table)
    for row in rows:
        if row.outdated:
            out.print(f"{row.id} gets faster once it is exported again: whymatch models renew {row.id}", markup=False)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
