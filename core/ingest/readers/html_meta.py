"""What a page says of itself: title, author, dates, language (meta elements, Open Graph, Dublin Core, JSON-LD)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from core.ingest.readers.build import collapse

_AUTHORS = (
    "author", "article:author", "og:article:author", "dc.creator", "dcterms.creator", "citation_author",
    "parsely-author", "sailthru.author", "byl",
)  # fmt: skip
_CREATED = (
    "article:published_time", "og:article:published_time", "date", "dc.date", "dc.date.issued", "dc.date.created",
    "dcterms.created", "dcterms.issued", "citation_publication_date", "pubdate", "datepublished", "parsely-pub-date",
)  # fmt: skip
_MODIFIED = (
    "article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "dc.date.modified", "datemodified",
)  # fmt: skip
_TITLES = ("og:title", "dc.title", "dcterms.title", "citation_title", "twitter:title")
_LARGEST_DATA = 1 << 20


@dataclass(frozen=True, slots=True)
class PageProperties:
    title: str = ""
    author: str = ""
    created: str = ""
    modified: str = ""
    language: str = ""


def properties(tree: LexborHTMLParser) -> PageProperties:
    named = _metas(tree)
    data = _linked_data(tree)
    node = tree.css_first("head title") or tree.css_first("title")
    heading = tree.css_first("h1")
    title = collapse(node.text()) if node is not None else ""
    title = (
        title or _first(named, _TITLES) or _text(data.get("headline")) or (collapse(heading.text()) if heading else "")
    )
    author = _first(named, _AUTHORS)
    if not author or author.startswith(("http:", "https:")):  # a profile page instead of a name
        author = _person(data.get("author")) or author
    return PageProperties(
        title=title,
        author=author,
        created=next(filter(None, map(_date, (*_all(named, _CREATED), _text(data.get("datePublished"))))), ""),
        modified=next(filter(None, map(_date, (*_all(named, _MODIFIED), _text(data.get("dateModified"))))), ""),
        language=_language(tree, named),
    )


def _metas(tree: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.css("meta"):
        attributes = node.attributes
        name = (
            attributes.get("name")
            or attributes.get("property")
            or attributes.get("itemprop")
            or attributes.get("http-equiv")
        )
        found.setdefault((name or "").lower(), collapse(attributes.get("content") or ""))
    return found


def _all(named: dict[str, str], names: tuple[str, ...]) -> Iterator[str]:
    return (named[name] for name in names if named.get(name))


def _first(named: dict[str, str], names: tuple[str, ...]) -> str:
    return next(_all(named, names), "")


def _linked_data(tree: LexborHTMLParser) -> dict[str, Any]:
    """The first object of JSON-LD that tells of a text: it has an author, a headline or a date."""
    for script in tree.css('script[type="application/ld+json"]'):
        source = script.text()
        try:
            value = json.loads(source) if len(source) < _LARGEST_DATA else None
        except (ValueError, RecursionError):
            continue
        graph = value.get("@graph", value) if isinstance(value, dict) else value
        for thing in graph if isinstance(graph, list) else [graph]:
            if isinstance(thing, dict) and thing.keys() & {"author", "headline", "datePublished"}:
                return thing
    return {}


def _person(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_person, value[:20])))
    return _text(value.get("name")) if isinstance(value, dict) else _text(value)


def _text(value: Any) -> str:
    return collapse(value) if isinstance(value, str) else ""


def _date(value: str) -> str:
    """ISO dates as they are, those of mail and HTTP turned into ISO; empty for others."""
    found = re.match(r"(\d{4})[-/](\d{2})[-/](\d{2})", value)
    if found:
        return value if "-" in value[:5] else "-".join(found.groups())
    try:
        return parsedate_to_datetime(value).isoformat() if value[:3].isalpha() else ""
    except (ValueError, TypeError, IndexError):
        return ""


def _language(tree: LexborHTMLParser, named: dict[str, str]) -> str:
    root = tree.css_first("html")
    declared = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "") if root is not None else ""
    declared = declared or named.get("content-language") or named.get("dc.language") or named.get("og:locale") or ""
    code = re.split(r"[-_,]", declared.strip())[0].lower()
    return code if len(code) == 2 and code.isalpha() else ""
