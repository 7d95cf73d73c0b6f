"""The command `evaluate`. What is heavy is imported when it runs."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.base.files import write_bytes
from core.base.types import BM25, CONCEPT, DENSE, FUSED, LEXICAL, MULTI, RERANKED
from core.cli.output import out, print_json, progress

if TYPE_CHECKING:
    from core.evaluate.report import System

_KNOWN = (BM25, DENSE, LEXICAL, MULTI, CONCEPT, FUSED)
_MEASURES = "ndcg@10,mrr@10,recall@100,success@10,ap@100,hole@10"
_MINUTES = 10.0  # of writing


def evaluate(
    datasets: Annotated[
        list[Path] | None, typer.Argument(help="Folders with corpus.jsonl, queries.jsonl and qrels/test.tsv.")
    ] = None,
    channels: Annotated[str, typer.Option(help="Channels, comma-separated.")] = "bm25,dense,fused",
    measures: Annotated[str, typer.Option(help="Measures with their depths, comma-separated.")] = _MEASURES,
    model: Annotated[list[str] | None, typer.Option(help="Encoder, or several; by default the active one.")] = None,
    library: Annotated[
        list[Path] | None, typer.Option(help="Measure this library, or several, not a throw-away one.")
    ] = None,
    own: Annotated[
        bool, typer.Option("--own", help="On the questions of the library that were judged by hand, and no data set.")
    ] = False,
    fusion: Annotated[str, typer.Option(help="How channels are fused: z or rrf.")] = "",
    feedback: Annotated[
        str, typer.Option(help="rm3: words alone are also measured with those that the best passages share.")
    ] = "",
    expand: Annotated[
        str, typer.Option(help="doc2query: words are also measured with questions that the local model writes.")
    ] = "",
    writing: Annotated[
        float | None, typer.Option(help="Minutes that the local model may write for; 10 by default.", min=0.0)
    ] = None,
    rerank: Annotated[str, typer.Option(help="on: all channels together are also measured read closely.")] = "off",
    reranker: Annotated[
        str | None, typer.Option(help="What reads them; by default the library's own, else the one in use.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option("--run", help="Write what was found to this file, in TREC format.")
    ] = None,
    against: Annotated[
        list[Path] | None, typer.Option("--against", help="A run file in TREC format to compare with.")
    ] = None,
    page: Annotated[Path | None, typer.Option("--report", help="Write a report to this HTML file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure search on judged queries: each channel and all together, with intervals and tests."""
    wanted, names = _chosen(channels, _KNOWN), _chosen(measures)
    _chosen(fusion or "z", ("z", "rrf"))
    if _chosen(rerank, ("on", "off")) == ("on",):
        wanted = (*wanted, RERANKED)
    _chosen(feedback or "rm3", ("rm3",))
    _chosen(expand or "doc2query", ("doc2query",))
    if (feedback or expand) and library:
        raise typer.BadParameter("--feedback and --expand are measured in throw-away libraries, not in a --library")
    if reranker is not None and rerank != "on":
        raise typer.BadParameter("--reranker goes with --rerank on")
    if writing is not None and not expand:
        raise typer.BadParameter("--writing goes with --expand")
    if own is bool(datasets) or (own and (not library or model or against)):
        raise typer.BadParameter("name data sets, or a --library with --own and neither --model nor --against")
    from core.cli import expanding, measuring
    from core.evaluate import report
    from core.evaluate.datasets import load

    begun, found = time.monotonic(), []
    others: dict[str, list[System]] = {}
    minutes = (_MINUTES if writing is None else writing) if expand else None
    with progress() as line:
        if expand:
            expanding.require_writer()
        for where in (library or ()) if own else ():
            found.append(
                measuring.measure_own(
                    where,
                    channels=wanted,
                    measures=names,
                    fusion=fusion,
                    reranker=reranker,
                    control=line.control,
                    listener=line,
                )
            )
        for data in map(load, datasets or ()):
            if run is not None:
                measuring.check_names(data)
            read = [measuring.read_system(path, data, names) for path in against or ()]
            first, *more = [
                measuring.measure(
                    data, channels=wanted, measures=names, model=encoder, library=where, fusion=fusion,
                    rm3=bool(feedback), writing=minutes, reranker=reranker, control=line.control, listener=line,
                )
                for encoder, where in product(model or (None,), library or (None,))
            ]  # fmt: skip
            others[data.name] = [*map(measuring.system, more), *read]
            found.append(measuring.compared(first, others[data.name]))
    if run is not None:
        measuring.write_runs(run, found)
    if page is not None:
        write_bytes(page, report.page(found, others).encode())
    if json:
        print_json(found[0].summary() if len(found) == 1 else {"datasets": [one.summary() for one in found]})
        return
    for one in found:
        measuring.show(one)
    out.print(f"{time.monotonic() - begun:.0f} s")


def _chosen(text: str, known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Raises typer.BadParameter (exit code 2)."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    wrong = [name for name in names if known and name not in known]
    if wrong or not names:
        raise typer.BadParameter(f"{', '.join(wrong) or 'nothing'}: choose from {', '.join(known)}")
    return names
