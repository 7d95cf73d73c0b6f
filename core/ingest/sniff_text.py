"""What kind of text a file holds: by what stands in it, by its name only where that cannot tell."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence

from core.ingest.code_names import language_of
from core.ingest.media_types import (
    ASCIIDOC,
    CSV,
    EML,
    FB2,
    HTML,
    JSON,
    JSONL,
    LATEX,
    MARKDOWN,
    MBOX,
    MHTML,
    NOTEBOOK,
    ORG,
    RST,
    SOURCE,
    SRT,
    SVG,
    TEXT,
    TSV,
    VTT,
    XML,
)

_SAMPLE = 64 << 10

_BY_SUFFIX = {
    "md": MARKDOWN, "markdown": MARKDOWN, "mdown": MARKDOWN, "mkd": MARKDOWN, "mdx": MARKDOWN, "qmd": MARKDOWN,
    "rmd": MARKDOWN, "rst": RST, "rest": RST, "tex": LATEX, "ltx": LATEX, "latex": LATEX, "org": ORG,
    "adoc": ASCIIDOC, "asciidoc": ASCIIDOC, "csv": CSV, "tsv": TSV, "tab": TSV,
}  # fmt: skip
_JSON_SUFFIXES = {"json", "geojson", "topojson", "json5", "jsonc", "webmanifest", "har"}
_LINES_SUFFIXES = {"jsonl", "ndjson", "jsonlines"}
_HTML_SUFFIXES = {"html", "htm", "xhtml", "xht", "shtml"}
_UNNAMED = {"", "txt", "text", "log", "dat", "data", "xls", "out"}  # names that say little of the content

_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta)\b", re.I | re.S
)
_HTML_TAG = re.compile(
    r"</?(?:p|div|span|table|h[1-6]|ul|ol|li|a|b|i|em|strong|br|font|center|body|html)\b[^>]*>", re.I
)
_XML_START = re.compile(
    r"<(?:\?xml\b|!DOCTYPE\s+(?!html)\w|[A-Za-z_][\w.:-]*(?:\s+[\w.:-]+\s*=\s*[\"'][^\"'<]*[\"'])*\s*/?>)", re.I
)
_MAIL_HEADER = re.compile(
    r"(?:from|to|date|subject|received|return-path|message-id|mime-version|delivered-to|x-[\w-]+):", re.I
)
_MAIL_LINE = re.compile(r"[!-9;-~]+:")
_MARKDOWN_SIGN = re.compile(r"^(?:#{1,6} \S|```|\s*[-*] \[[ x]\] )|\[[^\]\n]+\]\([^)\s]+\)", re.M)
_RST_SIGN = re.compile(r"^\.\. (?:[\w-]+::|_[^:\n]+:)", re.M)
_LATEX_SIGN = re.compile(r"^[^%\n]*\\(?:documentclass|documentstyle|begin\{document\})", re.M)
_ORG_SIGN = re.compile(r"#\+(?:title|author|startup|options|select_tags|date):", re.I)
_SUBTITLE = re.compile(r"\s*\d+\s*\n\s*\d{1,2}:\d\d:\d\d[,.]\d{1,3}\s*-->")
_JSON_START = re.compile(r"\{\s*(?:\"|\}\s*$)|\[\s*(?:[\[{\"]|\]\s*$|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*,\s*[-\d\"\[{])")


def sniff_text(head: bytes, name: str, whole: bool) -> str:
    """The kind of the text that begins with `head` (all of it when `whole`) in a file of this name (lower case)."""
    from core.ingest.readers.charset import decode

    text = (
        decode(head[:_SAMPLE] if len(head) > _SAMPLE else head)
        .text.lstrip("\ufeff")
        .replace("\r\n", "\n")
        .replace("\r", "\n")
    )
    start = text.lstrip()
    suffix = name.rpartition(".")[2] if "." in name else ""
    for kind in (_json_kind(head, start, suffix, whole), _markup_kind(start, suffix), _mail_kind(text, suffix)):
        if kind:
            return kind
    if start.startswith("WEBVTT"):
        return VTT
    if _SUBTITLE.match(start):
        return SRT
    if suffix in _HTML_SUFFIXES and len(_HTML_TAG.findall(text)) >= 2:
        return HTML
    return _BY_SUFFIX.get(suffix) or (SOURCE if language_of(name, text) else _unnamed_kind(text, suffix, whole))


def _unnamed_kind(text: str, suffix: str, whole: bool) -> str:
    """The kind of a text whose name says nothing."""
    if _LATEX_SIGN.search(text):
        return LATEX
    if suffix not in _UNNAMED:
        return TEXT
    if _ORG_SIGN.match(text):
        return ORG
    if len(_RST_SIGN.findall(text)) >= 2:
        return RST
    if not suffix and len(_MARKDOWN_SIGN.findall(text)) >= 3:
        return MARKDOWN
    lines = text.split("\n") if whole else text.split("\n")[:-1]
    return table_kind(lines)


def table_kind(lines: Sequence[str]) -> str:
    """CSV or TSV when each line holds the same number of cells, TEXT otherwise. Prose has commas too, but not so."""
    filled = [line for line in lines if line.strip()]
    for delimiter, kind, fewest in (("\t", TSV, 2), (";", CSV, 3), (",", CSV, 3), ("|", CSV, 3)):
        try:
            counts = {len(row) for row in csv.reader(filled, delimiter=delimiter, strict=True)}
        except csv.Error:
            continue
        if len(filled) >= 4 and len(counts) == 1 and counts.pop() >= fewest:
            return kind
    return TEXT


# --- markup


def _markup_kind(start: str, suffix: str) -> str:
    if not start.startswith("<") or suffix in ("md", "markdown", "rst", "vue", "svelte", "php", "phtml", "adoc", "org"):
        return ""
    if _HTML_START.match(start) or "<html" in start[:4096].lower():
        return HTML
    if _XML_START.match(start):
        if "<FictionBook" in start[:4096]:
            return FB2
        if "<svg" in start[:4096]:
            return SVG
        if start[:5].lower() == "<?xml" or suffix.endswith(
            ("xml", "svg", "rss", "atom", "xsd", "xsl", "dbk", "nxml", "opml", "kml", "gpx")
        ):
            return XML
    if len(_HTML_TAG.findall(start)) >= 2:
        return HTML
    return XML if "xmlns" in start[:1000] and _XML_START.match(start) else ""


# --- mail


_MAILBOX = re.compile(r"From \S.{0,200}?\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d")


def _mail_kind(text: str, suffix: str) -> str:
    lines = text.split("\n", 200)[:200]
    if text.startswith("From ") and (_MAILBOX.match(text) or any(_MAIL_HEADER.match(line) for line in lines[1:4])):
        return MBOX
    if suffix == "emlx" and lines[0].strip().isdigit():  # Apple's: the size of the message comes first
        del lines[0]
    headers: list[str] = []
    for line in lines:
        if line[:1] in (" ", "\t") and headers:
            headers[-1] += line
        elif _MAIL_LINE.match(line):
            headers.append(line)
        else:
            break
    known = sum(map(bool, map(_MAIL_HEADER.match, headers)))
    if known < (2 if suffix in ("eml", "mht", "mhtml", "emlx") else 3):
        return ""
    related = any(line.lower().startswith("content-type: multipart/related") for line in headers)
    saved = suffix in ("mht", "mhtml") or any(line.lower().startswith("snapshot-content-location:") for line in headers)
    return MHTML if saved and (related or suffix in ("mht", "mhtml")) else EML


# --- JSON


def _json_kind(head: bytes, start: str, suffix: str, whole: bool) -> str:
    if start[:1] not in ("{", "["):
        return ""
    if b'"cells"' in head and (b'"nbformat"' in head or b'"cell_type"' in head):
        return NOTEBOOK
    if _is_lines(head, suffix, whole):
        return JSONL
    if suffix in _JSON_SUFFIXES or suffix in _LINES_SUFFIXES:
        return JSON
    if whole:
        try:
            json.loads(head)
        except (ValueError, RecursionError):
            return ""
        return JSON
    return JSON if _JSON_START.match(start) and suffix in _UNNAMED else ""


def _is_lines(head: bytes, suffix: str, whole: bool) -> bool:
    """One object a line. A single line needs a name for it or a document in it; a first line may be a bad one."""
    lines = [line for line in head.split(b"\n") if line.strip()]
    complete = lines if whole or len(lines) == 1 else lines[:-1]
    values = [value for value in map(_value, complete[:10]) if value is not None]
    objects = [value for value in values if isinstance(value, dict)]
    if any(isinstance(v.get("text"), str) and ("_id" in v or "id" in v) for v in objects):
        return True
    if suffix in _LINES_SUFFIXES:
        return bool(values)
    return len(objects) >= 2 and len(objects) == min(len(complete), 10)


def _value(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
