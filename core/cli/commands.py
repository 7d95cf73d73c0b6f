"""The commands. Heavy packages are imported by the command that needs them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core.cli.adapting import adapt
from core.cli.calibrating import calibrate
from core.cli.concepts import concepts
from core.cli.evaluating import evaluate
from core.cli.explaining import explain
from core.cli.filters import parse_filters, placed
from core.cli.history import history
from core.cli.lenses import lenses
from core.cli.models import models
from core.cli.options import FilterOption, Json, LibraryOption
from core.cli.output import out, print_json, progress
from core.cli.reencoding import reencode
from core.cli.searching import search

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    help="Search and answers from your own documents, on your own machine, with the reason for every match.",
)  # fmt: skip
app.add_typer(models, name="models")
app.command()(reencode)
app.command()(evaluate)
app.command()(calibrate)
app.command()(adapt)
app.command()(search)
app.command()(explain)
app.command()(concepts)
app.add_typer(lenses, name="lens")
app.add_typer(history, name="history")


@app.command()
def ingest(
    library: LibraryOption,
    paths: Annotated[list[Path] | None, typer.Argument(help="Files and folders to add; none looks again.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Read files again that could not be read whole.")] = False,
    ocr: Annotated[bool, typer.Option("--ocr/--no-ocr", help="Read text in pictures.")] = True,
    multi: Annotated[
        bool | None, typer.Option("--multi/--no-multi", help="Keep a vector of each token, from now on.")
    ] = None,
    json: Json = False,
) -> None:
    """Add files and folders to a library, and read what is new or changed."""
    from core.ingest.limits import Limits
    from core.store.database import require
    from core.worker.ingesting import ingest as run

    if not paths:
        require(library)
    with progress() as line:
        report = run(
            library, paths or [], retry=retry, limits=Limits(ocr=ocr), control=line.control, listener=line, multi=multi
        )
    if json:
        print_json(report)
        return
    out.print(
        f"{report.documents} documents, {report.passages} passages, {report.skipped} unchanged, {report.seconds:.1f} s"
    )
    for failure in report.failed:
        out.print(f"  {failure.state.value}: {failure.path}  {failure.reason}", markup=False)


@app.command()
def watch(
    library: LibraryOption,
    every: Annotated[float, typer.Option(help="Seconds between two looks at everything.", min=1)] = 600.0,
) -> None:
    """Keep a library up to date with its folders until Ctrl+C."""
    from core.cli.watching import run

    with progress() as line:
        run(library, line, every=every)


@app.command()
def documents(library: LibraryOption, json: Json = False) -> None:
    """List the documents of a library with the state of each."""
    from core.cli.present import show_documents
    from core.library import Library

    reader = Library.open(library)
    rows = reader.documents()
    reader.close()
    if json:
        print_json({"documents": rows})
        return
    show_documents(rows)


@app.command()
def report(
    library: LibraryOption,
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write a line a document to this file.")] = None,
    json: Json = False,
) -> None:
    """Tell how much of the documents was read, and how."""
    from core.cli.reporting import show

    show(library, csv, as_json=json)


@app.command()
def unlock(
    path: Annotated[Path, typer.Argument(help="A locked file of the library.")],
    library: LibraryOption,
    remember: Annotated[bool, typer.Option("--remember", help="Keep the password in the system's keyring.")] = False,
    json: Json = False,
) -> None:
    """Read a locked file with its password, which is asked for, or is a line of standard input."""
    from core.cli.unlocking import unlock as run

    report = run(library, path, remember=remember)
    print_json(report) if json else out.print(f"{path} is unlocked.", markup=False)


@app.command()
def text(
    path: Annotated[Path, typer.Argument(help="The file to read.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="A line of standard input is the file's password.")
    ] = False,
    patient: Annotated[
        bool, typer.Option("--patient", help="Read every page that needs it from its picture, however long it takes.")
    ] = False,
    json: Json = False,
) -> None:
    """Read one file and print its text; no library is needed."""
    from core.cli.reading import read_one
    from core.cli.unlocking import read_password

    found = read_one(path, read_password() if password_stdin else "", patient=patient)
    if json:
        print_json(found)
        return
    out.print(found["text"], markup=False)
    if found["reason"]:
        out.print(f"[{found['state']}] {found['reason']}", markup=False)


@app.command()
def ask(
    question: str,
    library: LibraryOption,
    extractive: Annotated[bool, typer.Option("--extractive", help="Quote only, without the model.")] = False,
    filter: FilterOption = None,
    json: Json = False,
) -> None:
    """Answer a question from the documents, with citations.

    Questions about the whole library (how many documents ..., list all ..., compare ..., summarise ..., a timeline of
    ...) are answered from all that matches.
    """
    from core.cli.present import show_answer
    from core.worker.asking import ask as run
    from core.worker.finding import Finder

    filters = placed(parse_filters(filter or ()), library)
    finder = Finder(library)
    try:
        with progress(quiet=True) as line:
            mode = "extractive" if extractive else "auto"
            answer, _ = run(finder, library, question, filters=filters, mode=mode, control=line.control)
    finally:
        finder.close()
    if not json:
        show_answer(answer)
        return
    value = {"mode": answer.mode, "answer": answer.text, "sentences": answer.sentences, "groups": answer.groups}
    read = {"read": answer.read, "matching": answer.matching}
    near = {"near_misses": answer.near_misses, "hidden": answer.hidden}
    print_json({**value, **read, **near, "reason": answer.reason, "model": answer.model})


@app.command()
def delete(path: Path, library: LibraryOption, json: Json = False) -> None:
    """Take a file or folder out of a library; the file itself stays."""
    from core.worker.ingesting import delete as run

    receipt = run(library, path)
    print_json(receipt) if json else out.print(receipt.receipt, markup=False)


@app.command()
def tag(
    path: Annotated[Path, typer.Argument(help="A document of the library.")],
    library: LibraryOption,
    tags: Annotated[list[str] | None, typer.Argument(help="Its tags from now on; none takes them away.")] = None,
    json: Json = False,
) -> None:
    """Give a document tags, to filter by with `--filter tag=...`."""
    from core.cli.tagging import tag as run

    changed = run(library, path, tags or [])
    print_json({"documents": changed}) if json else out.print(f"{len(changed)} documents tagged.")


@app.command()
def rollback(
    library: LibraryOption,
    to: Annotated[int | None, typer.Option("--to", help="Generation; by default the one before.")] = None,
    json: Json = False,
) -> None:
    """Go back to an earlier generation of the index."""
    from core.worker.generations import roll_back

    number = roll_back(library, to)
    print_json({"generation": number}) if json else out.print(f"Generation {number} is in use.")


@app.command()
def doctor(
    library: LibraryOption,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    purge: Annotated[bool, typer.Option("--purge", help="Leave no byte of what was deleted.")] = False,
    json: Json = False,
) -> None:
    """Check that a library is whole; ends with 1 while it is not."""
    from core.cli.present import show_findings, show_purged
    from core.worker.doctor import examine
    from core.worker.purge import purge as run

    purged = None
    if purge:
        with progress() as line:
            purged = run(library, control=line.control, listener=line)
    findings = examine(library, repair=repair)
    ok = all(f.severity == "ok" or f.repaired for f in findings)
    if json:
        print_json({"ok": ok, "findings": findings, "purged": purged})
    else:
        show_purged(purged)
        show_findings(findings)
    if any(f.severity == "error" and not f.repaired for f in findings):
        raise typer.Exit(1)


@app.command()
def demo(json: Json = False) -> None:
    """Make a throw-away library of the sample documents, ask a question, and show answer and reason."""
    from core.cli.demo import run

    with progress() as line:
        shown = run(line)
    if json:
        print_json(shown.plain())
    else:
        shown.show()
