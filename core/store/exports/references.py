"""The documents that answers cite, as entries for reference managers: BibTeX, and CSL-JSON (citationstyles.org)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.base.files import path_shown
from core.base.types import Answer, Citation, Document
from core.store.exports.content import one_line, supported, title_of

_TYPES = {"text/html": "webpage", "application/epub+zip": "book", "message/rfc822": "personal_communication"}
_DATE = re.compile(r"^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_SPECIAL = {  # braces by name: a reader of BibTeX counts them wherever they stand
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "%": r"\%", "&": r"\&",
    "$": r"\$", "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reference:
    """A document, and the pages of it that are cited. `key` names it within one list."""

    key: str
    title: str
    author: str
    date: str  # YYYY, YYYY-MM or YYYY-MM-DD; empty when it is not known
    kind: str  # type of CSL
    file: str
    pages: tuple[int, ...]


def references(answers: Sequence[Answer], documents: Mapping[int, Document]) -> list[Reference]:
    """The cited documents in the order of their first citation; `documents` are those that the library still has."""
    places: dict[tuple[str, str], list[Citation]] = {}
    for answer in answers:
        for citation in (c for s in supported(answer) for c in s.citations):
            if citation.document_id:
                places.setdefault((citation.document, citation.external_id), []).append(citation)
    found: list[Reference] = []
    for cited in places.values():
        found.append(_reference(cited, documents.get(cited[0].document_id), {one.key for one in found}))
    return found


def bibtex(found: Sequence[Reference]) -> str:
    return "\n".join(_entry(one) for one in found)


def csl(found: Sequence[Reference]) -> str:
    return json.dumps([_item(one) for one in found], ensure_ascii=False, indent=1) + "\n"


def _reference(cited: Sequence[Citation], document: Document | None, taken: set[str]) -> Reference:
    first, title = cited[0], title_of(cited[0])
    author = one_line(document.author) if document else ""
    date = _date(document)
    inside = f"#{first.external_id}" if first.external_id else ""
    pages = tuple(sorted({c.page for c in cited if c.page is not None}))
    kind = _TYPES.get(document.media_type if document else "", "document")
    file = one_line(path_shown(first.document) + inside)
    return Reference(_key(author or title, date, taken), title, author, date, kind, file, pages)


def _date(document: Document | None) -> str:
    """When it was made; else when it was last changed."""
    for told in (document.created, document.modified) if document else ():
        match = _DATE.match(told)
        if match:
            return match.group()
    return ""


def _key(name: str, date: str, taken: set[str]) -> str:
    """A short name of letters and digits, made another by a letter where it is taken."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = [word for word in re.findall(r"[a-z0-9]+", plain) if len(word) > 2] or ["source"]
    key = "".join(words[:3])[:24] + date[:4]
    number = 2
    while (wanted := key if number == 2 and key not in taken else f"{key}-{number}") in taken:
        number += 1
    return wanted


def _entry(one: Reference) -> str:
    fields = {
        "title": f"{{{_tex(one.title)}}}",  # a second pair of braces keeps the letters as they are
        "author": f"{{{_tex(one.author)}}}" if one.author else "",
        "year": one.date[:4],
        "date": one.date,
        "howpublished": _tex(one.file),
        "pages": _pages(one.pages, "--"),
    }
    kind = {"book": "book", "webpage": "online"}.get(one.kind, "misc")
    rows = "".join(f",\n  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@{kind}{{{one.key}{rows}\n}}\n"


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)


def _item(one: Reference) -> dict[str, Any]:
    item: dict[str, Any] = {"id": one.key, "type": one.kind, "title": one.title}
    if one.author:
        item["author"] = [{"literal": one.author}]
    if one.date:
        item["issued"] = {"date-parts": [[int(part) for part in one.date.split("-")]]}
    if one.pages:
        item["page"] = _pages(one.pages, "-")
    return item | {"source": one.file}


def _pages(pages: Sequence[int], dash: str) -> str:
    """Pages that follow one another become a range."""
    ranges: list[list[int]] = []
    for page in pages:
        if ranges and page == ranges[-1][1] + 1:
            ranges[-1][1] = page
        else:
            ranges.append([page, page])
    return ", ".join(str(a) if a == b else f"{a}{dash}{b}" for a, b in ranges)
