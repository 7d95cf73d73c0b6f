"""Results as rows of JSON, and as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from core.base.types import Answer, AnswerMode, Citation, Document, Explanation, Finding, Hit, SearchResult, Support
from core.cli.output import out

if TYPE_CHECKING:
    from core.worker.purge import Purged

_MODES = {
    AnswerMode.GENERATED: "Written by the local model, checked against your documents",
    AnswerMode.EXTRACTIVE: "Quoted from your documents",
    AnswerMode.ABSTAINED: "Your documents do not say",
}
_LINES = 12  # of an account
_KINDS = {
    "common": "what all passages have in common with the question, beyond the weakest candidate",
    "unnamed": "what no named reason holds", "others": "further passages of it", "multi": "words compared by meaning",
    "rerank": "read closely",
}  # fmt: skip


def hit_row(hit: Hit) -> dict[str, Any]:
    """A hit in the form of the command line's contract."""
    passage = hit.passage
    return {
        "rank": hit.rank, "passage_id": passage.id, "document": passage.path, "external_id": passage.external_id,
        "title": passage.title, "page": passage.first_page, "heading_path": passage.heading_path,
        "text": passage.text, "score": hit.score, "parts": hit.parts, "spans": hit.spans,
        "copies": hit.copies, "place": passage.place, "within": hit.within, "snippet": hit.snippet,
    }  # fmt: skip


def show_hits(result: SearchResult) -> None:
    if result.understood:
        out.print("Asked for: " + " ".join(result.understood), style="dim", markup=False)
    if result.notice:
        out.print(result.notice, style="yellow", markup=False)
    for hit in result.hits:
        passage = hit.passage
        name = escape(passage.title or passage.path)
        place = escape(_place(passage.place, passage.first_page))
        parts = ", ".join(f"{p.channel} {p.contribution:+.3f}" for p in hit.parts)
        out.print(f"[bold]{hit.rank}. {name}[/bold]{place}   {hit.score:.3f} = {parts}   (passage {passage.id})")
        line = Text(passage.text)
        for span in hit.spans:
            line.stylize("bold yellow", span.start, span.end)
        window = line[hit.snippet.start : hit.snippet.end] if hit.snippet.end else line[:300]
        out.print(window)
        more = len(hit.copies)
        copies = f"   +{more} {'copy' if more == 1 else 'copies'}" if more else ""
        if len(hit.within) > 1:
            copies += f"   {len(hit.within)} passages"
        out.print(_file(passage.path, passage.external_id) + copies, style="dim", markup=False)
    if not result.hits:
        hidden = f" {result.filtered_out} were left out by the filters." if result.filtered_out else ""
        out.print("Nothing was found." + hidden)


def show_documents(documents: Sequence[Document]) -> None:
    """Names are broken over lines, never cut; what there is to say of a state stands below the name."""
    table = Table("State", Column("Document", overflow="fold"), "Language", "Pages", "Passages")
    for row in documents:
        name = Text(_file(row.path, row.external_id))
        if row.reason:
            name.append(f"\n{row.reason}", "dim")
        table.add_row(row.state.value, name, escape(row.language), str(row.pages or ""), str(row.passages))
    out.print(table)


def show_findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        mended = " (repaired)" if finding.repaired else ""
        out.print(f"{finding.severity:8}{finding.check}: {finding.detail}{mended}", markup=False)


def show_purged(purged: Purged | None) -> None:
    if purged is None:
        return
    out.print(f"Purged: {purged.bytes_before:,} bytes before, {purged.bytes_after:,} after.")
    changed = f"{purged.conversations} conversations changed" if purged.conversations else "conversations untouched"
    out.print(f"{purged.segments} parts of the index written anew, concepts {purged.concepts}, {changed}.")
    if purged.adapted:
        out.print(
            f"The model {purged.adapted} learned from the documents as they were before. To be rid of it: "
            "whymatch rollback, then purge again.", markup=False,
        )  # fmt: skip


def show_explanation(found: Explanation) -> None:
    out.print(found.sentence or "No reason can be given.", style="bold", markup=False)
    table = Table("Channel", "Score", "Rank", "Weight", "Contribution")
    for part in found.parts:
        rank = str(part.rank or "")
        table.add_row(part.channel, f"{part.score:.4f}", rank, f"{part.weight:g}", f"{part.contribution:+.4f}")
    table.add_row("total", "", "", "", f"{found.score:+.4f}")
    out.print(table)
    own = [t for t in found.terms if not (t.added or t.part_of)]
    parts = [replace(t, term=f"{t.term} (of {t.part_of})") for t in found.terms if t.part_of]
    added = [t for t in found.terms if t.added]
    for name, terms in (("Words", own), ("Parts of words", parts), ("Words that the best passages share", added)):
        if terms:
            out.print(f"{name}: {', '.join(f'{t.term} {t.weight:.2f}' for t in terms)}", markup=False)
    for concept in found.concepts:
        mark = "shared" if concept.query_activation > 0 else "in the passage"
        out.print(f"  {concept.share:6.1%}  {concept.label}  ({mark})", markup=False)
        for pair in concept.pairs if concept.contribution > 0 else ():
            if pair.query_id != concept.id:
                out.print(f"          by «{pair.query_label}» in the question {pair.contribution:+.4f}", markup=False)
    if found.concepts:
        out.print(f"Concepts explain {found.explained_share:.0%} of what the meaning of this match adds.")
    account = Table("Of the score", "Channel", "Reason", title="What the score is made of")
    for line in found.account[:_LINES]:
        account.add_row(
            f"{line.contribution:+.4f}", line.channel, escape(line.label) or _KINDS.get(line.kind, line.kind)
        )
    if rest := found.account[_LINES:]:
        account.add_row(f"{sum(line.contribution for line in rest):+.4f}", "", f"{len(rest)} smaller reasons")
    out.print(account)


def show_answer(answer: Answer) -> None:
    sent = answer.record.sent_to if answer.record is not None else ""
    made = f"Written by {answer.model}, checked against your documents" if sent else _MODES[AnswerMode.GENERATED]
    how = made if answer.mode is AnswerMode.GENERATED else _MODES[answer.mode]
    out.print(how, style="dim", markup=False)
    if sent:
        out.print(f"Your question and the passages found were sent to {sent}.", style="dim", markup=False)
    out.print(answer.text, style="bold", markup=False)
    if answer.matching:
        read = f"Read {answer.read} of {answer.matching} passages."
        out.print(f"{read} {answer.reason}", style="dim", markup=False)
    cited = {c.marker: c for s in answer.sentences if s.support is not Support.UNSUPPORTED for c in s.citations}
    for marker in sorted(cited):
        show_citation(f"[{marker}]", cited[marker])
    if answer.near_misses:
        out.print("Nearest passages:")
        for citation in answer.near_misses:
            show_citation(" -", citation)
    if answer.hidden:
        out.print("Hidden by the filters; without them this would answer:")
        for citation in answer.hidden:
            show_citation(" -", citation)


def show_citation(mark: str, citation: Citation) -> None:
    place = _place(citation.place, citation.page)
    out.print(f"{mark} {citation.title or citation.document}{place}", style="cyan", markup=False)
    out.print(f"    “{' '.join(citation.quote.split())}”", markup=False)
    out.print(f"    {_file(citation.document, citation.external_id)}", style="dim", markup=False)


def _place(place: str, page: int | None) -> str:
    """Where in its document: a slide, sheet or row has its own name, which says more than a number of a page."""
    return f", {place}" if place else f", page {page}" if page else ""


def _file(path: str, external_id: str) -> str:
    """A file within a file is told with both names."""
    return f"{path} › {external_id}" if external_id else path
