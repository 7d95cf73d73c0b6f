"""OpenDocument files: texts, sheets and presentations, packed (.odt, .ods, .odp) or as one flat XML file.

Inserted text of tracked changes is in, deleted text is out. Notes, comments, text boxes and embedded objects follow
the paragraph they hang on; page headers and footers are said once, at the end.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO

from lxml import etree

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, failure
from core.ingest.readers.odf_sheet import read_sheets
from core.ingest.readers.odf_text import Blocks, Looks
from core.ingest.readers.ooxml import Element, Package, TooLarge, attribute, child, name_of

_NOT_PACKED = "The file is damaged: it cannot be unpacked as an OpenDocument file."
_NEW_SHEET = re.compile(r"\W*(?:(?:Page|Seite)?[\W\d]*)")  # all that the page header and footer of a new sheet say
_FLAT_BYTES = 64 << 20


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    try:
        with ExitStack() as stack:
            if zipfile.is_zipfile(path):
                package = stack.enter_context(Package(path, limits, streamed=True))
                yield _packed(package, limits, tick)
            else:
                yield _flat(path, limits, tick)
    except TooLarge:
        size = limits.inflated_bytes >> 20
        yield failure(DocumentState.TOO_LARGE, f"The document unfolds to more than {size:,} MB.")
    except (zipfile.BadZipFile, etree.XMLSyntaxError):
        yield failure(DocumentState.BROKEN, _NOT_PACKED)


def _packed(package: Package, limits: Limits, tick: Tick) -> ReadDocument:
    manifest = package.read("META-INF/manifest.xml") or b""
    if b"encryption-data" in manifest:
        return failure(DocumentState.LOCKED, "The document needs a password.")
    kind = (package.read("mimetype") or b"").decode("ascii", "replace")
    styles, meta = package.xml("styles.xml"), child(package.xml("meta.xml"), "meta")
    builder = TextBuilder(limits.output_characters)
    stream = package.stream("content.xml")
    if stream is None:
        return failure(DocumentState.BROKEN, "The file is damaged: it has no content inside.")
    cut = ""
    if "spreadsheet" in kind or (not kind and b".spreadsheet" in manifest):
        cut = _sheets(stream, builder, styles, tick)
    else:
        stream.close()
        root = package.xml("content.xml")
        _body(root, Blocks(builder, Looks(styles, root), package, tick))
    _printed(styles, builder, package, tick)
    return _finished(builder, meta, cut, tuple(f"The part {part} is damaged." for part in package.damaged))


def _flat(path: Path, limits: Limits, tick: Tick) -> ReadDocument:
    data = path.read_bytes()
    if b"<" not in data[:100]:
        return failure(DocumentState.BROKEN, _NOT_PACKED)
    if len(data) > min(_FLAT_BYTES, limits.inflated_bytes):
        return failure(DocumentState.TOO_LARGE, f"Flat XML files of up to {_FLAT_BYTES >> 20} MB are read.")
    root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, recover=True))
    if child(root, "body") is None:
        return failure(DocumentState.BROKEN, "The file is damaged: it has no content inside.")
    builder = TextBuilder(limits.output_characters)
    if child(root, "body", "spreadsheet") is not None:
        with path.open("rb") as stream:
            _sheets(stream, builder, root, tick)
    else:
        _body(root, Blocks(builder, Looks(root), None, tick))
    _printed(root, builder, None, tick)
    return _finished(builder, child(root, "meta"), "", ())


def _sheets(stream: IO[bytes], builder: TextBuilder, styles: Element | None, tick: Tick) -> str:
    """Read the sheets; why reading stopped early, or nothing."""
    try:
        read_sheets(stream, builder, styles, tick)
    except TooLarge:
        return "The sheets unfold to more than is read: only their first part was."
    return ""


def _body(root: Element | None, blocks: Blocks) -> None:
    body = child(root, "body")
    for content in body if body is not None else ():
        if name_of(content) in ("presentation", "drawing"):
            pages = [node for node in content if name_of(node) == "page"]
            for number, page in enumerate(pages, start=1):
                blocks.slide(number, page)
        else:
            blocks.walk(content)


def _printed(styles: Element | None, builder: TextBuilder, package: Package | None, tick: Tick) -> None:
    """Page headers and footers of the master pages, each once."""
    builder.leave_headings()
    seen: set[str] = set()
    for node in styles.iter() if styles is not None else ():
        if name_of(node) not in ("header", "footer", "header-left", "footer-left", "header-first", "footer-first"):
            continue
        if attribute(node, "display") == "false":
            continue
        inner = TextBuilder(10_000)
        Blocks(inner, Looks(styles), package, tick).walk(node)
        text = inner.build().text
        if text and text not in seen and not _NEW_SHEET.fullmatch(text):
            seen.add(text)
            builder.add(text)


def _finished(builder: TextBuilder, meta: Element | None, cut: str, warnings: tuple[str, ...]) -> ReadDocument:
    values = {name_of(node): (node.text or "").strip() for node in (meta if meta is not None else ())}
    language = values.get("language", "").split("-")[0].lower()
    found = builder.build(
        title=values.get("title", ""),
        author=values.get("initial-creator", "") or values.get("creator", ""),
        created=values.get("creation-date", ""),
        modified=values.get("date", ""),
        language=language if len(language) == 2 else "",
        warnings=warnings,
    )
    return replace(found, state=DocumentState.TRUNCATED, reason=cut) if cut else found
