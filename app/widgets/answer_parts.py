"""An answer as pieces to show: sentences, markers, sources, and the words that say how it was made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.i18n import plural, tr
from app.widgets.hit_model import location, name_of_citation
from app.widgets.page_offsets import one_line, shown
from core.base.types import Answer, AnswerMode, AnswerSentence, Citation, Support


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence of the plain answer and the markers that stand behind it. `heading` stands above it, where it is the
    first one of a group; `own` are the app's words about the documents, not theirs."""

    text: str
    citations: tuple[Citation, ...]
    heading: str = ""
    own: bool = False


def pieces(answer: Answer) -> list[Piece]:
    """The plain answer: what has full support, in order. A citation is named once a sentence."""
    headings = _headings(answer)
    return [
        Piece(
            one_line(s.text).strip(),
            _distinct(s.citations),
            headings.get(n, ""),
            bool(answer.groups) and not s.citations,
        )
        for n, s in enumerate(answer.sentences)
        if s.support is Support.SUPPORTED
    ]


def _headings(answer: Answer) -> dict[int, str]:
    """The heading of each group that shows anything, by its first sentence that is shown."""
    found = {}
    for group in answer.groups:
        numbers = range(group.first, min(group.last, len(answer.sentences)))
        first = next((n for n in numbers if answer.sentences[n].support is Support.SUPPORTED), None)
        if first is not None:
            found[first] = one_line(group.heading).strip()
    return found


def read_text(answer: Answer) -> str:
    """How much of what matches was read; empty for answers from the best passages."""
    if not answer.matching:
        return ""
    values = {"read": answer.read, "matching": answer.matching}
    return tr("Read {read} of {matching} passages", **values)


def left_out(answer: Answer) -> list[AnswerSentence]:
    """Sentences of the model that the documents do not support, or only in part."""
    return [s for s in answer.sentences if s.support is not Support.SUPPORTED]


def _distinct(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    return tuple({(c.marker, c.passage_id): c for c in citations}.values())


def sources(answer: Answer) -> dict[int, list[Citation]]:
    """Only the cited: the places behind each marker, markers ascending, places in the order of the answer."""
    found: dict[int, list[Citation]] = {}
    for piece in pieces(answer):
        for citation in piece.citations:
            places = found.setdefault(citation.marker, [])
            if citation not in places:
                places.append(citation)
    return dict(sorted(found.items()))


def place(citation: Citation) -> str:
    """Document and page in one line; of a document within another file, both."""
    page = tr(", page {n}", n=citation.page) if citation.page is not None else ""
    page = f", {citation.place}" if citation.place else page
    name = name_of_citation(citation)
    if citation.external_id:
        inside = shown(location(citation.document, citation.external_id))
        name = inside if citation.external_id.endswith(citation.title) else f"{name} ({inside})"
    return one_line(f"{name}{page}")


def mode_text(answer: Answer) -> str:
    """How the answer was made, in plain words, and how much was read for one about the whole library."""
    read = read_text(answer)
    return f"{_made_text(answer)} · {read}" if read else _made_text(answer)


def _made_text(answer: Answer) -> str:
    if answer.mode is AnswerMode.ABSTAINED:
        return tr("Your documents do not say.")
    if answer.mode is AnswerMode.EXTRACTIVE:
        return tr("Quoted from your documents")
    if sent_to(answer):
        return tr("Written by {model}, checked against your documents", model=answer.model)
    if not answer.model:
        return tr("Written by the local model, checked against your documents")
    return tr("Written by the local model {model}, checked against your documents", model=answer.model)


def sent_to(answer: Answer) -> str:
    """The endpoint that question and passages went to; empty where all stayed in this program."""
    return answer.record.sent_to if answer.record is not None else ""


def sent_text(answer: Answer) -> str:
    """Says so, wherever the answer is shown."""
    where = sent_to(answer)
    return tr("Your question and the passages found were sent to {where}.", where=where) if where else ""


def writing_text(answer: Answer | None) -> str:
    """Who is at work while `answer`, the first one, stands."""
    where = sent_to(answer) if answer is not None else ""
    return tr("{where} is writing…", where=where) if where else tr("The local model is writing…")


def left_out_lines(answer: Answer) -> str:
    """What was left out, a sentence a line, those with partial support told apart."""
    partly = tr("only partly in your documents")
    return "\n".join(
        f"{one_line(s.text).strip()}  ({partly})" if s.support is Support.PARTLY else one_line(s.text).strip()
        for s in left_out(answer)
    )


def left_out_text(answer: Answer) -> str:
    """The sentence about what was left out; empty when nothing was."""
    number = len(left_out(answer))
    one, many = "{n} unsupported sentence left out", "{n} unsupported sentences left out"
    return plural(number, one, many) if number else ""


def _line(piece: Piece, *, listed: bool) -> str:
    """The piece with its markers; in a grouped answer below its heading, if it has one, as a point of a list."""
    text = f"{piece.text}{''.join(f' [{c.marker}]' for c in piece.citations)}"
    if not listed or piece.own:
        return text
    return f"\n{piece.heading}\n- {text}" if piece.heading else f"- {text}"


def copy_text(answer: Answer) -> str:
    """Question, answer with markers, and its sources, as plain text for the clipboard."""
    if answer.mode is AnswerMode.ABSTAINED:
        near = [f"- {place(c)}: “{one_line(c.quote).strip()}”" for c in answer.near_misses]
        return "\n".join(
            [answer.question, "", mode_text(answer), *(["", tr("Nearest passages:")] if near else []), *near]
        )
    body = [_line(piece, listed=bool(answer.groups)) for piece in pieces(answer)]
    joined = ("\n" if answer.groups or answer.mode is AnswerMode.EXTRACTIVE else " ").join(body)
    if answer.groups:
        joined = f"{joined}\n\n{read_text(answer)}. {answer.reason}"
    lines = [
        f"[{marker}] {place(c)}: “{one_line(c.quote).strip()}”"
        for marker, places in sources(answer).items()
        for c in places
    ]
    return "\n".join([answer.question, "", joined, "", *lines])
