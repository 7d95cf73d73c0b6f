"""EPUB books: chapters in reading order, each a page with its title from the table of contents."""

from __future__ import annotations

import posixpath
import re
import urllib.parse
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse, failure
from core.ingest.readers.html import decode_page, walk
from core.ingest.readers.ooxml import Package, TooLarge, attribute, name_of
from core.ingest.zips import TooManyFiles, open_zip

_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # scrambled fonts are no lock
_CLOSED = re.compile(r"<([a-zA-Z][\w:-]*)((?:\s[^<>]*)?)/>")
_EMPTY_TAGS = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")


@dataclass(slots=True)
class _Book:
    """What the package document says. `spine` are the names of the chapters' parts in order."""

    spine: list[str] = field(default_factory=list)
    contents: str = ""  # part with the table of contents
    title: str = ""
    authors: list[str] = field(default_factory=list)
    created: str = ""
    modified: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the table of contents; `whole` when it points to a part and not to a place in it."""

    title: str
    depth: int
    whole: bool


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    try:
        open_zip(path).close()  # refuses what is not to be loaded
        with Package(path, limits) as package:
            yield _read(package, limits, tick)
    except (TooLarge, TooManyFiles):
        yield failure(DocumentState.TOO_LARGE, "The book unfolds to more than may be read.")
    except zipfile.BadZipFile as error:
        yield failure(DocumentState.BROKEN, f"The book is damaged or cut short: {error}.")


def _read(package: Package, limits: Limits, tick: Tick) -> ReadDocument:
    root_part = _root_part(package)
    root = package.xml(root_part) if root_part else None
    if root is None:
        return failure(DocumentState.BROKEN, "The book does not say where its text is.")
    book = _book(root, root_part)
    if _locked(package, book):
        return failure(DocumentState.LOCKED, "The book is protected by its seller and can only be read in his program.")
    titles = _contents(package, book.contents)
    builder = TextBuilder(limits.output_characters)
    missing = 0
    for number, part in enumerate(book.spine, 1):
        tick()
        if builder.full:
            break
        data = _part_data(package, part)
        if data is None:
            missing += 1
            continue
        _chapter(data, number, titles.get(part), builder)
    warnings = (f"Of its {len(book.spine):,} chapters {missing:,} are missing or damaged.",) if missing else ()
    return builder.build(
        title=book.title, author=", ".join(book.authors), created=book.created, modified=book.modified,
        language=book.language, warnings=warnings,
    )  # fmt: skip


def _part_data(package: Package, part: str) -> bytes | None:
    """The bytes of a chapter; None when it is not there or its bytes are damaged."""
    try:
        return package.read(part)
    except (zipfile.BadZipFile, zlib.error, EOFError):
        return None


def _root_part(package: Package) -> str:
    """The package document (EPUB Open Container Format, 4.2.6.3.1)."""
    container = package.xml("META-INF/container.xml")
    roots = [n for n in container.iter() if name_of(n) == "rootfile"] if container is not None else []
    return next((path for node in roots if (path := attribute(node, "full-path"))), "")


def _book(root: Element, root_part: str) -> _Book:
    folder = posixpath.dirname(root_part)
    book = _Book()
    items: dict[str, str] = {}
    for node in root.iter():
        match name_of(node):
            case "item":
                part = _part(folder, attribute(node, "href"))
                items[attribute(node, "id")] = part
                if "nav" in attribute(node, "properties").split():
                    book.contents = part
                elif attribute(node, "media-type") == "application/x-dtbncx+xml":
                    book.contents = book.contents or part
            case "itemref":
                book.spine.append(attribute(node, "idref"))
            case _:
                _metadata(node, book)
    book.spine = list(dict.fromkeys(items[name] for name in book.spine if name in items))
    return book


def _metadata(node: Element, book: _Book) -> None:
    text = collapse(node.text or "") if isinstance(node.text, str) else ""
    match name_of(node):
        case "title":
            book.title = book.title or text
        case "creator" if text:
            book.authors.append(text)
        case "language":
            code = text.split("-")[0].lower()
            book.language = book.language or (code if len(code) == 2 else "")
        case "date" if _DATE.match(text) and not book.created:
            book.created = text
        case "meta" if attribute(node, "property") == "dcterms:modified":
            book.modified = text


def _part(folder: str, href: str) -> str:
    path = urllib.parse.unquote(href.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")


def _locked(package: Package, book: _Book) -> bool:
    """Whether a chapter is encrypted (XML Encryption; scrambled fonts do not count)."""
    root = package.xml("META-INF/encryption.xml")
    chapters = set(book.spine)
    for node in root.iter() if root is not None else ():
        if name_of(node) != "EncryptedData":
            continue
        method = next((attribute(n, "Algorithm") for n in node.iter() if name_of(n) == "EncryptionMethod"), "")
        parts = {_part("", attribute(n, "URI")) for n in node.iter() if name_of(n) == "CipherReference"}
        if method not in _FONTS and parts & chapters:
            return True
    return False


def _contents(package: Package, part: str) -> dict[str, _Entry]:
    """For each chapter's part the first entry that points to it, best to it as a whole."""
    root = package.xml(part) if part else None
    found: dict[str, _Entry] = {}
    if root is None:
        return found
    folder = posixpath.dirname(part)
    for node in root.iter():
        if name_of(node) == "navPoint":
            title = next((collapse("".join(n.itertext())) for n in node if name_of(n) == "navLabel"), "")
            href = next((attribute(n, "src") for n in node if name_of(n) == "content"), "")
        elif name_of(node) == "a":
            title, href = collapse("".join(str(t) for t in node.itertext())), attribute(node, "href")
        else:
            continue
        depth = sum(1 for above in node.iterancestors() if name_of(above) in ("navPoint", "ol"))
        if href and title:
            entry = _Entry(title, depth + (name_of(node) == "navPoint"), "#" not in href)
            known = found.get(_part(folder, href))
            if known is None or (entry.whole and not known.whole):
                found[_part(folder, href)] = entry
    return found


def _chapter(data: bytes, number: int, listed: _Entry | None, builder: TextBuilder) -> None:
    """One chapter as one page. Its title in the table of contents is its heading when it has none itself."""
    body = LexborHTMLParser(open_tags(decode_page(data).text)).body
    if body is None:
        return
    first = body.css_first("h1, h2, h3, h4, h5, h6")
    own = collapse(first.text(deep=True, separator=" ")) if first is not None else ""
    title = listed.title if listed and (listed.whole or not own) else own
    builder.open_page(number, label=title[:200])
    if listed and not own:
        builder.heading(title, min(6, max(1, listed.depth)))
    walk(body, builder)


def open_tags(page: str) -> str:
    """XHTML for a reader of HTML, in which `<title/>` or `<a id="x"/>` would never end."""

    def opened(found: re.Match[str]) -> str:
        name = found.group(1)
        return found.group() if name.lower() in _EMPTY_TAGS else f"<{name}{found.group(2)}></{name}>"

    return _CLOSED.sub(opened, page)
