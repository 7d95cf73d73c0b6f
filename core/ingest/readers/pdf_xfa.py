"""XFA forms: their pages are made by a program from XML, and the PDF page only says "Please wait".

Captions, fixed texts and values are read from the template and the data (XFA specification 3.3, chapters 2 to 4):
"caption: value" for a field, in the order of the template. Scripts are not run.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

import pypdfium2 as pdfium
import pypdfium2.raw as raw
from lxml import etree
from lxml.etree import _Element as Element

from core.ingest.readers.build import collapse
from core.ingest.readers.ooxml import attribute, child, name_of

_LARGEST = 64 << 20  # bytes of all packets together
_LINES = 50_000
_DEPTH = 60
_CONTAINERS = frozenset({"subform", "subformSet", "area", "pageSet", "pageArea"})
_HIDDEN = frozenset({"hidden", "inactive"})


class TooLarge(Exception):
    """The form is larger than is read."""


def form_lines(document: pdfium.PdfDocument) -> list[str]:
    """The form as lines of text; none when the file has no XFA form. Raises TooLarge."""
    packets = _packets(document)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, remove_pis=True
    )
    roots = [r for data in packets if (r := etree.fromstring(data, parser)) is not None]
    template, data = _first(roots, "template"), _first(roots, "datasets")
    data = child(data, "data") if data is not None else None
    walk = _Walk()
    if template is not None:
        walk.container(template, [data] if data is not None else [], 0)
    if data is not None:
        walk.unseen(data, 0)
    return walk.lines


def _packets(document: pdfium.PdfDocument) -> list[bytes]:
    """The packets as XML documents: a form is one stream, or an array of streams that make one document together."""
    parts: dict[str, bytes] = {}
    for index in range(max(0, raw.FPDF_GetXFAPacketCount(document))):
        size = ctypes.c_ulong()
        raw.FPDF_GetXFAPacketContent(document, index, None, 0, ctypes.byref(size))
        if sum(map(len, parts.values())) + size.value > _LARGEST:
            raise TooLarge
        buffer = ctypes.create_string_buffer(max(1, size.value))
        raw.FPDF_GetXFAPacketContent(document, index, buffer, size.value, ctypes.byref(size))
        parts[_packet_name(document, index) or str(index)] = buffer.raw[: size.value]
    wanted = [parts[name] for name in ("template", "datasets") if name in parts]
    whole = b"".join(parts.values())
    return wanted or ([whole] if whole else [])


def _packet_name(document: pdfium.PdfDocument, index: int) -> str:
    buffer = ctypes.create_string_buffer(256)
    raw.FPDF_GetXFAPacketName(document, index, buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


def _first(roots: Sequence[Element], name: str) -> Element | None:
    return next((node for root in roots for node in root.iter() if name_of(node) == name), None)


class _Walk:
    """Follows the template; `places` are the data nodes that belong to where it stands."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._used: set[Element] = set()

    def container(self, node: Element, places: list[Element], depth: int) -> None:
        if depth > _DEPTH:
            return
        for part in node:
            if len(self.lines) >= _LINES:
                return
            kind = name_of(part)
            if kind in _CONTAINERS:
                self._inner(part, places, depth)
            elif kind == "exclGroup":
                self._group(part, places)
            elif kind == "field":
                self._field(part, places)
            elif kind == "draw":
                self._say("", _shown(child(part, "value")) if attribute(part, "presence") not in _HIDDEN else "")

    def _inner(self, part: Element, places: list[Element], depth: int) -> None:
        """A subform with a name is repeated for each data node of that name."""
        own = _named(places, attribute(part, "name"))
        if len(own) > 1:
            for place in own:
                self.container(part, [place], depth + 1)
        else:
            self.container(part, own or places, depth + 1)

    def _field(self, part: Element, places: list[Element]) -> None:
        caption = _shown(child(part, "caption", "value"))
        values = self._values(part, places) or [_shown(child(part, "value"))]
        hidden = attribute(part, "presence") in _HIDDEN
        if child(part, "ui", "button") is not None or child(part, "ui", "passwordEdit") is not None:
            return
        for value in values:
            if child(part, "ui", "checkButton") is not None:
                value = "checked" if value and value == _on(part) else ""
            value = _option(part, value)
            if value and not (hidden and not caption):
                self._say(caption or attribute(part, "name"), value)
            elif not hidden:
                self._say("", caption)

    def _group(self, part: Element, places: list[Element]) -> None:
        """Radio buttons: the caption of the one whose value was chosen."""
        values = self._values(part, places)
        told = _shown(child(part, "caption", "value")) or attribute(part, "name")
        for field in part:
            if name_of(field) != "field":
                continue
            caption = _shown(child(field, "caption", "value"))
            if values and values[0] == _on(field):
                self._say(told, caption or values[0])
            else:
                self._say("", caption)

    def _values(self, part: Element, places: list[Element]) -> list[str]:
        bind = child(part, "bind")
        if attribute(bind, "match") == "none":
            return []
        found = _named(places, attribute(bind, "ref").rpartition(".")[2].partition("[")[0] or attribute(part, "name"))
        found = found or _named(places, attribute(part, "name"))
        found = [node for node in found if node not in self._used]
        self._used.update(found)
        return [text for node in found if (text := _text(node))]

    def _say(self, label: str, text: str) -> None:
        label = label.rstrip(" :")
        if text:
            self.lines.append(f"{label}: {text}" if label else text)

    def unseen(self, node: Element, depth: int) -> None:
        """Data that no field of the template shows."""
        for part in node:
            if depth > _DEPTH or len(self.lines) >= _LINES:
                return
            if len(part):
                self.unseen(part, depth + 1)
            elif part not in self._used and isinstance(part.tag, str):
                self._say(name_of(part), _text(part))


def _named(places: list[Element], name: str) -> list[Element]:
    return [node for place in places for node in place if name and name_of(node) == name]


def _texts(node: Element) -> Iterator[str]:
    yield from (str(text) for text in node.itertext())


def _text(node: Element) -> str:
    return collapse("".join(_texts(node)))


def _shown(value: Element | None) -> str:
    """The text in a `value` element; pictures have none."""
    if value is None or child(value, "image") is not None:
        return ""
    rich = child(value, "exData")
    if rich is not None:  # XHTML: its paragraphs stand apart
        return collapse(" ".join(" ".join(_texts(p)) if not len(p) else "".join(_texts(p)) for p in _paragraphs(rich)))
    return _text(value)


def _paragraphs(rich: Element) -> list[Element]:
    found = [node for node in rich.iter() if name_of(node) in ("p", "li")]
    return found or [rich]


def _items(part: Element) -> tuple[list[str], list[str]]:
    """What a list shows, and what is saved for each."""
    lists = [node for node in part if name_of(node) == "items"]
    saved = next((n for n in lists if attribute(n, "save") == "1"), lists[0] if lists else None)
    shown = next((n for n in lists if n is not saved), saved)
    return _all(shown), _all(saved)


def _all(items: Element | None) -> list[str]:
    return [_text(item) for item in items] if items is not None else []


def _on(part: Element) -> str:
    saved = _items(part)[1]
    return saved[0] if saved else "1"


def _option(part: Element, value: str) -> str:
    shown, saved = _items(part)
    return shown[saved.index(value)] if value in saved and saved.index(value) < len(shown) else value
